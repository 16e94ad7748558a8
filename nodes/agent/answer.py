"""Answer: which of the agent's answers have its tools shown, and by which chain?"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from kgqa.kg.proof.query import Aggregate, Condition
from kgqa.kg.terms import Chain, Entity, Literal, Path, Term
from kgqa.nodes.agent.state import AgentState, FollowedChain
from kgqa.nodes.claim import claimed_answer
from kgqa.nodes.mentioned import is_term_said
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
from kgqa.priors.answer_agreement import answer_key
from kgqa.prompts.act import EntityRef
from kgqa.prompts.candidates import XSD_INTEGER
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import FinalUpdate, Update, node_has_run
from kgqa.tools.arguments import chain_arguments

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
            return await proof_update(query, proof, [*met, last], state, runtime)
    return None


def _as_remembered(condition: Condition, state: AgentState) -> Condition:
    """Return a condition with whether only the agent knows its value: nobody was shown whose it is."""
    value, topics = condition.value, state["topic_entities"]
    if value is None or value in topics or condition.operator == "type":
        return condition
    shown = (end for chain in state["ways"] for end in chain.ends if end == value)
    known = not isinstance(value, Entity) or value.name is not None
    term = value if known else next(shown, value)
    return replace(condition, remembered=condition.remembered or not is_term_said(term, state["question"]))


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
