"""The state of the tool-calling agent: the chains that its tools have followed, and its answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ConfigDict, TypeAdapter, with_config

from kgqa.kg.pages import Candidate, Description, Page
from kgqa.kg.terms import Entity, Hop, Path, Term, Triple
from kgqa.prompts.act import EntityRef
from kgqa.runtime.state import State, Update
from kgqa.tools.chains import Waypoints


@dataclass(frozen=True, slots=True)
class FollowedChain:
    """A chain that a tool has followed, in the words that the tools read, and what it led to."""

    topic: str
    hops: tuple[str, ...]
    ends: tuple[Term, ...]
    held: Mapping[int, Sequence[str]] = field(default_factory=dict)
    truncated: bool = False


class AgentUpdate(Update, total=False):
    """What a node may change."""

    ways: list[FollowedChain]
    """The chains that the agent has followed, in order."""
    said: list[EntityRef] | None
    """The agent's answers; None where it came to none."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class AgentState(State, AgentUpdate):
    """The record in the making, what the agent has seen, and what it says."""


MAX_CHAIN_HOPS = 10
"""Hops of a way at most: paths that are longer are not checked by anybody."""

_WAYPOINTS: TypeAdapter[Waypoints] = TypeAdapter(Waypoints)
"""Reads what a model has written as the tool has read it: JSON's keys are text, ``"1.0"`` is 1."""


def chains_of_call(tool: str, arguments: Mapping[str, Any], artifact: Any) -> list[FollowedChain]:
    """Return the ways that a call has followed; none where it looked up names or relations."""
    if tool == "follow_chain":
        return [_chain_of_call(arguments, artifact)] if arguments["hops"] else []
    if tool == "follow_relation":
        hops = (arguments["relation"],)
        pages: list[Page[Term]] = artifact
        pairs = zip(arguments["entities"], pages, strict=True)
        return [FollowedChain(topic, hops, page.items, truncated=page.truncated) for topic, page in pairs]
    return _chains_of_description(artifact) if tool == "describe_entity" else []


def extend_from_topic(
    way: FollowedChain, earlier: Sequence[FollowedChain], topics: Sequence[Entity]
) -> FollowedChain:
    """Begin a way where the question does, if an earlier one has led to its topic."""
    if any(_denotes(way.topic, topic) for topic in topics):
        return way
    for before in earlier:
        met = [end for end in before.ends if isinstance(end, Entity) and _denotes(way.topic, end)]
        at = len(before.hops)
        if met and at + len(way.hops) <= MAX_CHAIN_HOPS:
            held = {**before.held, at: (f"<{met[0].id}>",), **{at + n: ids for n, ids in way.held.items()}}
            return replace(way, topic=before.topic, hops=(*before.hops, *way.hops), held=held)
    return way


def merge_chains(ways: Sequence[FollowedChain]) -> list[FollowedChain]:
    """Join ways that differ in the nodes on the way only: one relation of several entities."""
    groups: dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[FollowedChain]] = {}
    for way in ways:
        groups.setdefault((way.topic, way.hops, tuple(way.held)), []).append(way)
    return [_join_chains(group) for group in groups.values()]


def followed_chain_arguments(way: FollowedChain) -> dict[str, Any]:
    """Write a way as the tools read it."""
    held = {at: list(texts) for at, texts in way.held.items()}
    return {"topic": way.topic, "hops": list(way.hops)} | ({"held": held} if held else {})


def followed_path(way: FollowedChain, triples: Sequence[Triple]) -> Path:
    """Return the path that facts along a way make."""
    pairs = zip(way.hops, triples, strict=True)
    hops = [Hop(triple.relation, not text.startswith("^")) for text, triple in pairs]
    nodes = [t.tail if hop.forward else t.head for hop, t in zip(hops, triples, strict=True)]
    first = triples[0].head if hops[0].forward else triples[0].tail
    if not isinstance(first, Entity):
        raise ValueError(f"a path that begins at a literal: {first}")
    return Path(first, tuple(zip(hops, nodes, strict=True)))


def _chain_of_call(arguments: Mapping[str, Any], page: Page[Candidate]) -> FollowedChain:
    held = _WAYPOINTS.validate_python(arguments.get("held") or {})
    ends = tuple(candidate.term for candidate in page)
    return FollowedChain(arguments["topic"], tuple(arguments["hops"]), ends, held, page.truncated)


def _chains_of_description(description: Description) -> list[FollowedChain]:
    ends: dict[Hop, list[Term]] = {}
    for hop, term in description.facts:
        ends.setdefault(hop, []).append(term)
    topic, cut = f"<{description.entity.id}>", description.facts.truncated
    return [
        FollowedChain(
            topic, (hop.relation if hop.forward else f"^{hop.relation}",), tuple(found), truncated=cut
        )
        for hop, found in ends.items()
    ]


def _join_chains(group: Sequence[FollowedChain]) -> FollowedChain:
    first = group[0]
    held = {at: tuple(dict.fromkeys(text for way in group for text in way.held[at])) for at in first.held}
    ends = tuple(dict.fromkeys(end for way in group for end in way.ends))
    return replace(first, held=held, ends=ends, truncated=any(way.truncated for way in group))


def _denotes(text: str, term: Entity) -> bool:
    """Return whether a tool that reads a text takes it for an entity."""
    bare = text.strip()
    return bare.removeprefix("<").removesuffix(">") == term.id or bare == term.name
