import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kgqa.priors.hop_model import (
    REGULARISATION_C,
    VECTOR_SCALE,
    LogisticHead,
    SparseRow,
    fit_head,
)

NOTHING = np.zeros((2, 1), np.float32)


def word(place: int) -> SparseRow:
    return SparseRow(np.array([place]), np.ones(1, np.float32))


def test_the_logs_are_those_of_the_softmax() -> None:
    head = LogisticHead(
        words=np.array([[1, 0, 0], [9, 9, 9]], np.float32),
        meaning=np.array([[0, 2, 0]], np.float32),
        bias=np.array([0, 0, 0.5], np.float32),
    )
    scores = np.array([2.0, 2.0, 0.5])  # 2 × 1, 1 × 2, and the bias
    logs = head.logs(SparseRow(np.array([0]), np.array([2], np.float32)), np.ones(1, np.float32))
    assert logs == pytest.approx(scores - np.log(np.exp(scores).sum()))


def solved(strength: float) -> float:
    """Find by halving where x = strength / (1 + exp(2x))."""
    low, high = 0.0, 10.0
    for _ in range(60):
        x = (low + high) / 2
        low, high = (x, high) if strength / (1 + np.exp(2 * x)) > x else (low, x)
    return x


def test_weights_are_those_of_regularised_logistic_regression() -> None:
    head = fit_head(csr_matrix(np.eye(2, dtype=np.float32)), NOTHING, [0, 1], [1.0, 1.0])
    # by symmetry the weights are a and -a, and the loss 2 C log(1 + exp(-2a)) + 2 a²
    a = solved(REGULARISATION_C)
    assert head.words == pytest.approx(np.array([[a, -a], [-a, a]]), abs=1e-3)
    assert head.logs(word(0), NOTHING[0])[0] == pytest.approx(-np.log1p(np.exp(-2 * a)), abs=1e-3)


def test_sentence_vectors_count_by_how_they_differ_as_if_they_were_longer() -> None:
    nothing = SparseRow(np.zeros(0, np.int64), np.zeros(0, np.float32))
    vectors = np.array([[1, 5], [1 - 2 / VECTOR_SCALE, 5]], np.float32)  # 2 from each other when scaled
    head = fit_head(csr_matrix((2, 0), dtype=np.float32), vectors, [0, 1], [1.0, 1.0])
    # about their mean they are at 1 and -1: weights b and -b, the loss 2 C log(1 + exp(-2b)) + b²
    b = solved(2 * REGULARISATION_C)
    assert head.meaning == pytest.approx(VECTOR_SCALE * np.array([[b, -b], [0, 0]]), abs=1e-3)
    for label, vector in enumerate(vectors):
        assert head.logs(nothing, vector)[label] == pytest.approx(-np.log1p(np.exp(-2 * b)), abs=1e-3)


def test_what_is_given_more_often_is_likelier() -> None:
    head = fit_head(csr_matrix(np.ones((2, 1), np.float32)), NOTHING, [0, 1], [3.0, 1.0])
    assert np.exp(head.logs(word(0), NOTHING[0])) == pytest.approx([0.75, 0.25], abs=1e-2)


def test_a_single_class_is_certain() -> None:
    head = fit_head(csr_matrix(np.ones((1, 1), np.float32)), NOTHING[:1], [0], [1.0])
    assert head.logs(word(0), NOTHING[0]).tolist() == [0.0]
