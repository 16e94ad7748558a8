"""Sentence encoders: texts to unit vectors, whose dot product is their similarity."""

import json
import logging
import os
from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.lib.format as npy
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from kgqa.builds import replace_file
from kgqa.home import cache_folder
from kgqa.locks import ProcessLock
from kgqa.priors.errors import EncoderError

Vectors = npt.NDArray[np.float32]  # rows of length 1, shape (texts, dimensions)

EncodeTexts: TypeAlias = Callable[[Sequence[str]], Vectors]
"""Texts to unit vectors, shape (texts, dimensions); blocks."""

BUNDLED_ENCODER = "all-MiniLM-L6-v2"  # where none is named; Wang et al. 2020, by sentence-transformers
MAX_RECENT_TEXTS = 4096  # texts that a `CachedEncoder` remembers beside those that were preloaded
_NORM_TOLERANCE = 1e-3
_log = logging.getLogger(__name__)
_blas_lock = ProcessLock()


class Encoder(Protocol):
    """Turns texts into vectors; may be used from several threads at once.

    Its ``name`` tells its vectors, of so many ``dimensions``, from any other's; it is part of cache keys.
    """

    name: str
    dimensions: int

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``, one row each, in their order; blocks, so not for the event loop."""


def open_encoder(name: str | None = None) -> Encoder:
    """Open the bundled encoder, or any sentence-transformers model by name or folder; once per process."""
    thread_count()
    if name in {None, BUNDLED_ENCODER, f"sentence-transformers/{BUNDLED_ENCODER}"}:
        from kgqa.priors.minilm import open_minilm

        return open_minilm()
    from kgqa.priors.hub_models import SentenceEncoder

    return SentenceEncoder(name)


def to_unit_rows(rows: Vectors, name: str) -> Vectors:
    """Scale rows to length 1, in place; EncoderError where one has no length, the encoder being damaged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise EncoderError(f"the encoder {name} gives no vector for some text; its weights are damaged")
    rows /= lengths
    return rows


def encode_once(encode: EncodeTexts) -> EncodeTexts:
    """Return what encodes each distinct text once, however often it is given: equal texts have equal rows."""
    known: dict[str, Vectors] = {}

    def encode_new(texts: Sequence[str]) -> Vectors:
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if fresh:
            known.update(zip(fresh, np.asarray(encode(fresh), np.float32), strict=True))
        return np.stack([known[text] for text in texts])

    return encode_new


def thread_count() -> int:
    """Return the threads of one matrix product: ``KGQA_THREADS``, or 2, or 1 on one core."""
    own = getattr(os, "sched_getaffinity", None)  # the cores that this process may use
    cores = len(own(0)) if own else os.cpu_count() or 1
    text = os.environ.get("KGQA_THREADS", str(min(2, cores)))
    if not text.isdecimal() or int(text) < 1:
        raise EncoderError(f"KGQA_THREADS must be a whole number above 0, not {text!r}")
    return int(text)


@contextmanager
def limit_blas_threads(threads: int) -> Iterator[None]:
    """Hold the process's matrix products to so many threads; callers take turns."""
    with _blas_lock, _threadpool_controller().limit(limits=threads, user_api="blas"):
        yield


_threadpool_controller = cache(ThreadpoolController)


class VectorCache:
    """Encodes lists of texts, each once; one ``.npy`` file on disk holds one list.

    The name of a file is made of the encoder, the texts and their order. A file that cannot be
    right is made anew. The folder is ``vectors`` in ``KGQA_HOME`` if not given.
    """

    def __init__(self, encoder: Encoder, folder: Path | None = None) -> None:
        self.encoder = encoder
        self.folder = folder or cache_folder() / "vectors"

    def path(self, texts: Sequence[str]) -> Path:
        """Return the file of ``texts``."""
        digest = sha256(json.dumps([self.encoder.name, self.encoder.dimensions, *texts]).encode())
        return self.folder / f"{digest.hexdigest()[:40]}.npy"

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of ``texts``, read-only, mapped from disk where the folder can be written."""
        if not texts:
            return np.empty((0, self.encoder.dimensions), dtype=np.float32)
        path, shape = self.path(texts), (len(texts), self.encoder.dimensions)
        kept = _read_vectors(path, shape)
        if kept is not None:
            return kept
        fresh = self.encoder.encode(texts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, lambda file: np.save(file, fresh, allow_pickle=False))
        except OSError as error:
            _log.warning("vectors are not kept: %s", error)
        kept = _read_vectors(path, shape)
        fresh.setflags(write=False)
        return fresh if kept is None else kept


def _read_vectors(path: Path, shape: tuple[int, int]) -> Vectors | None:
    """Map a file; None if it is missing, cut short, of other shape, or not of unit rows."""
    try:
        rows: Vectors = npy.open_memmap(path, mode="r") if path.is_file() else np.empty(0, np.float32)
    except (OSError, ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    fits = rows.dtype == np.float32 and rows.shape == shape
    return rows if fits and (np.abs(np.einsum("ij,ij->i", rows, rows) - 1) < _NORM_TOLERANCE).all() else None


class CachedEncoder:
    """Encodes texts, but looks up what it encoded before; opened at the first text it does not know."""

    def __init__(self, open_: Callable[[], Encoder]) -> None:
        self._open = open_
        self._opened: Encoder | None = None
        self._opening = ProcessLock()
        self._preloaded: dict[str, Vectors] = {}
        self._recent: dict[str, Vectors] = {}

    @property
    def _encoder(self) -> Encoder:
        with self._opening:
            self._opened = self._opened or self._open()
            return self._opened

    @property
    def name(self) -> str:
        """The encoder's name; opens it."""
        return self._encoder.name

    def preload(self, texts: Sequence[str]) -> None:
        """Remember texts for good, from disk where they were encoded before."""
        unknown = sorted(set(texts) - self._preloaded.keys())
        self._preloaded |= zip(unknown, VectorCache(self._encoder).vectors(unknown), strict=True)

    def knows(self, texts: Sequence[str]) -> bool:
        """Return whether all of some texts were encoded before, so that it takes no time."""
        return all(text in self._preloaded or text in self._recent for text in texts)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``, one row of length 1 each, shape (texts, dimensions)."""
        if not texts:
            return np.empty((0, self._encoder.dimensions), np.float32)
        kept = ChainMap(self._preloaded, self._recent)
        known = {text: kept[text] for text in texts if text in kept}
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if fresh:
            known |= zip(fresh, self._encoder.encode(fresh), strict=True)
            # replaced as a whole, so that other threads see one or the other
            recent = {**self._recent, **{text: known[text] for text in fresh[:MAX_RECENT_TEXTS]}}
            self._recent = dict(list(recent.items())[-MAX_RECENT_TEXTS:])
        return np.stack([known[text] for text in texts])
