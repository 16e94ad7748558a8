"""An encoder that remembers: what it was taught is looked up, not encoded again."""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from kgqa.priors.encoder import Encoder, Vectors
from kgqa.priors.vectors import VectorCache

RECENT = 4096
"""Texts remembered beside those that were taught."""


class Memo:
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

    def teach(self, texts: Sequence[str]) -> None:
        """Learn texts for good, from disk where they were encoded before."""
        unknown = sorted(set(texts) - self._taught.keys())
        self._taught |= zip(unknown, VectorCache(self._encoder).vectors(unknown), strict=True)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Give one row of length 1 for each text, shape (texts, dimensions)."""
        if not texts:
            return np.empty((0, self._encoder.dimensions), np.float32)
        known = {text: row for text in texts if (row := self._look_up(text)) is not None}
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        if fresh:
            known |= zip(fresh, self._encoder.encode(fresh), strict=True)
            self._remember({text: known[text] for text in fresh[:RECENT]})
        return np.stack([known[text] for text in texts])

    def _look_up(self, text: str) -> Vectors | None:
        row = self._taught.get(text)
        return self._recent.get(text) if row is None else row

    def _remember(self, fresh: dict[str, Vectors]) -> None:
        """Replace the memory as a whole, so that other threads see one or the other."""
        kept = {**self._recent, **fresh}
        self._recent = dict(list(kept.items())[-RECENT:])
