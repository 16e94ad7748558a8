"""Filter: which candidates meet the question's conditions? (CoR §4.2, step 2)."""

from dataclasses import replace
from itertools import islice
from typing import NamedTuple, cast

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Term
from kgqa.models.errors import MalformedReply
from kgqa.prompts.candidates import SHOWN, aggregate
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.session.guided import Guided, progress
from kgqa.session.record import StoppedBy
from kgqa.session.state import Branch, State, Update
from kgqa.session.step import BudgetExceeded, Run, step


@step("filter")
async def filter_candidates(state: State, run: Run) -> Update:
    """Let the model choose among all ends of the verified chain, some at a time.

    What is left of several turns is judged together once more, for superlatives.
    When none fits, the chain leaves working memory, with those that lead to the same ends,
    and the search turns back to its alternatives. A malformed reply chooses nothing.
    """
    *earlier, branch = state["memory"]
    kept, limit = await filtered(branch, state, run)
    if kept is None:
        earlier = [each for each in earlier if each.ends != branch.ends]
        return {"memory": earlier, "chain": branch.chain, "candidates": [], "decision": "backtrack"}
    return {"memory": [*earlier, kept], "stopped_by": limit, "decision": "stop"}


async def filtered(branch: Branch, state: State, run: Run) -> tuple[Branch | None, StoppedBy | None]:
    """Give a branch with the ends that fit, None if none does; and the limit that cut the turns short."""
    run.note |= {"chain": str(branch.chain), "candidates": len(branch.ends)}
    chosen = await _chosen(state, branch, run)
    if len(branch.ends) > SHOWN and 1 < len(chosen.ends) <= SHOWN and not chosen.stopped_by:
        chosen = await _chosen(state, replace(branch, ends=chosen.ends), run)
    run.note["kept"] = len(chosen.ends)
    if not chosen.ends:
        return None, chosen.stopped_by
    value = aggregate("count", chosen.ends) if chosen.counting else None
    return replace(branch, ends=chosen.ends, verdict="stop", value=value), chosen.stopped_by


class _Chosen(NamedTuple):
    ends: tuple[Term, ...]
    counting: bool
    stopped_by: StoppedBy | None


async def _chosen(state: State, branch: Branch, run: Run) -> _Chosen:
    """Go through the ends; where the budget ends on the way, what was chosen so far stands.

    Raises:
        BudgetExceeded: if nothing was chosen yet.
    """
    kept: list[Term] = []
    counting = False
    ends = iter(branch.ends)
    plan = progress(cast(Guided, state)) if "findings" in state else None
    while some := tuple(islice(ends, SHOWN)):
        try:
            prompt = FilterCandidates(
                state["question"],
                branch.chain,
                tuple(map(Candidate, some)),
                plan,
                tuple(state["topic_entities"]),
            )
            reply = await run.ask(prompt)
        except MalformedReply as error:
            run.failed(error)
            continue
        except BudgetExceeded as error:
            if not kept:
                raise
            return _Chosen(tuple(kept), counting, error.limit)
        kept += [some[number - 1] for number in reply.chosen]
        counting = counting or reply.count
        run.note["reason"] = reply.rationale
    return _Chosen(tuple(kept), counting, None)
