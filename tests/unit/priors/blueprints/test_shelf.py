import threading

import numpy as np
import pytest

from kgqa.priors.errors import BlueprintError
from kgqa.priors.vector_index import Neighbour, VectorIndex, VectorLabel

EAST, NORTH, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.6, 0.8)


def rows(*vectors: tuple[float, float]) -> np.ndarray:
    return np.array(vectors, np.float32)


def labels(*keys: str) -> list[VectorLabel]:
    return [VectorLabel(key, 1) for key in keys]


def test_the_nearest_come_first() -> None:
    shelf = VectorIndex(labels("a", "b", "c"), rows(NORTH, EAST, BETWEEN))
    assert shelf.nearest(rows(EAST), 2) == [Neighbour(1, 1.0), Neighbour(2, 0.6)]
    assert shelf.nearest(rows(EAST), 9) == [Neighbour(1, 1.0), Neighbour(2, 0.6), Neighbour(0, 0.0)]
    assert shelf.nearest(rows(EAST), 0) == []


def test_ties_are_in_the_order_of_weight_then_key_however_many_are_asked_for() -> None:
    given = [VectorLabel("d", 1), VectorLabel("c", 1), VectorLabel("b", 2), VectorLabel("a", 1)]
    shelf = VectorIndex(given, rows(EAST, EAST, EAST, EAST))
    assert [[near.place for near in shelf.nearest(rows(EAST), k)] for k in (1, 2, 3, 4)] == [
        [2],
        [2, 3],
        [2, 3, 1],
        [2, 3, 1, 0],
    ]


def test_of_each_key_the_nearest_is_given() -> None:
    shelf = VectorIndex(labels("a", "a", "b", "a"), rows(EAST, BETWEEN, NORTH, EAST))
    assert shelf.nearest(rows(EAST), 2) == [Neighbour(0, 1.0), Neighbour(2, 0.0)]


def test_an_index_is_read_as_it_was_packed() -> None:
    shelf = VectorIndex(labels("a", "b"), rows(NORTH, EAST))
    again = VectorIndex.from_bytes(labels("a", "b"), shelf.to_bytes(), 2)
    assert again.nearest(rows(EAST), 2) == shelf.nearest(rows(EAST), 2)


@pytest.mark.parametrize(("keys", "dimensions"), [("a", 2), ("abc", 2), ("ab", 3)])
def test_the_index_of_other_records_is_refused(keys: str, dimensions: int) -> None:
    packed = VectorIndex(labels("a", "b"), rows(NORTH, EAST)).to_bytes()
    with pytest.raises(ValueError, match="not the index of these records"):
        VectorIndex.from_bytes(labels(*keys), packed, dimensions)


@pytest.mark.parametrize("cut", [0, 3, -1])
def test_what_is_no_index_is_refused(cut: int) -> None:
    packed = VectorIndex(labels("a"), rows(NORTH)).to_bytes()
    with pytest.raises(ValueError, match="not an index"):
        VectorIndex.from_bytes(labels("a"), packed[:cut], 2)


def test_vectors_of_another_length_are_refused() -> None:
    shelf = VectorIndex(labels("a"), rows(NORTH))
    for refused in (
        lambda: shelf.nearest(np.ones((1, 3), np.float32), 1),
        lambda: shelf.add([], np.ones((1, 3))),
    ):
        with pytest.raises(BlueprintError, match="gives 3 numbers for a text, the library has 2"):
            refused()


def test_threads_may_search_while_others_add() -> None:
    shelf = VectorIndex(labels("a"), rows(EAST))
    adding = [threading.Thread(target=shelf.add, args=(labels(f"b{n}"), rows(BETWEEN))) for n in range(20)]
    for thread in adding:
        thread.start()
        assert shelf.nearest(rows(EAST), 30)[0] == Neighbour(0, 1.0)
    for thread in adding:
        thread.join()
    assert len(shelf.nearest(rows(EAST), 30)) == 21
