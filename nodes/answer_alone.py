"""Answer: what the model says, which nothing proves (IO, CoT)."""

from collections.abc import Sequence

from kgqa.nodes.closing import closed, failure, from_memory
from kgqa.priors.agreement import answer_key
from kgqa.session.sampled import Sampled, given
from kgqa.session.state import Closing
from kgqa.session.step import Run, step


@step("answer")
async def answer_alone(state: Sampled, run: Run) -> Closing:
    """Complete the record with the answers of the one reply."""
    said = [name for answers in state.get("samples", []) for name in by_key(answers).values()]
    return closed_alone(said, state, run)


def by_key(answers: Sequence[str]) -> dict[frozenset[str], str]:
    """Give answers as they are first spelt, by what they are compared by; names of nothing are left out."""
    named: dict[frozenset[str], str] = {}
    for answer in answers:
        if key := answer_key([answer]):
            named.setdefault(key, answer.strip())
    return named


def closed_alone(names: list[str], state: Sampled, run: Run) -> Closing:
    """Complete a record that no graph was asked for."""
    failed = failure(state)
    if not (names or failed or state["stopped_by"]):
        run.note["reason"] = "the model does not know"
    outcome = "parametric" if names else failed or "none"
    record = closed(
        {"answers": from_memory(names), "outcome": outcome, "paths": [], "evidence": []}, state, run
    )
    return {**record, "topics": given(state)}
