"""Answer: what the model says, which nothing proves (IO, CoT)."""

from collections.abc import Sequence

from kgqa.nodes.llm_only.state import LLMOnlyState, given_topics
from kgqa.nodes.record import complete_record, failure_outcome, parametric_answers
from kgqa.priors.answer_agreement import answer_key
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import FinalUpdate, Update


@node("answer")
async def answer_from_reply(state: LLMOnlyState, runtime: NodeRuntime) -> FinalUpdate:
    """Complete the record with the answers of the one reply."""
    said = [name for answers in state.get("samples", []) for name in answers_by_key(answers).values()]
    return await complete_unproved_record(said, state, runtime)


def answers_by_key(answers: Sequence[str]) -> dict[frozenset[str], str]:
    """Return answers as they are first spelt, by what they are compared by; names of nothing are left out."""
    named: dict[frozenset[str], str] = {}
    for answer in answers:
        if key := answer_key([answer]):
            named.setdefault(key, answer.strip())
    return named


async def complete_unproved_record(
    names: list[str], state: LLMOnlyState, runtime: NodeRuntime
) -> FinalUpdate:
    """Complete a record that no graph was asked for."""
    failed = failure_outcome(state)
    if not (names or failed or state["last_failure"] or state["stopped_by"]):
        runtime.trace["reason"] = "the model does not know"
    outcome = "parametric" if names else failed or "none"
    update: Update = {"answers": parametric_answers(names), "outcome": outcome, "paths": [], "evidence": []}
    return {**await complete_record(update, state, runtime), "topics": given_topics(state)}
