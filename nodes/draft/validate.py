"""Validate: can the graph give what the draft asks for?"""

from kgqa.kg.errors import KGRejected
from kgqa.nodes.draft.state import FAILED, DraftState, DraftUpdate, refine_or
from kgqa.runtime.node import NodeRuntime, node
from kgqa.tools.drafts import CheckedDraft


@node("validate")
async def validate(state: DraftState, runtime: NodeRuntime) -> DraftUpdate:
    """Check the draft before anything of it is run; what is wrong is told to its writer.

    What is surely wrong never runs. What is only doubtful is told once: a draft that stands by it runs, and
    its answer rests on the model.
    """
    known = [*state["shown_ids"], *(each.id for each in state["members"])]
    try:
        checked: CheckedDraft = await runtime.call_tool(
            "check_query", query=state["sparql"], known=known, classes=[*state["classes"]]
        )
    except KGRejected as error:
        return _refine(state, {}, [str(error)], runtime, must=True)
    update: DraftUpdate = {
        "sparql": checked.text,
        "ids": sorted(checked.ids),
        "relations": sorted(checked.relations),
        "ordered": checked.ordered,
        "ordered_by_hidden": checked.ordered_by_hidden,
        "grouped": checked.grouped,
        "limit": checked.limit,
        "offset": checked.offset,
        "inner_limits": checked.inner_limits,
        "computed_columns": sorted(checked.computed),
        "hints": [each.text for each in checked.findings if each.level == "hint"],
        "doubts": [each.text for each in checked.findings if each.level == "doubtful"],
        "objections": [],
    }
    wrong = [each.text for each in checked.findings if each.level == "wrong"]
    new = [text for text in update["doubts"] if text not in state["told"]]
    runtime.trace["query"] = checked.text
    if wrong or new:
        return _refine(state, update, [*wrong, *new], runtime, must=bool(wrong))
    return update


def _refine(
    state: DraftState, update: DraftUpdate, objections: list[str], runtime: NodeRuntime, *, must: bool
) -> DraftUpdate:
    runtime.trace["objections"] = objections
    again = refine_or(state, update, objections, runtime.context.refines)
    if again is not None:
        return again
    if must:
        runtime.trace["reason"] = f"no draft was right: {objections[0]}"
        return {**update, **FAILED}
    return update
