"""Answer: which of the agent's answers have its tools shown, and by which chain?"""

from collections.abc import Iterable, Sequence

from kgqa.kg.errors import KGError
from kgqa.kg.terms import Literal, Path, Term
from kgqa.nodes.agent.state import AgentState, FollowedChain, followed_chain_arguments, followed_path
from kgqa.nodes.record import (
    MAX_EVIDENCE_ANSWERS,
    answer_without_proof,
    build_proof,
    complete_record,
    failure_outcome,
    parametric_answers,
)
from kgqa.priors.answer_agreement import answer_key
from kgqa.prompts.act import EntityRef
from kgqa.prompts.candidates import XSD_INTEGER, parse_number
from kgqa.runtime.node import BudgetExceeded, NodeRuntime, node
from kgqa.runtime.record import ref
from kgqa.runtime.state import FinalUpdate, Update, node_has_run

MAX_TRACED_CHAINS = 8
"""Ways whose facts are looked up at most."""


@node("answer")
async def answer(state: AgentState, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record: what a tool has shown proves an answer, the others are from the model's memory.

    Where the budget ended the work, what was followed last is the answer. With ``allow_parametric``
    off only proved answers are given. After a time-out there is no answer: the agent may have
    taken another way, to something else.
    """
    if (
        failure_outcome(state)
        or not node_has_run(state, "act")
        or (state["said"] is None and not _last_ends(state))
    ):
        return complete_record(await answer_without_proof(state, runtime), state, runtime)
    return complete_record(await _prove_answers(state, runtime), state, runtime)


async def _prove_answers(state: AgentState, runtime: NodeRuntime) -> Update:
    ways, said = state["ways"], state["said"]
    if said is None:
        terms, unseen = list(_last_ends(state)), []
    elif counted := _counted_chain(said, ways):
        proof = build_proof(await _trace_paths(counted.ends, [counted], runtime))
        return {**proof, "answers": [ref(Literal(said[0].name, XSD_INTEGER))], "outcome": "grounded"}
    else:
        found = [(each, _shown_terms(each, ways)) for each in said]
        terms = list(dict.fromkeys(term for _, shown in found for term in shown))
        unseen = [each.name for each, shown in found if not shown]
    memory = parametric_answers(unseen) if runtime.context.allow_parametric else []
    runtime.trace["proved"] = len(terms)
    return {
        **build_proof(await _trace_paths(terms, ways, runtime)),
        "answers": [*map(ref, terms), *memory],
        "outcome": "parametric" if memory else "grounded" if terms else "none",
    }


def _last_ends(state: AgentState) -> tuple[Term, ...]:
    """Return what was followed last, where the budget left no turn to judge it."""
    ways = state["ways"] if state["stopped_by"] else []
    return tuple(end for end in ways[-1].ends if end.name) if ways else ()


def _shown_terms(said: EntityRef, ways: Sequence[FollowedChain]) -> list[Term]:
    """Return what the tools have shown under an answer's id, else under its name, the last call first."""
    id = (said.id or "").strip().removeprefix("<").removesuffix(">")
    for way in reversed(ways):
        if same := [end for end in way.ends if id and end.id == id]:
            return same[:1]
    keys = (lambda name: name, lambda name: answer_key([name]))
    for key in keys:
        for way in reversed(ways):
            if same := [end for end in way.ends if end.name and key(end.name) == key(said.name)]:
                return same
    return []


def _counted_chain(said: Sequence[EntityRef], ways: Sequence[FollowedChain]) -> FollowedChain | None:
    """Return the way whose ends a lone number counts: the last that was followed, if nothing of it was cut."""
    last = ways[-1] if ways else None
    if last is None or last.truncated or len(said) != 1 or len(last.ends) < 2:
        return None
    things = all(end.name and parse_number(end) is None for end in last.ends)
    return last if things and said[0].name == str(len(last.ends)) else None


async def _trace_paths(
    terms: Iterable[Term], ways: Sequence[FollowedChain], runtime: NodeRuntime
) -> list[Path]:
    """Return the paths to answers: from each topic by the last way that has led there."""
    wanted, found = list(terms)[:MAX_EVIDENCE_ANSWERS], []
    for way, ends in _chains_to_terms(wanted, ways)[:MAX_TRACED_CHAINS]:
        try:
            traced = await runtime.call_tool("trace_chain", ends=ends, **followed_chain_arguments(way))
        except (BudgetExceeded, KGError) as error:
            runtime.trace["evidence"] = f"left out: {error}"
            if isinstance(error, BudgetExceeded):
                runtime.trace["limit"] = error.limit
            break
        found += [followed_path(way, triples) for triples in traced if triples]
    return found


def _chains_to_terms(
    terms: Sequence[Term], ways: Sequence[FollowedChain]
) -> list[tuple[FollowedChain, list[Term]]]:
    leading, have = [], set()
    for way in reversed(ways):
        fresh = [term for term in terms if term in way.ends and (way.topic, term) not in have]
        have |= {(way.topic, term) for term in fresh}
        if fresh:
            leading.append((way, fresh))
    return leading
