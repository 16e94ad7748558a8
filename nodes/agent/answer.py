"""State and nodes of the tool-calling agent: it acts, and what its tools returned is the answer."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from pydantic import ConfigDict, with_config

from kgqa.kg.pages import Candidate, ChainPage, Description
from kgqa.kg.proof.query import Aggregate, Condition
from kgqa.kg.terms import Chain, Entity, Hop, Literal, NodeConstraint, Path, Term
from kgqa.nodes.claim import claimed_answer
from kgqa.nodes.link import link
from kgqa.nodes.proof import proof_update, prove_ends, query_of_memory, run_query
from kgqa.nodes.record import (
    answers_update,
    build_proof,
    complete_record,
    complete_without_proof,
    ends_with_facts,
    failure_outcome,
    is_count_of,
    trace_evidence,
)
from kgqa.nodes.said import is_term_said
from kgqa.priors.answer_agreement import answer_key
from kgqa.prompts.act import INSTRUCTIONS, EntityRef, opening
from kgqa.prompts.candidates import XSD_INTEGER
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.chat_model import budgeted_chat_model
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import FinalUpdate, State, Update, VerifiedChain, node_has_run
from kgqa.tools.arguments import chain_arguments
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


MAX_TRACED_CHAINS = 8  # chains whose facts are looked up at most


@node("answer")
async def answer(state: AgentState, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record: what a tool has shown proves an answer, the others are from the model's memory.

    Where the budget ended the work, what was followed last is the answer. With ``allow_parametric`` off only
    proved answers are given. After a time-out there is no answer: the agent might have gone elsewhere.
    """
    if (claimed := claimed_answer(state)) is not None:
        return await complete_record(claimed, state, runtime)
    if failure_outcome(state) or not node_has_run(state, "act"):
        return await complete_without_proof(state, runtime)
    if state["said"] is None and not _last_ends(state):
        return await complete_without_proof(state, runtime)
    return await complete_record(await _prove_answers(state, runtime), state, runtime)


async def _prove_answers(state: AgentState, runtime: NodeRuntime) -> Update:
    chains, said = state["ways"], state["said"]
    terms, unseen = _last_ends(state), []
    if said is not None:
        # a lone number counts the ends of the chain that was followed last, if none of it was cut
        last = chains[-1] if len(said) == 1 and chains else None
        if last and not last.truncated and is_count_of(said[0].name, last.ends, 0 if last.memory else 2):
            number = Literal(said[0].name, XSD_INTEGER)
            return await _update([number], [], _leading_chains(last.ends, [last]), state, runtime)
        found = [(each, _shown_terms(each, chains)) for each in said]
        terms = list(dict.fromkeys(term for _, shown in found for term in shown))
        unseen = [each.name for each, shown in found if not shown]
    runtime.trace["proved"] = len(terms)
    update = await _update(terms, unseen, _leading_chains(terms, chains), state, runtime)
    return {**update, "outcome": "grounded_unverified"} if said is None else update


async def _update(
    terms: list[Term],
    unseen: list[str],
    leading: list[tuple[FollowedChain, list[Term]]],
    state: AgentState,
    runtime: NodeRuntime,
) -> Update:
    chains: dict[Chain, list[Term]] = {}
    for followed, ends in leading:
        chains.setdefault(followed.free, []).extend(ends)
    paths = await _trace_paths(leading, {*ends_with_facts(chains, terms)}, runtime)
    drawn = build_proof(chains, paths, terms)
    proved = await _prove_filtered(terms, state, runtime) or await prove_ends(chains, terms, state, runtime)
    return answers_update(terms, unseen, {**drawn, **proved}, runtime)


async def _prove_filtered(terms: Sequence[Term], state: AgentState, runtime: NodeRuntime) -> Update | None:
    """Return the proof of answers that are what the graph has filtered, the last time, or its count."""
    wanted = {term.id for term in terms}
    for chain in reversed([each for each in state["ways"] if each.memory]):
        *met, last = chain.memory
        if wanted == {str(len(chain.ends))} and not last.aggregate:
            last = replace(last, aggregate=Aggregate("count"))
        elif wanted != {end.id for end in chain.ends}:
            continue
        last = replace(last, conditions=tuple(_as_remembered(each, state) for each in last.conditions))
        query = query_of_memory([*met, last], state["topic_entities"])
        proof = await run_query(query, runtime)
        if proof and {term.id for term in proof.answers} == wanted:
            return proof_update(query, proof, [*met, last], state)
    return None


