"""The state of the tool-calling agent: the chains that its tools have followed, and its answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ConfigDict, with_config

from kgqa.kg.pages import Candidate, ChainPage, Description
from kgqa.kg.terms import Chain, Entity, Hop, NodeConstraint, Term
from kgqa.prompts.act import EntityRef
from kgqa.runtime.state import State, Update, VerifiedChain
from kgqa.tools.conditions import FilteredChain


@dataclass(frozen=True, slots=True)
class FollowedChain:
    """A chain that a tool has followed, and what it led to.

    Where the graph has filtered that, ``memory`` is what working memory would be.
    """

    chain: Chain
    ends: tuple[Term, ...]
    truncated: bool = False
    memory: tuple[VerifiedChain, ...] = ()

    @property
    def free(self) -> Chain:
        """The chain, whatever it was held to."""
        return Chain(self.chain.topic, self.chain.hops)


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


def chains_of_call(tool: str, arguments: Mapping[str, Any], artifact: Any) -> list[FollowedChain]:
    """Return the chains that a call has followed; none where it looked up names or relations."""
    if tool == "follow_chain" and arguments["hops"]:
        page: ChainPage[Candidate] = artifact
        return [FollowedChain(page.chain, tuple(candidate.term for candidate in page), page.truncated)]
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
        return [FollowedChain(filtered.chain, ends, cut, (*met, own))]
    if tool == "follow_relation":
        pages: list[ChainPage[Term]] = artifact
        return [FollowedChain(page.chain, page.items, page.truncated) for page in pages]
    if tool == "describe_entity":
        description: Description = artifact
        found: dict[Hop, list[Term]] = {}
        for hop, term in description.facts:
            found.setdefault(hop, []).append(term)
        topic, cut = Chain(description.entity), description.facts.truncated
        return [FollowedChain(topic.then(hop), tuple(ends), cut) for hop, ends in found.items()]
    return []


def extend_from_topic(
    followed: FollowedChain, earlier: Sequence[FollowedChain], topics: Sequence[Entity]
) -> FollowedChain:
    """Begin a chain where the question does, if an earlier one has led to its topic."""
    chain = followed.chain
    for topic in topics:
        if chain.topic == topic:  # which has its name
            return replace(followed, chain=replace(chain, topic=topic))
    for before in (each for each in earlier if chain.topic in each.ends):
        at = before.chain.depth
        if at + chain.depth <= MAX_CHAIN_HOPS:
            begun = before.chain.constrained_to([chain.topic])
            later = (replace(each, depth=at + each.depth) for each in chain.constraints)
            whole = Chain(begun.topic, (*begun.hops, *chain.hops), (*begun.constraints, *later))
            return replace(followed, chain=whole, memory=())
    return followed


def merge_chains(chains: Sequence[FollowedChain]) -> list[FollowedChain]:
    """Join chains that differ in the nodes on the way only: one relation of several entities."""
    groups: dict[tuple[Chain, tuple[int, ...]], list[FollowedChain]] = {}
    for each in chains:
        depths = tuple(held.depth for held in each.chain.constraints)
        groups.setdefault((each.free, depths), []).append(each)
    merged = []
    for (free, depths), group in groups.items():
        held = tuple(
            NodeConstraint(depth, tuple(sorted({e for each in together for e in each.entities})))
            for depth, together in zip(
                depths, zip(*(each.chain.constraints for each in group), strict=True), strict=True
            )
        )
        ends = tuple(dict.fromkeys(end for each in group for end in each.ends))
        cut = any(each.truncated for each in group)
        merged.append(replace(group[0], chain=replace(free, constraints=held), ends=ends, truncated=cut))
    return merged
