"""Draft: which query over what is described answers the question?"""

from kgqa.nodes.draft.state import FAILED, DraftState, DraftUpdate, has_answers
from kgqa.prompts.draft_query import DraftQuery
from kgqa.runtime.node import NodeRuntime, node


@node("draft")
async def draft(state: DraftState, runtime: NodeRuntime) -> DraftUpdate:
    """Let the model write one query, with what was wrong with the last one where there was one."""
    prompt = DraftQuery(
        state["question"],
        prefixes=tuple(state["prefixes"]),
        classes=tuple(state["cards"]),
        found=tuple(state["found"]),
        described=tuple(state["described"]),
        terms=tuple(state["terms"]),
        refused=state["sparql"] if state["objections"] else "",
        objections=tuple(state["objections"]),
    )
    reply = await runtime.ask(prompt)
    if reply is None:
        return {"decision": "stop"} if has_answers(state["rows"]) else FAILED
    runtime.trace |= {"reading": reply.reading, "query": reply.sparql}
    if reply.missing:
        runtime.trace["missing"] = reply.missing
    if not reply.sparql.strip():
        runtime.trace["reason"] = f"nothing in the graph says {reply.missing!r}"
        return FAILED
    return {
        "sparql": reply.sparql,
        "reading": reply.reading,
        "headings": reply.columns,
        "unsaid": [*dict.fromkeys([*reply.unsaid, *filter(None, [reply.missing])])],
    }
