"""Choose an arm: in the light of what shall the plan be revised? (VoG §3.4.1, equation 2)."""

import math

from kgqa.nodes.vog.bandit import Arm
from kgqa.nodes.vog.state import VoGState, VoGUpdate, known_entity_ids, observed_nothing
from kgqa.priors.answer_agreement import answer_key
from kgqa.priors.rewards import answer_entropy
from kgqa.runtime.node import NodeRuntime, node


@node("choose_arm")
async def choose_arm(state: VoGState, runtime: NodeRuntime) -> VoGUpdate:
    """Choose by UCB, or the fixed strategy; an empty observation is answered by looking ahead."""
    arm = _choose(state, runtime)
    runtime.trace |= {"step": state["step_index"], "arm": arm}
    return {"arm": arm, "decision": "forward" if arm == "lookahead" else "refine"}


def _choose(state: VoGState, runtime: NodeRuntime) -> Arm:
    context, bandit = runtime.context, state["bandit"]
    ids = known_entity_ids(state)
    entropy = answer_entropy([answer_key(plan.answers, ids) for plan in state["pool"]])
    runtime.trace["entropy"] = entropy
    if context.strategy != "adaptive":
        fixed: Arm = context.strategy
        return fixed
    if observed_nothing(state):
        return "lookahead"
    scores = bandit.scores(
        entropy=entropy,
        at=state["step_index"],
        expected_depth=context.expected_depth,
        repeated=state["repeated"],
        kg_priors=context.kg_priors,
        diversity=context.diversity,
    )
    runtime.trace["scores"] = {arm: score if math.isfinite(score) else None for arm, score in scores.items()}
    return bandit.choose(scores)
