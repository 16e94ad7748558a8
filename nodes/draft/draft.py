"""Draft: which query over what is described answers the question?"""

from kgqa.nodes.draft.state import DraftState, DraftUpdate, fail
from kgqa.prompts.draft_query import DraftQuery
from kgqa.runtime.node import NodeRuntime, node


@node("draft")
async def draft(state: DraftState, runtime: NodeRuntime) -> DraftUpdate:
    """Let the model write one query, with what was wrong with the last one where there was one.

    Where topics were corrected since, what it can be made of is described anew.
    """
    described, drafted, checked = state.get("described"), state.get("drafted"), state.get("checked")
    if described is None:
        return {"decision": "refine"}
    prompt = DraftQuery(
        state["question"],
        prefixes=tuple(described.prefixes),
        classes=described.lines,
        found=tuple(described.found),
        described=tuple(described.classes),
        terms=tuple(described.terms),
        refused=(checked.text if checked else drafted.sparql) if drafted and state["objections"] else "",
        objections=tuple(state["objections"]),
    )
    reply = await runtime.ask(prompt)
    if reply is None:
        return fail(state["standing"])
    runtime.trace |= {"reading": reply.reading, "query": reply.sparql}
    if reply.missing:
        runtime.trace["missing"] = reply.missing
    if not reply.sparql.strip():
        runtime.trace["reason"] = f"nothing in the graph says {reply.missing!r}"
        return fail(state["standing"])
    return {"drafted": reply, "checked": None}
