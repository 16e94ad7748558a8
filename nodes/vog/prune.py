"""Prune: which relations does the step need? (VoG §3.2 and appendix A.3.2)."""

from kgqa.nodes.vog.state import (
    VoGState,
    VoGUpdate,
    concludes,
    current_step,
    max_selections,
    next_decision,
    open_paths,
)
from kgqa.prompts.select_relations import SelectRelations
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.state import OutrightChain

MAX_UNASKED_RELATIONS = 3  # relations that are followed where the model was not asked, or would not say


@node("prune")
async def prune(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model choose among the relations; a single one needs no call.

    In the last step it may say that the first leads to the answers, by itself or with only a condition left
    (``outright_answers``). A malformed reply, or one too many in the same step, leaves the likeliest.
    """
    context, offers, asked = runtime.context, state["offers"], state["asked"]
    said: OutrightChain | None = None
    chosen = offers[:MAX_UNASKED_RELATIONS]
    if len(offers) > 1 and asked < max_selections(state, context):
        step, frontier, topics = current_step(state), open_paths(state), tuple(state["topic_entities"])
        outright = context.outright_answers and concludes(state, context) and len(topics) == 1
        prompt = SelectRelations(
            state["question"],
            step,
            tuple(frontier),
            tuple(offers),
            outright,
            filtering=context.attributes,
            topics=topics,
        )
        asked += 1
        if reply := await runtime.ask(prompt):
            runtime.trace["reason"] = reply.rationale
            chosen = [offers[number - 1] for number in reply.relations]
            if outright and len(chosen) == 1 and reply.then and reply.then != "forward":
                said = OutrightChain.said(chosen[0].extend(frontier[chosen[0].heads[0]]), reply.then)
    runtime.trace |= {"step": state["step_index"], "chosen": list(map(str, chosen))}
    decision = next_decision(chosen, state, context)
    failed = state["step_failed"] or runtime.failure is not None
    return {
        "offers": chosen,
        "asked": asked,
        "outright": said,
        "step_failed": failed,
        "decision": decision,
    }
