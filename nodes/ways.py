"""What chains an agent's calls of tools have followed, and what these led to."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from kgqa.kg.pages import Candidate, Description, Page
from kgqa.kg.terms import Entity, Hop, Path, Term, Triple
from kgqa.session.acting import Way
from kgqa.tools.chains import Waypoints

LONGEST = 10
"""Hops of a way at most: paths that are longer are not checked by anybody."""

_WAYPOINTS: TypeAdapter[Waypoints] = TypeAdapter(Waypoints)
"""Reads what a model has written as the tool has read it: JSON's keys are text, ``"1.0"`` is 1."""


def followed(tool: str, arguments: Mapping[str, Any], artifact: Any) -> list[Way]:
    """Give the ways that a call has followed; none where it looked up names or relations."""
    if tool == "follow_chain":
        return [_chain(arguments, artifact)] if arguments["hops"] else []
    if tool == "follow_relation":
        hops = (arguments["relation"],)
        pages: list[Page[Term]] = artifact
        pairs = zip(arguments["entities"], pages, strict=True)
        return [Way(topic, hops, page.items, truncated=page.truncated) for topic, page in pairs]
    return _described(artifact) if tool == "describe_entity" else []


def extended(way: Way, earlier: Sequence[Way], topics: Sequence[Entity]) -> Way:
    """Begin a way where the question does, if an earlier one has led to its topic."""
    if any(_means(way.topic, topic) for topic in topics):
        return way
    for before in earlier:
        met = [end for end in before.ends if isinstance(end, Entity) and _means(way.topic, end)]
        at = len(before.hops)
        if met and at + len(way.hops) <= LONGEST:
            held = {**before.held, at: (f"<{met[0].id}>",), **{at + n: ids for n, ids in way.held.items()}}
            return replace(way, topic=before.topic, hops=(*before.hops, *way.hops), held=held)
    return way


def merged(ways: Sequence[Way]) -> list[Way]:
    """Join ways that differ in the nodes on the way only: one relation of several entities."""
    groups: dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[Way]] = {}
    for way in ways:
        groups.setdefault((way.topic, way.hops, tuple(way.held)), []).append(way)
    return [_joined(group) for group in groups.values()]


def arguments_of(way: Way) -> dict[str, Any]:
    """Write a way as the tools read it."""
    held = {at: list(texts) for at, texts in way.held.items()}
    return {"topic": way.topic, "hops": list(way.hops)} | ({"held": held} if held else {})


def path_of(way: Way, triples: Sequence[Triple]) -> Path:
    """Give the path that facts along a way make."""
    pairs = zip(way.hops, triples, strict=True)
    hops = [Hop(triple.relation, not text.startswith("^")) for text, triple in pairs]
    nodes = [t.tail if hop.forward else t.head for hop, t in zip(hops, triples, strict=True)]
    first = triples[0].head if hops[0].forward else triples[0].tail
    if not isinstance(first, Entity):
        raise ValueError(f"a path that begins at a literal: {first}")
    return Path(first, tuple(zip(hops, nodes, strict=True)))


def _chain(arguments: Mapping[str, Any], page: Page[Candidate]) -> Way:
    held = _WAYPOINTS.validate_python(arguments.get("held") or {})
    ends = tuple(candidate.term for candidate in page)
    return Way(arguments["topic"], tuple(arguments["hops"]), ends, held, page.truncated)


def _described(description: Description) -> list[Way]:
    ends: dict[Hop, list[Term]] = {}
    for hop, term in description.facts:
        ends.setdefault(hop, []).append(term)
    topic, cut = f"<{description.entity.id}>", description.facts.truncated
    return [
        Way(topic, (hop.relation if hop.forward else f"^{hop.relation}",), tuple(found), truncated=cut)
        for hop, found in ends.items()
    ]


def _joined(group: Sequence[Way]) -> Way:
    first = group[0]
    held = {at: tuple(dict.fromkeys(text for way in group for text in way.held[at])) for at in first.held}
    ends = tuple(dict.fromkeys(end for way in group for end in way.ends))
    return replace(first, held=held, ends=ends, truncated=any(way.truncated for way in group))


def _means(text: str, term: Entity) -> bool:
    """Tell whether a tool that reads a text takes it for an entity."""
    bare = text.strip()
    return bare.removeprefix("<").removesuffix(">") == term.id or bare == term.name
