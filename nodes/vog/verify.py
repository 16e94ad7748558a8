"""Verify: does the graph bear out what the step predicted? (VoG §3.3, equation 1)."""

import asyncio
from dataclasses import replace
from typing import Any

from kgqa.nodes.vog.state import (
    VoGState,
    VoGUpdate,
    asks_at_end,
    concludes,
    current_step,
    interleaved_observations,
    may_revise,
)
from kgqa.priors.answer_agreement import answer_key
from kgqa.prompts.attributes import is_said
from kgqa.prompts.facts import draw_fact, facts_as_statements, last_named_node
from kgqa.prompts.plans import PlanStep, SearchPlan, draw_statements, parse_statements
from kgqa.prompts.verify_step import VerifyStep
from kgqa.runtime.node import NodeRuntime, node

MAX_TRACED_FACTS = 10  # facts that the trace tells at most


@node("verify")
async def verify(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Let the model, and a model of inference, hold the prediction against what was observed.

    Either may call for a revision (``verifiers``). In a plan that is revised, an observation
    that the model corrects replaces the predicted one. A malformed reply is no signal.
    A step that has found what it predicted is not verified (``exact_match``), nor is the last one, where
    the end of the plan asks who the answer is (``conclude``): there any of what was predicted will do before,
    and where no later step has a name that was predicted, another one is no contradiction.
    """
    step, verifiers = current_step(state), runtime.context.verifiers
    by_model, plan, by_nli = None, state["plan"], None
    needless = _why_not(state, step, runtime.context)
    any_name = verifiers != "nli" and asks_at_end(state, runtime.context) and not _is_named_later(state)
    if needless:
        runtime.trace["reason"] = needless
    if verifiers != "nli" and not needless:
        by_model, plan = await _ask_verifier(state, step, any_name, runtime)
    if verifiers != "model" and not (needless or any_name):
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


def _why_not(state: VoGState, step: PlanStep, context: Any) -> str | None:
    """Say why a step need not be verified, if so."""
    if concludes(state, context):
        return "the end of the plan asks for the answer"
    if context.exact_match and _is_as_predicted(state, step, context):
        return "it has found what it predicted"
    return None


def _is_as_predicted(state: VoGState, step: PlanStep, context: Any) -> bool:
    """Return whether chosen facts join the same names, compared as answers, as predicted ones do.

    Where the end of the plan asks for the answer, what else is found is for the end to tell apart.
    """
    predicted = {answer_key([head, tail]) for head, _, tail in step.observation}
    paths = state["frontier"]
    chosen = {answer_key([last_named_node(path).name or "", path.end.name or ""]) for path in paths}
    if asks_at_end(state, context):
        return any(len(pair) == 2 for pair in predicted & chosen)
    return predicted == chosen and all(len(pair) == 2 for pair in chosen)


async def _ask_verifier(
    state: VoGState, step: PlanStep, any_name: bool, runtime: NodeRuntime
) -> tuple[bool | None, SearchPlan]:
    """Return whether the model calls for a revision, and the plan with the observation as it corrects it."""
    plan, index = state["plan"], state["step_index"]
    own = runtime.context.feedback == "chosen"
    facts = tuple(state["feedback"][-1]) if own else interleaved_observations(state)
    topics = tuple(state["topic_entities"])
    reply = await runtime.ask(VerifyStep(state["question"], step, index, facts, any_name, topics=topics))
    if reply is None:
        return None, plan
    runtime.trace["reason"] = reply.rationale
    if reply.revise and reply.observation:
        corrected = replace(step, observation=parse_statements(reply.observation))
        plan = replace(plan, steps=(*plan.steps[: index - 1], corrected, *plan.steps[index:]))
    return reply.revise, plan


def _is_named_later(state: VoGState) -> bool:
    """Return whether a later step has a name that the current one predicts, other than those of topics."""
    topics = " ".join(map(str, state["topic_entities"]))
    predicted = {name for head, _, tail in current_step(state).observation for name in (head, tail)}
    later = " ".join(f"{each.thought} {each.search}" for each in state["plan"].steps[state["step_index"] :])
    return any(is_said(later, name) for name in predicted if not is_said(topics, name))
