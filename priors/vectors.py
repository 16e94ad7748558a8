"""Vectors on disk: what was encoded once is read back, not encoded again.

One ``.npy`` file holds one list of texts; its name is made of the encoder, the
texts and their order. A file is written aside and moved into place, so that
another process sees all of it or none; one that cannot be right is encoded anew.
"""

import json
import logging
import os
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.lib.format as npy

from kgqa.priors.encoder import Encoder, Vectors
from kgqa.priors.settings import home

_log = logging.getLogger(__name__)
_BLOCK = 65_536
_OFF_UNIT = 1e-3


class VectorCache:
    """Encodes lists of texts, each once.

    Args:
        encoder: makes the vectors that are not there yet.
        folder: where they are kept; ``vectors`` in ``KGQA_HOME`` if not given.
    """

    def __init__(self, encoder: Encoder, folder: Path | None = None) -> None:
        self.encoder = encoder
        self.folder = folder or home() / "vectors"

    def path(self, texts: Sequence[str]) -> Path:
        """Name the file of ``texts``."""
        digest = sha256(json.dumps([self.encoder.name, self.encoder.dimensions, *texts]).encode())
        return self.folder / f"{digest.hexdigest()[:40]}.npy"

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Give the vectors of ``texts``, shape (texts, dimensions), read-only, mapped from disk.

        Where the folder cannot be written, the vectors are given all the same.
        """
        if not texts:
            return np.empty((0, self.encoder.dimensions), dtype=np.float32)
        path, shape = self.path(texts), (len(texts), self.encoder.dimensions)
        kept = _read(path, shape)
        if kept is not None:
            return kept
        fresh = self.encoder.encode(texts)
        try:
            _write(path, fresh)
        except OSError as error:
            _log.warning("vectors are not kept: %s", error)
        kept = _read(path, shape)
        if kept is None:
            fresh.setflags(write=False)
        return fresh if kept is None else kept


def _read(path: Path, shape: tuple[int, int]) -> Vectors | None:
    """Map a file; None if it is missing, cut short, of other shape, or not of unit rows."""
    if not path.is_file():
        return None
    try:
        rows = npy.open_memmap(path, mode="r")
    except (OSError, ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if rows.dtype != np.float32 or rows.shape != shape or not _all_unit(rows):
        return None
    return rows


def _all_unit(rows: Vectors) -> bool:
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        if not (np.abs(np.einsum("ij,ij->i", block, block) - 1) < _OFF_UNIT).all():
            return False
    return True


def _write(path: Path, rows: Vectors) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, rows, allow_pickle=False)
        os.replace(aside, path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
