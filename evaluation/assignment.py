"""Which answers stand for which gold answers, one to one."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from kgqa.evaluation.matching import Reading
from kgqa.evaluation.naming import Key


class Matches(NamedTuple):
    """How the answers fit the gold."""

    first_right: bool
    """Whether the first answer is a gold answer."""
    right: int
    """Pairs in a maximum matching of answers and gold answers."""


def matches(answers: Sequence[Reading], gold: Sequence[Reading]) -> Matches:
    """Match answers with gold, both without duplicates: dictionary look-ups, not all pairs."""
    edges = _edges(answers, gold)
    return Matches(bool(edges and edges[0]), _pairs(edges, len(gold)))


def _pairs(edges: list[list[int]], gold: int) -> int:
    """Count the pairs of a maximum matching; a choice is rare, and only then scipy is needed."""
    reached = {at for found in edges for at in found}
    if all(len(found) <= 1 for found in edges):
        return len(reached)
    if len(reached) == sum(map(len, edges)):
        return sum(map(bool, edges))
    return _maximum(edges, gold)


def _edges(answers: Sequence[Reading], gold: Sequence[Reading]) -> list[list[int]]:
    """Give the places in ``gold`` that each answer is the same as."""
    ids: dict[str, list[int]] = defaultdict(list)
    names: dict[Key, list[int]] = defaultdict(list)
    for at, reading in enumerate(gold):
        if reading.id:
            ids[reading.id.local].append(at)
        for key in reading.names:
            names[key].append(at)
    edges = []
    for answer in answers:
        near = dict.fromkeys(ids.get(answer.id.local, ()) if answer.id else ())
        for key in answer.names:
            near |= dict.fromkeys(names.get(key, ()))
        edges.append([at for at in near if answer.same(gold[at])])
    return edges


def _maximum(edges: Sequence[Sequence[int]], gold: int) -> int:
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    starts = np.cumsum([0, *map(len, edges)])
    ends = np.array([at for found in edges for at in found], dtype=np.int32)
    graph = csr_array((np.ones(len(ends), dtype=np.int8), ends, starts), shape=(len(edges), gold))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())
