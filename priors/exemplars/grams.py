"""The runs of words of masked questions, weighed by TF-IDF (Salton & Buckley 1988)."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]

LONGEST = 3
"""Words of a run at most."""

LEAST = 2
"""Distinct questions that a run of words must be in to be looked at."""

_TOKEN = re.compile(r"\[[a-z]+\]|'s\b|\w+")


def tokens(text: str) -> list[str]:
    """Split into words, small; a mask is one, and so is ``'s``.

    >>> tokens("Who was [ENT]'s wife?")
    ['who', 'was', '[ent]', "'s", 'wife']
    """
    return _TOKEN.findall(text.lower().replace("’", "'"))


def grams(text: str) -> Counter[str]:
    """Count the runs of one to `LONGEST` words."""
    words = tokens(text)
    return Counter(
        " ".join(words[at : at + size])
        for size in range(1, LONGEST + 1)
        for at in range(len(words) - size + 1)
    )


class Row(NamedTuple):
    """A row of numbers that are mostly 0: where the others are, and these."""

    places: Places
    values: Floats


class Rows(NamedTuple):
    """Such rows one after the other: row i is at ``starts[i]`` to ``starts[i + 1]``."""

    starts: Places
    places: Places
    values: Floats

    @staticmethod
    def of(rows: Sequence[Row]) -> "Rows":
        """Put rows together; at least one."""
        places, values = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        return Rows(np.cumsum([0, *(len(row.places) for row in rows)]), places, values)

    def turned(self, columns: int) -> "Rows":
        """Give the columns as rows."""
        order = np.argsort(self.places, kind="stable")
        rows = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        starts = np.searchsorted(self.places[order], np.arange(columns + 1))
        return Rows(starts, rows[order], self.values[order])

    def at(self, row: int) -> Row:
        """Give one row."""
        part = slice(*self.starts[row : row + 2])
        return Row(self.places[part], self.values[part])


class Vocabulary:
    """Runs of words and their weights.

    Args:
        terms: the runs.
        weights: shape (terms,).
    """

    def __init__(self, terms: Sequence[str], weights: Floats) -> None:
        self.terms, self.weights = tuple(terms), weights
        self._places = {term: place for place, term in enumerate(terms)}

    @staticmethod
    def of(texts: Iterable[str]) -> "Vocabulary":
        """Take the runs that `LEAST` distinct texts have; log((1 + n) / (1 + df)) + 1 is the weight.

        Here n is the number of distinct texts, df how many of them have the run.
        """
        distinct = set(texts)
        counts = Counter(gram for text in distinct for gram in grams(text))
        terms = sorted(term for term, texts in counts.items() if texts >= LEAST)
        df = np.array([counts[term] for term in terms], np.float32)
        return Vocabulary(terms, np.log((1 + len(distinct)) / (1 + df)) + 1)

    def row(self, text: str) -> Row:
        """Weigh the runs of a text: (1 + log count) × weight, scaled to length 1."""
        found = sorted((self._places[gram], n) for gram, n in grams(text).items() if gram in self._places)
        places = np.array([place for place, _ in found], np.int64)
        counts = np.array([count for _, count in found], np.float32)
        values = (1 + np.log(counts)) * self.weights[places]
        return Row(places, values / (np.linalg.norm(values) or np.float32(1)))
