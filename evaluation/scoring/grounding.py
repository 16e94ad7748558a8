"""Whether answers stand up on the graph: the paths of each record are walked again."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.result import Result
from kgqa.evaluation.runs.event_loop import for_each
from kgqa.evaluation.scoring.matching import name_key
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.runtime.record import PathStep

MAX_CONCURRENT_RESULTS = 8  # records that are checked at a time
MAX_PATH_HOPS = 10  # hops of the longest path that is walked: no method goes further
_YES_OR_NO = frozenset({EntityRef("true", "yes"), EntityRef("false", "no")})
"""How a record answers a question that asks for yes or no; a literal has its value for its name."""

_PATHS = TypeAdapter(list[list[PathStep]])


async def check_grounding(results: Sequence[Result], graph: KnowledgeGraph) -> dict[str, bool | None]:
    """Check of each result, by `result_key`, whether all of its answers are where its paths lead.

    None where there is nothing to go by: a grounded record without any path (a query is no chain).

    An answer must be at the end of every path that is drawn to it or to no answer in
    particular, and of one at least; nodes that a path names on the way must lie there. A
    lone number may also be a count of what all paths lead to (or of a part of that: the
    record does not say what a filter took). A yes or no is a verdict on its paths, and
    grounded if all of them are there. Results with another outcome than grounded,
    without answers or with paths that make no sense are not grounded, nor is a literal
    beyond the graph's row limit.

    Raises:
        KGError: if the graph fails; then nothing is known of any result.
    """
    found: dict[str, bool | None] = {}

    async def check(result: Result) -> None:
        found[result_key(result)] = await _is_grounded(result, graph)

    await for_each(results, check, MAX_CONCURRENT_RESULTS)
    return found


def result_key(result: Result) -> str:
    """Return what a result is known by: its id, or the question where the file has no ids."""
    return result.question if result.id is None else result.id


class _PathLegs(NamedTuple):
    """A path as chains between the nodes that it names."""

    legs: tuple[tuple[Chain, Entity], ...]  # chains that end at a named node on the way
    last: Chain  # from the last of these nodes, or the topic, to the end
    end: str | None  # the id of the end, if the path names it


async def _is_grounded(result: Result, graph: KnowledgeGraph) -> bool | None:
    ids = {answer.id for answer in result.answers}
    wanted = {id for id in ids if id}
    if result.failed or result.outcome != "grounded" or not wanted or wanted != ids:
        return False
    if result.record.get("paths") in (None, []):
        return None
    paths = _parse_paths(result.record)
    if not paths:
        return False
    for chain, end in (leg for path in paths for leg in path.legs):
        if not (await graph.trace_chain(chain, [end]))[0]:
            return False
    if _YES_OR_NO.issuperset(result.answers):
        return len(ids) == 1 and await _ends_exist(paths, graph)
    return await _answers_reached(wanted, paths, graph) or await _is_count(wanted, paths, graph)


async def _ends_exist(paths: Sequence[_PathLegs], graph: KnowledgeGraph) -> bool:
    """Return whether every path leads to the end that it names, or to any if it names none."""
    for path in paths:
        reached = await _reach_ends(path.last, {path.end} if path.end else set(), graph)
        if not reached or (path.end and path.end not in reached):
            return False
    return True


async def _answers_reached(ids: set[str], paths: Sequence[_PathLegs], graph: KnowledgeGraph) -> bool:
    proved: set[str] = set()
    for path in paths:
        wanted = {path.end} if path.end in ids else ids
        if not wanted <= await _reach_ends(path.last, wanted, graph):
            return False
        proved |= wanted
    return proved == ids


async def _is_count(ids: set[str], paths: Sequence[_PathLegs], graph: KnowledgeGraph) -> bool:
    """Return whether the one answer can be the number of what all paths lead to."""
    key = name_key(next(iter(ids)))
    if len(ids) > 1 or key.kind != "number":
        return False
    pages = [await graph.follow_chain(path.last) for path in paths]
    common = set.intersection(*({candidate.term for candidate in page} for page in pages))
    return key.value in range(1, len(common) + 1)


async def _reach_ends(chain: Chain, ids: set[str], graph: KnowledgeGraph) -> set[str]:
    """Return those of the ids that are at the end of a chain, and maybe others.

    Where the row limit cut the ends, the entities among the ids are asked for one by one;
    a literal's datatype is not in its id, so that it cannot be.
    """
    page = await graph.follow_chain(chain)
    reached = {candidate.term.id for candidate in page}
    if ids <= reached or not page.truncated:
        return reached
    entities = []
    for id in sorted(ids - reached):
        with suppress(ValueError):
            entities.append(Entity(id))
    traced = await graph.trace_chain(chain, entities) if entities else []
    return reached | {entity.id for entity, path in zip(entities, traced, strict=True) if path}


def _parse_paths(record: Mapping[str, Any]) -> list[_PathLegs]:
    """Read the paths of a record; none if any of them makes no sense."""
    try:
        return [_parse_path(steps) for steps in _PATHS.validate_python(record.get("paths"), strict=True)]
    except ValueError:
        return []


def _parse_path(steps: Sequence[PathStep]) -> _PathLegs:
    """Cut a path at the nodes that it names; a ValueError says that it makes no sense."""
    if not 0 < len(steps) <= MAX_PATH_HOPS:
        raise ValueError(f"a path of {len(steps)} hops")
    if any(step["tail"]["id"] != after["head"]["id"] for step, after in pairwise(steps)):
        raise ValueError("a path whose hops do not meet")
    chain = Chain(Entity(steps[0]["head"]["id"] or ""))
    legs = []
    for step in steps[:-1]:
        chain = chain.then(Hop(step["relation"], step["forward"]))
        if step["tail"]["id"]:
            legs.append((chain, Entity(step["tail"]["id"])))
            chain = Chain(legs[-1][1])
    last = steps[-1]
    return _PathLegs(tuple(legs), chain.then(Hop(last["relation"], last["forward"])), last["tail"]["id"])
