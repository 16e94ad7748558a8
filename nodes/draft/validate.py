"""Validate: can the graph give what the draft asks for?"""

from dataclasses import replace

from kgqa.kg.errors import KGRejected
from kgqa.nodes.draft.state import DraftState, DraftUpdate, refine_or_fail
from kgqa.runtime.node import NodeRuntime, node
from kgqa.tools.drafts import CheckedDraft


@node("validate")
async def validate(state: DraftState, runtime: NodeRuntime) -> DraftUpdate:
    """Check the draft before anything of it is run; what is wrong is told to its writer.

    What is surely wrong never runs. What is only doubtful is told once: a draft that stands by it runs, and
    its answer rests on the model.
    """
    described, drafted = state["described"], state["drafted"]
    if described is None or drafted is None:
        return {"decision": "refine"}
    known = [*described.ids, *(each.id for each in described.members)]
    try:
        checked: CheckedDraft = await runtime.call_tool(
            "check_query", query=drafted.sparql, known=known, classes=[*state["classes"]]
        )
    except KGRejected as error:
        return _refine(state, [str(error)], runtime)
    runtime.trace["query"] = checked.text
    wrong = checked.told("wrong")
    new = [text for text in checked.told("doubtful") if text not in state["told"]]
    described = replace(described, beyond=checked.relations)
    update: DraftUpdate = {"checked": checked, "described": described, "objections": []}
    if wrong or (new and state["refinements"] < runtime.context.refines):
        return {**update, **_refine(state, [*wrong, *new], runtime)}
    if new:
        runtime.trace["objections"] = new
    return update


def _refine(state: DraftState, objections: list[str], runtime: NodeRuntime) -> DraftUpdate:
    runtime.trace["objections"] = objections
    update = refine_or_fail(state, objections, runtime, state["standing"])
    if update["decision"] != "refine":
        runtime.trace["reason"] = f"no draft was right: {objections[0]}"
    return update
