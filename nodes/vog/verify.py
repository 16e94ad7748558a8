"""Verify: does the graph bear out what the step predicted? (VoG §3.3, equation 1)."""

import asyncio
from dataclasses import replace

from kgqa.nodes.vog.state import VoGState, VoGUpdate, current_step, interleaved_observations, may_revise
from kgqa.prompts.facts import draw_fact, facts_as_statements
from kgqa.prompts.plans import PlanStep, SearchPlan, draw_statements, parse_statements
from kgqa.prompts.verify_step import VerifyStep
from kgqa.runtime.node import NodeRuntime, node

MAX_TRACED_FACTS = 10  # facts that the trace tells at most


@node("verify")
async def verify(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model, and a model of inference, hold the prediction against what was observed.

    Either may call for a revision (``verifiers``). In a plan that is revised, an observation
    that the model corrects replaces the predicted one. A malformed reply is no signal.
    """
    step, verifiers = current_step(state), runtime.context.verifiers
    by_model, plan, by_nli = None, state["plan"], None
    if verifiers != "nli":
        by_model, plan = await _ask_verifier(state, step, runtime)
    if verifiers != "model":
        detector = await runtime.contradiction_detector()
        runtime.trace["verifier"] = detector.name
        observed = facts_as_statements(state["feedback"][-1])
        if observed and step.observation:
            judging = asyncio.to_thread(detector.contradicts, observed, step.observation)
            by_nli = await runtime.within_time_limit(judging)
    facts = [draw_fact(path) for path in state["feedback"][-1][:MAX_TRACED_FACTS]]
    predicted = draw_statements(step.observation)
    runtime.trace |= {"step": state["step_index"], "predicted": predicted, "facts": facts}
    runtime.trace["signals"] = {"model": by_model, "nli": by_nli}
    heard = [signal for signal in (by_model, by_nli) if signal is not None]
    calls = (all if verifiers == "and" else any)(heard) if heard else False
    revises = calls and may_revise(state, runtime.context)
    if calls and not revises:
        runtime.trace["spent"] = "revisions"
    return {"plan": plan, "decision": "refine"} if revises else {"decision": "forward"}


async def _ask_verifier(
    state: VoGState, step: PlanStep, runtime: NodeRuntime
) -> tuple[bool | None, SearchPlan]:
    """Return whether the model calls for a revision, and the plan with the observation as it corrects it."""
    plan, index = state["plan"], state["step_index"]
    own = runtime.context.feedback == "chosen"
    facts = tuple(state["feedback"][-1]) if own else interleaved_observations(state)
    topics = tuple(state["topic_entities"])
    reply = await runtime.ask(VerifyStep(state["question"], step, index, facts, topics=topics))
    if reply is None:
        return None, plan
    runtime.trace["reason"] = reply.rationale
    if reply.revise and reply.observation:
        corrected = replace(step, observation=parse_statements(reply.observation))
        plan = replace(plan, steps=(*plan.steps[: index - 1], corrected, *plan.steps[index:]))
    return reply.revise, plan
