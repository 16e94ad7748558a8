"""Models of sentence-transformers, by folder or by name on the hub of Hugging Face, and their encoders.

Torch, which takes seconds to load, and sentence-transformers come with the extra ``encoders``.
"""

import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import numpy as np

from kgqa.files import read_file
from kgqa.priors.encoder import Vectors, thread_count, to_unit_rows
from kgqa.priors.errors import EncoderError

T = TypeVar("T")
HUB_TIMEOUT_SECONDS = 10  # how long the hub may take to answer at all

PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".joblib")  # of weights that may be pickles

ACTIVATION_KEYS = ("activation_fn", "activation_function", "sbert_ce_default_activation_function")
"""Where a configuration names a function by its place in Python."""

MAX_CONFIG_BYTES = 1 << 20
QUIET_LOGGERS = ("huggingface_hub", "transformers", "sentence_transformers")
BATCH_TEXTS = 64  # texts that go through together
_ENCODER_HINT = "name one that the hub has, give a folder that holds it, or leave it out for the bundled one"


def import_sentence_transformers() -> ModuleType:
    """Import sentence-transformers, with torch held to ``KGQA_THREADS`` threads."""
    try:
        import sentence_transformers
        import torch
    except ImportError as error:
        raise ImportError("needs torch and sentence-transformers: pip install 'kgqa[encoders]'") from error
    torch.set_num_threads(thread_count())
    return sentence_transformers


def open_model(kind: Callable[..., T], model: str) -> T:
    """Open a model on the CPU: a folder, or a name, which is fetched once and kept (blocking).

    Where the hub does not answer, only what was fetched before is looked at: its client
    would try for most of a minute, and say so each time. Weights are read from safetensors only:
    other files of weights are pickles, which can run anything. Nor is code of a model's own run.
    ``kind`` is a class of sentence-transformers.

    Raises:
        OSError: in one line, if it cannot be opened.
    """
    from huggingface_hub.errors import HFValidationError
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    folder = Path(model).is_dir()
    try:
        if folder:
            check_model_folder(Path(model))
        with _quiet_libraries():
            return kind(
                model,
                device="cpu",
                local_files_only=folder or not _hub_answers(model),
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
    except HFValidationError:
        raise OSError("there is no such folder") from None
    except Exception as error:  # whatever the hub, torch and the files' readers raise
        raise OSError((str(error).splitlines() or [type(error).__name__])[0]) from error


def check_model_folder(folder: Path) -> None:
    """Refuse a folder of a model that could run more than a model: an OSError in one line."""
    for file in sorted(folder.rglob("*")):
        shown = file.relative_to(folder)
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise OSError(f"{shown} is no file")
        if file.suffix in PICKLE_SUFFIXES and not any(file.parent.glob("*.safetensors")):
            raise OSError(f"{shown} may be a pickle, which can run anything; save it as safetensors")
        if file.suffix == ".json" and "config" in file.name and not _names_torch_only(file):
            raise OSError(f"{shown} names a function that is none of torch.nn")


def card_languages(model: str) -> frozenset[str]:
    """Return the languages that a model's card names, by folder or name (blocking); none without a card.

    A card says ``multilingual`` as well where it names many, or in their place.
    """
    try:
        from huggingface_hub import ModelCard, try_to_load_from_cache

        folder = Path(model)
        card = folder / "README.md" if folder.is_dir() else try_to_load_from_cache(model, "README.md")
        if not isinstance(card, str | Path):
            return frozenset()
        text = read_file(Path(card), MAX_CONFIG_BYTES).decode("utf-8", "replace")
        with _quiet_libraries():
            named = ModelCard(text).data.get("language")
        return frozenset([named] if isinstance(named, str) else map(str, named or ()))
    except Exception:  # a name that is none, or a card that cannot be read: the reader of YAML has its own
        return frozenset()


def _names_torch_only(config: Path) -> bool:
    """Return whether the functions that a configuration names, which are made, are layers of torch."""
    try:
        known = json.loads(read_file(config, MAX_CONFIG_BYTES))
    except (ValueError, RecursionError):
        return True  # its reader says what is wrong
    inner = known.get("sentence_transformers") if isinstance(known, dict) else None
    named = [each.get(key) for each in (known, inner) if isinstance(each, dict) for key in ACTIVATION_KEYS]
    return all(str(name).startswith("torch.nn.") for name in named if "." in str(name))


def _hub_answers(model: str) -> bool:
    """Ask the hub for a model, and tell whether it answers anything."""
    from huggingface_hub import get_session, hf_hub_url

    address = hf_hub_url(model, "config.json")  # raises for what is no name
    try:
        get_session().head(address, timeout=HUB_TIMEOUT_SECONDS)
    except Exception:  # no network, a proxy that refuses, offline mode: each raises its own
        return False
    return True


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """Hold back what the libraries warn of: what matters comes as an exception."""
    levels = {logger: logger.level for logger in map(logging.getLogger, QUIET_LOGGERS)}
    for logger in levels:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)


class SentenceEncoder:
    """An `Encoder` of any sentence-transformers model, by folder or name; threads take turns."""

    def __init__(self, model: str) -> None:
        try:
            self._model = open_model(import_sentence_transformers().SentenceTransformer, model)
        except ImportError as error:
            raise EncoderError(f"the encoder {model} {error}") from error
        except OSError as error:
            raise EncoderError(f"cannot open the encoder {model}: {error} ({_ENCODER_HINT})") from error
        self.name = _model_fingerprint(model)
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``, one row each, in their order."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        with self._lock:
            rows = self._model.encode(list(texts), batch_size=BATCH_TEXTS, show_progress_bar=False)
        return to_unit_rows(np.asarray(rows, dtype=np.float32), self.name)


def _model_fingerprint(model: str) -> str:
    """Name a folder by its name and the sizes and times of its files; any other model by its name."""
    folder = Path(model)
    if not folder.is_dir():
        return model
    stats = sorted((str(p.relative_to(folder)), p.stat()) for p in folder.rglob("*") if p.is_file())
    state = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)
    return f"{folder.resolve().name}-{sha256(state.encode()).hexdigest()[:12]}"
