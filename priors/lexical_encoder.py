"""Encodes texts by their letters, where no sentence encoder is installed."""

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np

from kgqa.priors.encoder import Vectors

_WORD = re.compile(r"\w+")
_PIECE_WEIGHT = 0.3  # of three letters, where a whole word counts 1


class LexicalEncoder:
    """Words and their groups of three letters, hashed into a vector (Weinberger et al. 2009).

    Alike are texts that share words or parts of words; that other words mean the same, it cannot tell.

    >>> rows = LexicalEncoder().encode(["place of birth", "birthplace", "spouse"])
    >>> bool(rows[0] @ rows[1] > rows[0] @ rows[2])
    True
    """

    name = "lexical"
    dimensions = 1024

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text, shape (texts, dimensions)."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in self._features(text):
                digest = crc32(feature.encode("utf-8", "replace"))
                row[digest % self.dimensions] += weight if digest & 1 << 31 else -weight
            row[0] += not row.any()  # a text without words
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def _features(self, text: str) -> list[tuple[str, float]]:
        words = _WORD.findall(text.casefold())
        pieces = [f" {word} "[at : at + 3] for word in words for at in range(len(word))]
        return [(word, 1.0) for word in words] + [(f"#{piece}", _PIECE_WEIGHT) for piece in pieces]
