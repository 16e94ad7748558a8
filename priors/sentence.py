"""Any sentence-transformers model as an encoder; loads torch, which takes seconds."""

import threading
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from kgqa.priors.encoder import Vectors
from kgqa.priors.errors import EncoderError
from kgqa.priors.hub import opened
from kgqa.priors.settings import threads

BATCH = 64
"""Texts that go through together."""


class SentenceEncoder:
    """An `Encoder`; threads take turns.

    Args:
        model: a folder, or the name of a model that sentence-transformers knows or finds.

    Raises:
        EncoderError: the package or the model is missing or broken.
    """

    def __init__(self, model: str) -> None:
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise EncoderError(f"the encoder {model} needs the package sentence-transformers") from error
        torch.set_num_threads(threads())
        try:
            self._model = opened(SentenceTransformer, model)
        except OSError as error:
            raise EncoderError(f"cannot open the encoder {model}: {error} ({_HINT})") from error
        self.name = _fingerprint(model)
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``, one row each, in their order."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        with self._lock:
            rows = self._model.encode(
                list(texts), batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True
            )
        return np.asarray(rows, dtype=np.float32)


_HINT = "name one that the hub has, give a folder that holds it, or leave it out for the bundled one"


def _fingerprint(model: str) -> str:
    """Name a folder by its name and the sizes and times of its files; any other model by its name."""
    folder = Path(model)
    if not folder.is_dir():
        return model
    stats = sorted((str(p.relative_to(folder)), p.stat()) for p in folder.rglob("*") if p.is_file())
    state = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)
    return f"{folder.resolve().name}-{sha256(state.encode()).hexdigest()[:12]}"