def _as_remembered(condition: Condition, state: AgentState) -> Condition:
    """Return a condition with whether only the agent knows its value: nobody was shown whose it is."""
    value, topics = condition.value, state["topic_entities"]
    if value is None or value in topics or condition.operator == "type":
        return condition
    shown = (end for chain in state["ways"] for end in chain.ends if end == value)
    known = not isinstance(value, Entity) or value.name is not None
    term = value if known else next(shown, value)
    return replace(condition, remembered=not is_term_said(term, state["question"]))


def _last_ends(state: AgentState) -> list[Term]:
    """Return what was followed last, where the budget left no turn to judge it."""
    chains = state["ways"] if state["stopped_by"] else []
    return [end for chain in chains[-1:] for end in chain.ends if end.name]


def _shown_terms(said: EntityRef, chains: Sequence[FollowedChain]) -> list[Term]:
    """Return what the tools have shown under an answer's id, else under its name, the last call first."""
    id = (said.id or "").strip().removeprefix("<").removesuffix(">")
    key, latest = answer_key([said.name]), [chain.ends for chain in reversed(chains)]
    by_id = ([end for end in ends if id and end.id == id][:1] for ends in latest)
    by_name = ([end for end in ends if end.name and end.name == said.name] for ends in latest)
    by_key = ([end for end in ends if end.name and answer_key([end.name]) == key] for ends in latest)
    return next((found for group in (by_id, by_name, by_key) for found in group if found), [])


def _leading_chains(
    terms: Sequence[Term], chains: Sequence[FollowedChain]
) -> list[tuple[FollowedChain, list[Term]]]:
    """Return the chains that lead to answers, and to which: from each topic the last that has led there."""
    have: set[tuple[Term, Term]] = set()
    leading: list[tuple[FollowedChain, list[Term]]] = []
    for followed in reversed(chains):
        ends, topic = {*followed.ends}, followed.chain.topic
        fresh = [term for term in terms if term in ends and (topic, term) not in have]
        have |= {(topic, term) for term in fresh}
        leading += [(followed, fresh)] if fresh else []
    return leading


async def _trace_paths(
    leading: Sequence[tuple[FollowedChain, list[Term]]], wanted: Collection[Term], runtime: NodeRuntime
) -> list[Path]:
    """Return the paths to those of the ends of chains that are wanted."""
    paths: list[Path] = []
    for followed, ends in leading[:MAX_TRACED_CHAINS]:
        arguments = chain_arguments(followed.chain)
        some = [term for term in ends if term in wanted]
        traced = await trace_evidence(runtime, "trace_chain", **arguments, ends=some) if some else []
        if traced is None:
            break
        paths += [Path.of(followed.free, facts) for facts in traced if facts]
    return paths


@node("link", opens=True)
async def link_if_any(state: AgentState, runtime: NodeRuntime) -> Update:
    """Link as every method does, where there is an agent; what is not found it looks up by its own tool."""
    await budgeted_chat_model(runtime)
    return {**await link.body(state, runtime), "decision": "forward"}


@node("act")
async def act(state: AgentState, runtime: NodeRuntime) -> AgentUpdate:
    """Let the agent work; where the budget ends, what it has seen so far can still be the answer."""
    chat = await budgeted_chat_model(runtime)
    module = await asyncio.to_thread(import_module, "kgqa.nodes.agent.loop")
    tools = (await runtime.open_resources()).tools
    loop = module.AgentLoop(runtime, state["topic_entities"])
    runtime.trace["turns"] = loop.entries
    update: AgentUpdate = {"said": None, "ways": loop.followed}
    try:
        begin = opening(state["question"], state["topic_entities"])
        said = await loop.run(chat, tools, begin, await runtime.wording("act", INSTRUCTIONS))
        update["said"] = said
        if said is not None:
            runtime.trace["answers"] = [each.name for each in said]
    except BudgetExceeded as error:
        runtime.trace["reason"] = str(error)
        update["stopped_by"] = error.limit
    return update
