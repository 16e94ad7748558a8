"""The state of the tool-calling agent: the chains that its tools have followed, and its answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ConfigDict, TypeAdapter, with_config

from kgqa.kg.pages import Candidate, Description, Page
from kgqa.kg.terms import Entity, Hop, Path, Term, Triple
from kgqa.prompts.act import EntityRef
from kgqa.runtime.state import State, Update, VerifiedChain
from kgqa.tools.arguments import chain_arguments
from kgqa.tools.chains import Waypoints
from kgqa.tools.conditions import FilteredChain


@dataclass(frozen=True, slots=True)
class FollowedChain:
    """A chain that a tool has followed, in the words that the tools read, and what it led to.

    Where the graph has filtered that, ``memory`` is what working memory would be.
    """

    topic: str
    hops: tuple[str, ...]
    ends: tuple[Term, ...]
    held: Mapping[int, Sequence[str]] = field(default_factory=dict)
    truncated: bool = False
    memory: tuple[VerifiedChain, ...] = ()


class AgentUpdate(Update, total=False):
    """What a node may change."""

    ways: list[FollowedChain]
    """The chains that the agent has followed, in order."""
    said: list[EntityRef] | None
    """The agent's answers; None where it came to none."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class AgentState(State, AgentUpdate):
    """The record in the making, what the agent has seen, and what it says."""


MAX_CHAIN_HOPS = 10  # hops of a chain at most: paths that are longer are not checked by anybody

_WAYPOINTS: TypeAdapter[Waypoints] = TypeAdapter(Waypoints)
"""Reads what a model has written as the tool has read it: JSON's keys are text, ``"1.0"`` is 1."""


def chains_of_call(tool: str, arguments: Mapping[str, Any], artifact: Any) -> list[FollowedChain]:
    """Return the chains that a call has followed; none where it looked up names or relations."""
    if tool == "follow_chain" and arguments["hops"]:
        page: Page[Candidate] = artifact
        held = _WAYPOINTS.validate_python(arguments.get("held") or {})
        hops, ends = tuple(arguments["hops"]), tuple(candidate.term for candidate in page)
        return [FollowedChain(arguments["topic"], hops, ends, held, page.truncated)]
    if tool == "filter_chain":
        filtered: FilteredChain = artifact
        ends, cut = filtered.ends.items, filtered.ends.truncated
        met = (VerifiedChain(chain, ends, "stop") for chain in filtered.meeting)
        own = VerifiedChain(
            filtered.chain,
            ends,
            "stop",
            conditions=filtered.conditions,
            aggregate=filtered.aggregate,
            truncated=cut,
        )
        written = chain_arguments(filtered.chain)
        hops, held = tuple(written["hops"]), written.get("held", {})
        return [FollowedChain(written["topic"], hops, ends, held, cut, (*met, own))]
    if tool == "follow_relation":
        pages: list[Page[Term]] = artifact
        hops = (arguments["relation"],)
        pairs = zip(arguments["entities"], pages, strict=True)
        return [FollowedChain(topic, hops, ends.items, truncated=ends.truncated) for topic, ends in pairs]
    if tool == "describe_entity":
        description: Description = artifact
        found: dict[str, list[Term]] = {}
        for hop, term in description.facts:
            found.setdefault(hop.relation if hop.forward else f"^{hop.relation}", []).append(term)
        topic, cut = f"<{description.entity.id}>", description.facts.truncated
        return [FollowedChain(topic, (hop,), tuple(found[hop]), truncated=cut) for hop in found]
    return []


def extend_from_topic(
    chain: FollowedChain, earlier: Sequence[FollowedChain], topics: Sequence[Entity]
) -> FollowedChain:
    """Begin a chain where the question does, if an earlier one has led to its topic."""
    if any(_denotes(chain.topic, topic) for topic in topics):
        return chain
    for before in earlier:
        met = [end for end in before.ends if isinstance(end, Entity) and _denotes(chain.topic, end)]
        at = len(before.hops)
        if met and at + len(chain.hops) <= MAX_CHAIN_HOPS:
            later = {at + place: ids for place, ids in chain.held.items()}
            held = {**before.held, at: (f"<{met[0].id}>",), **later}
            return replace(chain, topic=before.topic, hops=(*before.hops, *chain.hops), held=held, memory=())
    return chain


def merge_chains(chains: Sequence[FollowedChain]) -> list[FollowedChain]:
    """Join chains that differ in the nodes on the way only: one relation of several entities."""
    groups: dict[tuple[str, tuple[str, ...], tuple[int, ...]], list[FollowedChain]] = {}
    for chain in chains:
        groups.setdefault((chain.topic, chain.hops, tuple(chain.held)), []).append(chain)
    merged = []
    for (_, _, places), group in groups.items():
        held = {at: tuple(dict.fromkeys(id for each in group for id in each.held[at])) for at in places}
        ends = tuple(dict.fromkeys(end for each in group for end in each.ends))
        cut = any(each.truncated for each in group)
        merged.append(replace(group[0], held=held, ends=ends, truncated=cut))
    return merged


def followed_chain_arguments(chain: FollowedChain) -> dict[str, Any]:
    """Write a chain as the tools read it."""
    held = {at: list(texts) for at, texts in chain.held.items()}
    return {"topic": chain.topic, "hops": list(chain.hops)} | ({"held": held} if held else {})


def followed_path(chain: FollowedChain, triples: Sequence[Triple]) -> Path:
    """Return the path that facts along a chain make."""
    pairs = zip(chain.hops, triples, strict=True)
    hops = [Hop(triple.relation, not text.startswith("^")) for text, triple in pairs]
    nodes = [t.tail if hop.forward else t.head for hop, t in zip(hops, triples, strict=True)]
    first = triples[0].head if hops[0].forward else triples[0].tail
    if not isinstance(first, Entity):
        raise ValueError(f"a path that begins at a literal: {first}")
    return Path(first, tuple(zip(hops, nodes, strict=True)))


def _denotes(text: str, term: Entity) -> bool:
    """Return whether a tool that reads a text takes it for an entity."""
    bare = text.strip()
    return bare.removeprefix("<").removesuffix(">") == term.id or bare == term.name
