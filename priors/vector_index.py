"""Finds the nearest of many unit vectors with FAISS (Douze et al. 2024)."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kgqa.priors.encoder import Vectors, thread_count
from kgqa.priors.errors import BlueprintError

SIMILARITY_DECIMALS = 6
"""Decimals by which similarities are compared, so that the same text is as near on any machine."""

MAX_DIMENSIONS = 1 << 16
NORM_TOLERANCE = 1e-2  # by how much the squared length of a vector may be more than 1


class VectorLabel(NamedTuple):
    """What a vector is for: its key, and how much it weighs among those equally near."""

    key: str
    weight: int


class Neighbour(NamedTuple):
    """What is near: its place in the index, and the cosine."""

    place: int
    similarity: float


class VectorIndex:
    """Unit vectors, shape (labels, dimensions), in a flat index by inner product; threads take turns."""

    def __init__(self, labels: Sequence[VectorLabel], rows: Vectors) -> None:
        self._labels: list[VectorLabel] = []
        self.dimensions = rows.shape[1]
        self._index = _import_faiss().IndexFlatIP(self.dimensions)
        self._lock = threading.Lock()
        self.add(labels, rows)

    @classmethod
    def from_bytes(cls, labels: Sequence[VectorLabel], packed: bytes, dimensions: int) -> "VectorIndex":
        """Read the bytes of an index file, not by FAISS, which believes what a file says of itself."""
        if not 0 < dimensions <= MAX_DIMENSIONS:
            raise ValueError("vectors of such a length are not indexed")
        head = len(packed) - 4 * len(labels) * dimensions
        if head >= 0:
            rows = np.frombuffer(packed, "<f4", offset=head).reshape(len(labels), dimensions)
            if (np.einsum("ij,ij->i", rows, rows) < 1 + NORM_TOLERANCE).all():
                index = cls(labels, rows)
                if index.to_bytes() == packed:  # as FAISS itself writes these vectors
                    return index
        raise ValueError("not an index, or not the index of these records")

    def to_bytes(self) -> bytes:
        """Return the bytes of an index file, as ``faiss.write_index`` writes it."""
        return bytes(_import_faiss().serialize_index(self._index))

    def add(self, labels: Sequence[VectorLabel], rows: Vectors) -> None:
        """Add vectors, shape (labels, dimensions)."""
        with self._lock:
            self._index.add(self._check_length(rows))
            self._labels += labels
            keys = [label.key for label in self._labels]
            self._keys = np.unique(keys, return_inverse=True)[1]  # in their order
            self._weights = np.array([label.weight for label in self._labels])

    def nearest(self, rows: Vectors, k: int) -> list[Neighbour]:
        """Return the nearest of one vector, shape (1, dimensions): of each key the best, at most ``k``.

        Best first; what is equally near is in the order of weight, then of key.
        """
        _import_faiss()
        with self._lock:
            keys, weights, rows = self._keys, self._weights, self._check_length(rows)
            (similarities,), (places,) = self._index.search(rows, max(1, len(keys)))
        found = np.empty(len(keys), np.float32)
        found[places[places >= 0]] = similarities[places >= 0]
        found = np.minimum(found.astype(float), 1).round(SIMILARITY_DECIMALS)
        order = np.lexsort((keys, -weights, -found))
        best = order[np.sort(np.unique(keys[order], return_index=True)[1])[:k]]
        return [Neighbour(int(place), float(found[place])) for place in best]

    def _check_length(self, rows: Vectors) -> Vectors:
        if rows.shape[1:] != (self.dimensions,):
            raise BlueprintError(
                f"the encoder gives {rows.shape[-1]} numbers for a text, the library has {self.dimensions}; "
                "build the library again with this encoder"
            )
        return np.ascontiguousarray(rows, dtype=np.float32)


def _import_faiss() -> Any:
    """Import FAISS and hold this thread's searches to ``KGQA_THREADS`` threads."""
    import faiss

    faiss.omp_set_num_threads(thread_count())
    return faiss
