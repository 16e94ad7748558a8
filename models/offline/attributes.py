"""The values that ends are told apart by: numbers, dates, or how many there are."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term, local_name
from kgqa.prompts.candidates import number_of

Place = tuple[Decimal | int, ...]
"""Where a value is in the order: a number, or year, month, day, hour, minute and second."""

Steps = tuple[tuple[Hop, ...], ...]
"""What leads from a node to a value; the hops of one step are alternatives."""

_DATE = re.compile(
    r"(-?[0-9]{4,9})-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2}))?)?[^0-9-]{0,9}.*"
)

_YEAR = re.compile(r"\b(?:1[0-9]|20)[0-9]{2}\b")


def place_of(term: Term) -> Place | None:
    """Read a literal as a number or a date, None where it is neither.

    >>> place_of(Literal("1803")) < place_of(Literal("1803-05-01"))
    True
    """
    number = number_of(term)
    if number is not None:
        return (number,)
    found = _DATE.fullmatch(term.value) if isinstance(term, Literal) else None
    return tuple(int(part or 0) for part in found.groups()) if found else None


def year_named(term: Term) -> Place | None:
    """Give the last year in a name, None where there is none: 2004 of "2004 NBA Finals"."""
    years = _YEAR.findall(term.name or "")
    return (int(years[-1]),) if years else None


def named_steps(by: str, graph: KnowledgeGraph) -> Steps | None:
    """Give the relations that the graph has under the local names of `Asked.by`, None if it lacks one."""
    steps = tuple(_named(name, graph) for name in by.split("/") if by)
    return steps if steps and all(steps) else None


def _named(name: str, graph: KnowledgeGraph) -> tuple[Hop, ...]:
    local = name.removeprefix("^")
    return tuple(
        Hop(relation, forward=local == name)
        for relation in graph.relations
        if relation.endswith(local) and local_name(relation) == local
    )


async def follow(
    starts: Sequence[Entity], steps: Steps, graph: KnowledgeGraph
) -> dict[Entity, tuple[tuple[Entity, Term], ...]]:
    """Follow relations from nodes: one query for each step.

    Returns:
        For each start that leads somewhere, each (node before the last step, end) it leads to.
    """
    led: dict[Entity, tuple[tuple[Entity, Term], ...]] = {start: ((start, start),) for start in starts}
    for hops in steps:
        nodes = sorted({end for pairs in led.values() for _, end in pairs if isinstance(end, Entity)})
        asked = [(node, hop) for node in nodes for hop in hops]
        pages = await graph.follow_relation([(node.id, hop) for node, hop in asked])
        ends: dict[Entity, list[Term]] = {}
        for (node, _), page in zip(asked, pages, strict=True):
            ends.setdefault(node, []).extend(page)
        led = {
            start: tuple({(at, end) for _, at in pairs if isinstance(at, Entity) for end in ends.get(at, ())})
            for start, pairs in led.items()
        }
    return {start: pairs for start, pairs in led.items() if pairs}


def entities(terms: Iterable[Term]) -> list[Entity]:
    """Leave literals out."""
    return [term for term in terms if isinstance(term, Entity)]


async def values_of(
    steps: Steps, back: int, chains: Sequence[Chain], pool: frozenset[Term], graph: KnowledgeGraph
) -> dict[Term, list[Place]]:
    """Look up the values of the ends or of the nodes before them; what is no value is counted."""
    nodes = await _nodes(back, chains, pool, graph)
    pairs: dict[Term, set[tuple[Entity, Term]]] = {}
    for node, found in (await follow(sorted(nodes), steps, graph)).items():
        for end in nodes[node]:
            pairs.setdefault(end, set()).update(found)
    places = {
        end: [place for _, term in of if (place := place_of(term)) is not None] for end, of in pairs.items()
    }
    if any(places.values()):
        return {end: values for end, values in places.items() if values}
    return {end: [(len(of),)] for end, of in pairs.items()}


async def _nodes(
    back: int, chains: Sequence[Chain], pool: frozenset[Term], graph: KnowledgeGraph
) -> dict[Entity, frozenset[Term]]:
    """Give the nodes that values belong to, each with the ends that it leads to."""
    if back == 0:
        return {end: frozenset([end]) for end in entities(pool)}
    found: dict[Entity, frozenset[Term]] = {}
    for chain in chains:
        if chain.depth > back:
            before = await graph.follow_chain(chain.upto(chain.depth - back))
            rest = tuple((hop,) for hop in chain.hops[-back:])
            led = await follow(entities(each.term for each in before), rest, graph)
            for node, pairs in led.items():
                found[node] = found.get(node, frozenset()) | (pool & {end for _, end in pairs})
    return found
