"""Compares names by an injected encoder, once each."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.floating[Any]]
Encode: TypeAlias = Callable[[Sequence[str]], Vectors]
"""Gives one L2-normalised row per text."""

ALL = 5_000
"""Up to this many names all are compared; beyond it the `SHORTLIST` that look most alike."""

SHORTLIST = 300


class Meaning:
    """Vectors of names, encoded when first needed and kept."""

    def __init__(self, keys: Sequence[str], encode: Encode) -> None:
        self._keys = keys
        self._encode = encode
        self._rows: dict[int, Vectors] = {}
        self._lock = Lock()

    def nearest(
        self, texts: Sequence[str], limit: int, lexical: Callable[[str, int], list[int]]
    ) -> dict[str, float]:
        """Give the names nearest to any of ``texts`` with their cosine, negative ones left out.

        Args:
            texts: What to compare with.
            limit: Names per text at most.
            lexical: Gives the places of names that look like a text, for large indexes.
        """
        scores: dict[str, float] = {}
        queries = self._encode(list(texts)) if texts and self._keys else ()
        for text, query in zip(texts, queries, strict=True):
            places = list(range(len(self._keys))) if len(self._keys) <= ALL else lexical(text, SHORTLIST)
            cosines = self._vectors(places) @ query
            for at in np.argsort(-cosines, kind="stable")[:limit]:
                key, cosine = self._keys[places[at]], float(cosines[at])
                if cosine > scores.get(key, 0.0):
                    scores[key] = min(cosine, 1.0)
        return scores

    def _vectors(self, places: Sequence[int]) -> Vectors:
        with self._lock:
            missing = [place for place in places if place not in self._rows]
            if missing:
                rows = self._encode([self._keys[place] for place in missing])
                self._rows.update(zip(missing, rows, strict=True))
            return np.stack([self._rows[place] for place in places])
