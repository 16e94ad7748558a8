"""Finds the nearest of many unit vectors with FAISS (Douze et al. 2024)."""

import struct
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kgqa.priors.encoder import Vectors, thread_count
from kgqa.priors.errors import BlueprintError

SIMILARITY_DECIMALS = 6
"""Decimals by which likenesses are compared, so that the same text is as near on any machine."""

MAX_VECTOR_NUMBERS = 1 << 16
"""Numbers of a vector at most."""

NORM_TOLERANCE = 1e-2
"""By how much the squared length of a vector may be more than 1."""


class VectorLabel(NamedTuple):
    """What a vector is for: its key, and how much it weighs among those equally near."""

    key: str
    weight: int


class Neighbour(NamedTuple):
    """What is near: its place on the shelf, and the cosine."""

    place: int
    similarity: float


class VectorIndex:
    """Unit vectors in a flat index by inner product, each with a label; threads take turns.

    Args:
        labels: one for each vector of the index.
        index: of FAISS.
    """

    def __init__(self, labels: Sequence[VectorLabel], index: Any) -> None:
        self._labels, self._index = list(labels), index
        self._lock = threading.Lock()

    @staticmethod
    def of(labels: Sequence[VectorLabel], rows: Vectors) -> "VectorIndex":
        """Put up vectors, shape (labels, dimensions)."""
        index = _import_faiss().IndexFlatIP(rows.shape[1])
        index.add(np.ascontiguousarray(rows))
        return VectorIndex(labels, index)

    @staticmethod
    def read(labels: Sequence[VectorLabel], packed: bytes, dimensions: int) -> "VectorIndex":
        """Read the bytes of an index file, without FAISS, which believes what a file says of itself.

        Raises:
            ValueError: if they are no index for these labels.
        """
        if not 0 < dimensions <= MAX_VECTOR_NUMBERS:
            raise ValueError("vectors of such a length are not indexed")
        head = _file_header(len(labels), dimensions)
        if packed[: len(head)] != head or len(packed) != len(head) + 4 * len(labels) * dimensions:
            raise ValueError("not an index, or not the index of these records")
        rows = np.frombuffer(packed, "<f4", offset=len(head)).reshape(len(labels), dimensions)
        if not (np.einsum("ij,ij->i", rows, rows) < 1 + NORM_TOLERANCE).all():
            raise ValueError("not unit vectors")
        return VectorIndex.of(labels, rows)

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self._index.d)

    def packed(self) -> bytes:
        """Return the bytes of an index file, as ``faiss.write_index`` writes it."""
        return bytes(_import_faiss().serialize_index(self._index))

    def add(self, labels: Sequence[VectorLabel], rows: Vectors) -> None:
        """Put up more vectors, shape (labels, dimensions).

        Raises:
            BlueprintError: if they are of another length.
        """
        with self._lock:
            self._index.add(self._checked(rows))
            self._labels += labels

    def nearest(self, rows: Vectors, k: int) -> list[Neighbour]:
        """Return the nearest of one vector, shape (1, dimensions): of each key the best, at most ``k``.

        Best first; what is equally near is in the order of weight, then of key.

        Raises:
            BlueprintError: if the vector is of another length.
        """
        with self._lock:
            total, take = len(self._labels), k
            while total and k > 0:
                take = min(take, total)
                found = list(self._found(self._checked(rows), take))
                best = self._best(found)[:k]
                complete = len(best) == k and found[-1].similarity < best[-1].similarity
                if complete or take == total:
                    return best
                take *= 4
        return []

    def _found(self, rows: Vectors, take: int) -> Iterator[Neighbour]:
        _import_faiss()
        similarities, places = self._index.search(rows, take)
        for similarity, place in zip(similarities[0], places[0], strict=True):
            yield Neighbour(int(place), round(min(1.0, float(similarity)), SIMILARITY_DECIMALS))

    def _best(self, found: Sequence[Neighbour]) -> list[Neighbour]:
        best: dict[str, Neighbour] = {}
        for near in sorted(found, key=self._rank):
            best.setdefault(self._labels[near.place].key, near)
        return list(best.values())

    def _rank(self, near: Neighbour) -> tuple[float, int, str, int]:
        key, weight = self._labels[near.place]
        return -near.similarity, -weight, key, near.place

    def _checked(self, rows: Vectors) -> Vectors:
        if rows.shape[1:] != (self.dimensions,):
            raise BlueprintError(
                f"the encoder gives {rows.shape[-1]} numbers for a text, the library has {self.dimensions}; "
                "build the library again with this encoder"
            )
        return np.ascontiguousarray(rows, dtype=np.float32)


def _file_header(rows: int, dimensions: int) -> bytes:
    """Return what ``faiss.write_index`` writes of an `IndexFlatIP` before its vectors.

    A name, the length of a row, their number, two numbers of no use, that it is trained, that it
    compares by inner product, and how many floats there are.
    """
    return struct.pack("<4siqqqBiQ", b"IxFI", dimensions, rows, 1 << 20, 1 << 20, 1, 0, rows * dimensions)


def _import_faiss() -> Any:
    """Import FAISS and hold this thread's searches to ``KGQA_THREADS`` threads."""
    import faiss

    faiss.omp_set_num_threads(thread_count())
    return faiss
