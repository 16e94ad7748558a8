"""Verify: does the graph bear out what the step predicted? (VoG §3.3, equation 1)."""

import asyncio
from dataclasses import replace

from kgqa.models.errors import MalformedReply
from kgqa.prompts.facts import claims, draw_fact
from kgqa.prompts.plans import PlanStep, SearchPlan, stated
from kgqa.prompts.steps import statements
from kgqa.prompts.verify_step import VerifyStep
from kgqa.session.planned import Planned, PlannedUpdate, at_hand, in_turns, may_revise
from kgqa.session.step import Run, step

NOTED = 10
"""Facts that the trace tells at most."""


@step("verify")
async def verify_step(state: Planned, run: Run) -> PlannedUpdate:
    """Let the model, and a model of inference, hold the prediction against what was observed.

    Either may call for a revision (``verifiers``). In a plan that is revised, an observation
    that the model corrects replaces the predicted one. A malformed reply is no signal.
    """
    step = at_hand(state)
    by_model, plan = await _by_model(state, step, run)
    by_nli = await _by_nli(state, step, run)
    facts = [draw_fact(path) for path in state["feedback"][-1][:NOTED]]
    run.note |= {"step": state["at"], "predicted": stated(step.observation), "facts": facts}
    run.note["signals"] = {"model": by_model, "nli": by_nli}
    heard = [signal for signal in (by_model, by_nli) if signal is not None]
    calls = (all if run.context.verifiers == "and" else any)(heard) if heard else False
    revises = calls and may_revise(state, run.context)
    if calls and not revises:
        run.note["spent"] = "revisions"
    return {"plan": plan, "decision": "refine"} if revises else {"decision": "forward"}


async def _by_model(state: Planned, step: PlanStep, run: Run) -> tuple[bool | None, SearchPlan]:
    plan = state["plan"]
    if run.context.verifiers == "nli":
        return None, plan
    facts, topics = in_turns(state), tuple(state["topic_entities"])
    try:
        reply = await run.ask(VerifyStep(state["question"], step, state["at"], facts, topics=topics))
    except MalformedReply as error:
        run.failed(error)
        return None, plan
    run.note["reason"] = reply.rationale
    if reply.revise and reply.observation:
        corrected = replace(step, observation=statements(reply.observation))
        steps = (*plan.steps[: state["at"] - 1], corrected, *plan.steps[state["at"] :])
        return True, replace(plan, steps=steps)
    return reply.revise, plan


async def _by_nli(state: Planned, step: PlanStep, run: Run) -> bool | None:
    if run.context.verifiers == "model":
        return None
    judge = await run.judge()
    run.note["verifier"] = judge.name
    facts = claims(state["feedback"][-1])
    if not (facts and step.observation):
        return None
    return await run.in_time(asyncio.to_thread(judge.contradicts, facts, step.observation))
