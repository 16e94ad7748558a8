"""Filter: which candidates meet the question's conditions? (CoR §4.2, step 2)."""

from dataclasses import replace
from itertools import islice

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Term
from kgqa.models.errors import MalformedReply
from kgqa.prompts.candidates import SHOWN, aggregate
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.session.state import Branch, State, Update
from kgqa.session.step import Run, step


@step("filter")
async def filter_candidates(state: State, run: Run) -> Update:
    """Let the model choose among all ends of the verified chain, some at a time.

    When none fits, the chain leaves working memory and the search turns back to
    the stack. A malformed reply chooses nothing.
    """
    branch = state["memory"][-1]
    kept, counting = await _chosen(state["question"], branch, run)
    run.note |= {"chain": str(branch.chain), "candidates": len(branch.ends), "kept": len(kept)}
    if not kept:
        return {"memory": [], "candidates": [], "decision": "backtrack"}
    value = aggregate("count", kept) if counting else None
    filtered = replace(branch, ends=tuple(kept), verdict="stop", value=value)
    return {"memory": [*state["memory"][:-1], filtered], "decision": "stop"}


async def _chosen(question: str, branch: Branch, run: Run) -> tuple[list[Term], bool]:
    kept: list[Term] = []
    counting = False
    ends = iter(branch.ends)
    while some := tuple(islice(ends, SHOWN)):
        try:
            reply = await run.ask(FilterCandidates(question, branch.chain, tuple(map(Candidate, some))))
        except MalformedReply as error:
            run.note["error"] = f"MalformedReply: {error}"
            continue
        kept += [some[number - 1] for number in reply.chosen]
        counting = counting or reply.count
        run.note["reason"] = reply.rationale
    return kept, counting
