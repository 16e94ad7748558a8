"""Sentence encoders: texts to unit vectors, whose dot product is their similarity.

```
Encoder (what the others need)
├── MiniLM            all-MiniLM-L6-v2 out of an installed package, in numpy: opens in a tenth of a second
├── SentenceEncoder   any other sentence-transformers model: a name or a folder
└── CachedEncoder     any of them, with what it encoded before kept in memory and on disk
```
"""

import json
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.lib.format as npy
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from kgqa.priors.errors import EncoderError


def thread_count() -> int:
    """Threads of one matrix product: ``KGQA_THREADS``, or 2, or 1 for a process that has one core.

    Raises:
        EncoderError: the variable is no whole number above 0.
    """
    text = os.environ.get("KGQA_THREADS", str(min(2, _core_count())))
    if not text.isdecimal() or int(text) < 1:
        raise EncoderError(f"KGQA_THREADS must be a whole number above 0, not {text!r}")
    return int(text)


def _core_count() -> int:
    """Count the cores that this process may use."""
    mine = getattr(os, "sched_getaffinity", None)
    return len(mine(0)) if mine else os.cpu_count() or 1


def cache_folder() -> Path:
    """Folder of what kgqa keeps between runs: ``KGQA_HOME``, or the user's cache folder."""
    named = os.environ.get("KGQA_HOME")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("kgqa")


Vectors = npt.NDArray[np.float32]
"""Rows of length 1, shape (texts, dimensions)."""

BUNDLED_ENCODER = "all-MiniLM-L6-v2"
"""The encoder used where none is named; Wang et al. 2020, fine-tuned by sentence-transformers."""


class Encoder(Protocol):
    """Turns texts into vectors; may be used from several threads at once."""

    @property
    def name(self) -> str:
        """Tell this encoder's vectors from any other's; part of cache keys."""

    @property
    def dimensions(self) -> int:
        """Length of a row."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Encode ``texts``, one row each, in their order; blocks, so not for the event loop."""


def open_encoder(name: str | None = None) -> Encoder:
    """Open the bundled encoder, or any sentence-transformers model by name or folder.

    Loads up to some 100 MB from disk; open once per process and share.

    Raises:
        EncoderError: there is no such model, its files are broken, or KGQA_THREADS is no number.
    """
    thread_count()
    if name in {None, BUNDLED_ENCODER, f"sentence-transformers/{BUNDLED_ENCODER}"}:
        from kgqa.priors.minilm import open_minilm

        bundled = open_minilm()
        if bundled is not None:
            return bundled
    from kgqa.priors.hub_models import SentenceEncoder

    return SentenceEncoder(name or f"sentence-transformers/{BUNDLED_ENCODER}")


_blas_lock = threading.Lock()


@contextmanager
def limit_blas_threads() -> Iterator[None]:
    """Hold numpy's matrix products to ``KGQA_THREADS`` threads.

    The bound is the whole process's, so callers take turns.
    """
    with _blas_lock, _threadpool_controller().limit(limits=thread_count(), user_api="blas"):
        yield


@cache
def _threadpool_controller() -> ThreadpoolController:
    return ThreadpoolController()


_log = logging.getLogger(__name__)
_ROWS_PER_CHECK = 65_536
_NORM_TOLERANCE = 1e-3


class VectorCache:
    """Encodes lists of texts, each once.

    Args:
        encoder: makes the vectors that are not there yet.
        folder: where they are kept; ``vectors`` in ``KGQA_HOME`` if not given.
    """

    def __init__(self, encoder: Encoder, folder: Path | None = None) -> None:
        self.encoder = encoder
        self.folder = folder or cache_folder() / "vectors"

    def path(self, texts: Sequence[str]) -> Path:
        """Name the file of ``texts``."""
        digest = sha256(json.dumps([self.encoder.name, self.encoder.dimensions, *texts]).encode())
        return self.folder / f"{digest.hexdigest()[:40]}.npy"

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of ``texts``, shape (texts, dimensions), read-only, mapped from disk.

        Where the folder cannot be written, the vectors are given all the same.
        """
        if not texts:
            return np.empty((0, self.encoder.dimensions), dtype=np.float32)
        path, shape = self.path(texts), (len(texts), self.encoder.dimensions)
        kept = _read_vectors(path, shape)
        if kept is not None:
            return kept
        fresh = self.encoder.encode(texts)
        try:
            _write_vectors(path, fresh)
        except OSError as error:
            _log.warning("vectors are not kept: %s", error)
        kept = _read_vectors(path, shape)
        if kept is None:
            fresh.setflags(write=False)
        return fresh if kept is None else kept


def _read_vectors(path: Path, shape: tuple[int, int]) -> Vectors | None:
    """Map a file; None if it is missing, cut short, of other shape, or not of unit rows."""
    if not path.is_file():
        return None
    try:
        rows = npy.open_memmap(path, mode="r")
    except (OSError, ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if rows.dtype != np.float32 or rows.shape != shape or not _has_unit_rows(rows):
        return None
    return rows


def _has_unit_rows(rows: Vectors) -> bool:
    for start in range(0, len(rows), _ROWS_PER_CHECK):
        block = rows[start : start + _ROWS_PER_CHECK]
        if not (np.abs(np.einsum("ij,ij->i", block, block) - 1) < _NORM_TOLERANCE).all():
            return False
    return True


def _write_vectors(path: Path, rows: Vectors) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, rows, allow_pickle=False)
        os.replace(aside, path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


MAX_RECENT_TEXTS = 4096
"""Texts remembered beside those that were taught."""


class CachedEncoder:
    """Encodes texts; the encoder is opened at the first text it does not know.

    Args:
        open_: opens the encoder.
    """

    def __init__(self, open_: Callable[[], Encoder]) -> None:
        self._open = open_
        self._taught: dict[str, Vectors] = {}
        self._recent: dict[str, Vectors] = {}

    @cached_property
    def _encoder(self) -> Encoder:
        return self._open()

    @property
    def name(self) -> str:
        """The encoder's name; opens it."""
        return self._encoder.name

    def preload(self, texts: Sequence[str]) -> None:
        """Learn texts for good, from disk where they were encoded before."""
        unknown = sorted(set(texts) - self._taught.keys())
        self._taught |= zip(unknown, VectorCache(self._encoder).vectors(unknown), strict=True)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text, shape (texts, dimensions)."""
        if not texts:
            return np.empty((0, self._encoder.dimensions), np.float32)
        known = {text: row for text in texts if (row := self._look_up(text)) is not None}
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if fresh:
            known |= zip(fresh, self._encoder.encode(fresh), strict=True)
            self._remember({text: known[text] for text in fresh[:MAX_RECENT_TEXTS]})
        return np.stack([known[text] for text in texts])

    def _look_up(self, text: str) -> Vectors | None:
        row = self._taught.get(text)
        return self._recent.get(text) if row is None else row

    def _remember(self, fresh: dict[str, Vectors]) -> None:
        """Replace the memory as a whole, so that other threads see one or the other."""
        kept = {**self._recent, **fresh}
        self._recent = dict(list(kept.items())[-MAX_RECENT_TEXTS:])
