"""Retrieve: which chains near the topics say the question, and what do their nodes have?"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from math import exp
from typing import NamedTuple, TypeVar

from kgqa.kg.errors import KGError
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Term
from kgqa.models.errors import ModelError
from kgqa.nodes.compose.attributes import OfferedAttributes, offered_attributes
from kgqa.nodes.compose.state import (
    ComposeState,
    ComposeUpdate,
    has_drafted,
    leading_topics,
    otherwise,
    with_alternative_entities,
)
from kgqa.nodes.drafting import can_draft, names_no_entity
from kgqa.nodes.similarity import are_missing
from kgqa.prompts.compose_query import OfferedAttribute, OfferedChain
from kgqa.retrieval.candidate_chains import CandidateChain
from kgqa.retrieval.retriever import Retrieved
from kgqa.retrieval.wording import relation_texts
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import Decision, node_count, node_has_run

MAX_OFFERED = 9  # of the likeliest chains, all topics together
MIN_OFFERED = 4  # of each topic, where it has so many
ENOUGH = 0.99  # how likely it is that the question's chain is among them, as the ranking has it
MAX_INSTEAD = 3  # of what may be meant instead of a topic
MAX_NEAR = 4  # chains of one move that are offered beside them,
MAX_NEAR_INSTEAD = 1  # and from what may be meant instead
MAX_JOINING = 2  # chains that lead to other topics alone
MAX_SAME_ENDS = 2
MAX_SHARE_APART = 2.0  # logarithm of how much likelier one of two chains with the same ends may be
MAX_NEW = 6  # that are found for what is missing
MAX_KEPT = 6  # of those that were offered before
MAX_PASSED = 20  # nodes that are kept of each place on the way


_Offered = TypeVar("_Offered", OfferedChain, OfferedAttribute)


@node("retrieve")
async def retrieve(state: ComposeState, runtime: NodeRuntime) -> ComposeUpdate:
    """Retrieve the likeliest chains from each topic, and attributes of the nodes of the first of them.

    Where a query was composed and something is ``missing``, that is what is looked for, beside the chains of
    the query; where nothing like it is found, a query is drafted over a graph that can be shown as a whole,
    or the last one stands. Where no chain was taken, the next ones are offered. Without a topic from which
    something leads on, and where nothing was taken of what leads on from those that were found, they set out
    from the classes that the question names, or from anything; but first, if the model can, a query is
    drafted, unless it can tell that it is sure of chains. One that fails leads back here.
    """
    if decision := await _decide(state, runtime):
        return {"decision": decision}
    again = node_has_run(state, "compose")
    missing, composed = (state["missing"], state["composed"]) if again else ("", [])
    wanted, question = missing or state["question"], state["question"]
    found = await _look_for(wanted, missing, state, runtime)
    runtime.trace |= {"looked_for": wanted, "chains": [str(each.chain) for each in found.offered]}
    if not found.offered:
        return {"offered": [], "decision": otherwise(state, runtime)}
    read = OfferedAttributes()
    if runtime.context.attributes:
        read = await offered_attributes(found.offered, found.hops, wanted, question, found.topics, runtime)
    told = await _like_missing(missing, read.attributes, state, runtime) if missing else []
    if again and not (found.new or told):
        runtime.trace["reason"] = "nothing like it was found" if missing else "no other chain was found"
        if missing and await can_draft(runtime, far=True):
            return {"missing": missing, "decision": "draft"}
        return {"decision": "filter" if composed else otherwise(state, runtime)}
    return {
        "offered": found.offered,
        "attributes": list(read.attributes),
        "types": list(read.types),
        "mentions": list(read.mentions),
        "naming": read.naming,
        "missing": missing,
        "empty": "",
        "decision": "forward",
    }


async def _decide(state: ComposeState, runtime: NodeRuntime) -> Decision | None:
    """Return what is done without retrieving: a draft, or after one the query that stands in its place."""
    again = node_has_run(state, "compose")
    if has_drafted(state):
        return ("filter" if state["composed"] else "stop") if again else None
    drafts = not again and names_no_entity(state) and await can_draft(runtime)
    return "draft" if drafts and not await _is_sure(state, runtime) else None


async def _is_sure(state: ComposeState, runtime: NodeRuntime) -> bool:
    """Return whether the model can tell that it knows the chains of a question, as the offline model can."""
    try:
        said = await runtime.assess(state["question"], tuple(state["topic_entities"]))
    except (BudgetExceeded, KGError, ModelError):
        return False
    return bool(said and said.proves and (said.confidence or 0) >= runtime.context.min_confidence)


class _Found(NamedTuple):
    """The chains that are offered, those of them that are new, their topics, and what leads on from them."""

    offered: list[OfferedChain]
    new: list[OfferedChain]
    topics: list[Entity]
    hops: Mapping[Chain, Sequence[Hop]]


async def _look_for(wanted: str, missing: str, state: ComposeState, runtime: NodeRuntime) -> _Found:
    """Retrieve the chains that are alike to what is wanted, and keep those of the query before."""
    again, topics = node_has_run(state, "compose"), leading_topics(state)
    before, composed = (state["offered"], state["composed"]) if again else ([], [])
    if node_count(state, "compose") > 1 and not composed and state["linked"]:
        topics = []  # what was taken for topics leads to no answer
    taken = {chain for branch in composed for chain in branch.chains}
    kept = [each for each in before if each.chain in taken]
    alternative_entities = with_alternative_entities(state, topics)
    meant = [entity for topic, others in alternative_entities.items() for entity in (topic, *others)]
    starts = {topic: Chain(topic) for topic in meant} | {each.chain.topic: each.chain for each in kept}
    found: Retrieved | None = await runtime.try_tool(
        "retrieve_chains",
        question=wanted,
        starts=[*starts.values()],
        known=[(lead.chain, [*lead.hops]) for lead in state["leads"] if not lead.truncated],
    )
    topics = [
        *dict.fromkeys([*meant, *(each.chain.topic for each in before), *(found.chains if found else ())])
    ]
    passed = taken if missing else {each.chain for each in before}
    new = list(_likeliest(found, topics, {*meant} - {*alternative_entities}, passed)) if found else []
    if missing:
        new = await _like_missing(missing, new, state, runtime)
    new = new[: MAX_NEW if again else None]
    shown = taken | {each.chain for each in new}
    others = [each for each in before if each.chain not in shown][:MAX_KEPT]
    named = [topic for topic in topics if topic != ANY]
    return _Found([*kept, *new, *others], new, named, found.hops if found else {})


async def _like_missing(
    missing: str, found: Sequence[_Offered], state: ComposeState, runtime: NodeRuntime
) -> list[_Offered]:
    """Return the chains or attributes that were not shown before and may be what is missing."""
    nodes = {node for each in state["offered"] for node in each.chain.nodes}
    told = {(node, each.hops) for each in state["attributes"] for node in each.nodes}
    shown = {hop for node in nodes for hop in node.hops} | {hop for _, hops in told for hop in hops}

    def new_hops(each: _Offered) -> list[Hop]:
        if isinstance(each, OfferedChain):
            return [node.hops[-1] for node in each.chain.nodes if node not in nodes]
        return [] if any((node, each.hops) in told for node in each.nodes) else [*each.hops]

    texts = [[text for hop in new_hops(each) for text in relation_texts(hop.words)] for each in found]
    known = [text for hop in sorted(shown) for text in relation_texts(hop.words)]
    may_be = await are_missing(texts, missing, known, runtime)
    return [each for each, may in zip(found, may_be, strict=True) if may]


def _likeliest(
    found: Retrieved, topics: Sequence[Entity], instead: Collection[Entity], passed: Collection[Chain]
) -> Iterator[OfferedChain]:
    """Yield the likeliest chains of each topic that lead to more than topics, but for those passed.

    They are taken as long as others may be meant, the members of a class before all, and the likeliest of one
    move beside them; a few from what may be meant ``instead`` of a topic.
    """
    most = max(MIN_OFFERED, MAX_OFFERED // max(1, len(topics) - len(instead)))
    for topic in topics:
        chains = sorted(found.chains.get(topic, ()), key=lambda each: (bool(each.moves), -each.share))
        leading = (
            each
            for each in chains
            if not (
                each.terms <= {*topics}
                or {each.chain, each.taught} & {*passed}
                or _comes_back(each.chain, found.ends)
            )
        )
        varied = list(_varied(leading))
        taken: list[CandidateChain] = []
        for each in varied[: MAX_INSTEAD if topic in instead else most]:
            if sum(exp(one.share) for one in taken) < ENOUGH:
                taken.append(each)
        near = [each for each in varied if len(each.moves) == 1 and each not in taken]
        offered = [*taken, *near[: MAX_NEAR_INSTEAD if topic in instead else MAX_NEAR]]
        offered += [] if topic in instead else _joining(chains, {*topics} - {*instead}, passed, found)
        yield from (_offer(each.as_taught(found.ends), found.ends) for each in offered)


def _joining(
    chains: Iterable[CandidateChain], topics: Collection[Entity], passed: Collection[Chain], found: Retrieved
) -> list[CandidateChain]:
    """Return the likeliest chains that lead to other topics alone: a node on the way may be the answer."""
    joining = (
        each
        for each in chains
        if len(each.moves) > 1
        and each.terms <= {*topics}
        and each.chain.topic not in each.terms
        and each.chain not in passed
        and not _comes_back(each.chain, found.ends)
    )
    return [*islice(joining, MAX_JOINING)]


def _comes_back(chain: Chain, visited: Mapping[Chain, Page[Candidate]]) -> bool:
    """Return whether a chain goes through its topic alone at any place: what follows is a chain by itself."""
    nodes = filter(None, map(visited.get, chain.nodes[:-1]))
    return any({end.term for end in page} == {chain.topic} for page in nodes)


def _varied(chains: Iterable[CandidateChain]) -> Iterator[CandidateChain]:
    """Yield the likeliest chains; of those that lead to the same two that are alike, the direct one first.

    One relation the other way round to the same says the same, and is left out.
    """
    groups: dict[frozenset[Term], list[CandidateChain]] = {}
    for each in chains:
        groups.setdefault(each.terms, []).append(each)
    for first, *others in groups.values():
        near = (each for each in others if each.share > first.share - MAX_SHARE_APART)
        same = [first, *(each for each in near if not _is_mirrored(each.chain, first.chain))]
        yield from sorted(same, key=lambda each: each.chain.depth)[:MAX_SAME_ENDS]


def _is_mirrored(chain: Chain, other: Chain) -> bool:
    """Return whether a chain differs from another in relations that go the other way round alone."""
    apart = [(one, two) for one, two in zip(chain.hops, other.hops, strict=False) if one != two]
    return chain.depth == other.depth and all(one.forward != two.forward for one, two in apart)


def _offer(candidate: CandidateChain, visited: Mapping[Chain, Page[Candidate]]) -> OfferedChain:
    """Return a chain as it is offered; its inverses where they lead to more."""
    others = candidate.also if candidate.beside else ()
    ends = (*candidate.ends, *candidate.beside)
    start = candidate.chain.depth - sum(map(len, candidate.moves))
    named = tuple(filter(None, accumulate(map(len, candidate.moves), initial=start)))[:-1]
    passed = tuple(
        tuple(end.term for end in visited.get(node, ()) if end.term.name)[:MAX_PASSED]
        for node in candidate.chain.nodes[:-1]
    )
    return OfferedChain(candidate.chain, ends, candidate.truncated, others, named, passed)
