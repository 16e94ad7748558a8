"""Multinomial logistic models of the words and the sentence vector of a masked question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgqa.priors.encoder import Vectors, bounded_blas
from kgqa.priors.exemplars.grams import Floats, Row, Rows
from kgqa.priors.settings import threads

STRENGTH = 20.0
"""What a question that is given once counts against weights that are not 0 (C of scikit-learn)."""

MEANING = 2.0
"""How much longer the sentence vector is than the row of words, before weights are learned."""

STEPS = 60
"""Steps of the search for weights at most; more make no difference to what comes first."""

_MEMORY = 5
"""Gradients that L-BFGS keeps: each is as large as the weights."""


@dataclass(frozen=True, slots=True)
class Head:
    """A model that tells which of some classes a question is of.

    Attributes:
        words: Shape (terms, classes).
        meaning: Shape (dimensions, classes).
        bias: Shape (classes,).
    """

    words: Floats
    meaning: Floats
    bias: Floats

    def logs(self, row: Row, vector: Floats) -> Floats:
        """Give the natural log-probability of each class, shape (classes,).

        Args:
            row: of words.
            vector: of the sentence, shape (dimensions,).
        """
        said = np.einsum("i,ij->j", row.values, self.words[row.places])
        scores = said + np.einsum("i,ij->j", vector, self.meaning) + self.bias
        scores -= scores.max()
        return np.asarray(scores - np.log(np.exp(scores).sum()), np.float32)


def fit(rows: Rows, terms: int, vectors: Vectors, labels: Sequence[int], weights: Sequence[float]) -> Head:
    """Fit a head by L-BFGS (Liu & Nocedal 1989); labels are the numbers of classes, from 0.

    Args:
        rows: of words.
        terms: how many terms the vocabulary has.
        vectors: of the sentences, shape (questions, dimensions).
        labels: shape (questions,).
        weights: how much each question counts, shape (questions,).
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix
    from threadpoolctl import threadpool_limits

    mean = vectors.mean(axis=0)  # without it, the search takes fewer steps; the bias takes it up
    words = csr_matrix((rows.values, rows.places, rows.starts), shape=(len(vectors), terms))
    task = _Task(words, MEANING * (vectors - mean), np.asarray(labels), STRENGTH * np.asarray(weights))
    with bounded_blas(), threadpool_limits(threads(), "blas"):  # scipy has a BLAS of its own
        found = minimize(
            task.loss,
            np.zeros(task.size),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": STEPS, "maxcor": _MEMORY},
        )
    head = task.head(found.x)
    meaning = MEANING * head.meaning
    return Head(head.words.copy(), meaning, head.bias - mean @ meaning)


class _Task:
    """The loss of all weights in a row: the words', the meaning's, the bias."""

    def __init__(self, words: Any, vectors: Floats, labels: Any, counts: Any) -> None:
        self._words, self._turned = words, words.T.tocsr()
        self._vectors = vectors.astype(np.float32)
        self._right = np.arange(len(labels)), labels
        self._counts = counts.astype(np.float32)
        self._classes = int(labels.max()) + 1

    @property
    def size(self) -> int:
        """How many weights there are."""
        return int(self._words.shape[1] + self._vectors.shape[1] + 1) * self._classes

    def head(self, weights: Any) -> Head:
        """Give the weights their shapes."""
        table = weights.astype(np.float32).reshape(-1, self._classes)
        terms = self._words.shape[1]
        return Head(table[:terms], table[terms:-1], table[-1])

    def loss(self, weights: Any) -> tuple[float, Any]:
        """Give the loss, half the squared length of all weights but the bias included, and its gradient."""
        head = self.head(weights)
        shares = self._words @ head.words + self._vectors @ head.meaning + head.bias
        shares -= shares.max(axis=1, keepdims=True)
        right = shares[self._right]
        np.exp(shares, out=shares)
        total = shares.sum(axis=1)
        loss = float(self._counts @ (np.log(total) - right))
        shares /= total[:, None]
        shares[self._right] -= 1
        shares *= self._counts[:, None]
        gradient = np.concatenate([self._turned @ shares, self._vectors.T @ shares, shares.sum(axis=0)[None]])
        flat, held = gradient.ravel().astype(np.float64), weights.copy()
        held[-self._classes :] = 0
        return loss + 0.5 * float(held @ held), flat + held
