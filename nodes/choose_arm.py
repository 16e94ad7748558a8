"""Choose an arm: in the light of what shall the plan be revised? (VoG §3.4.1, equation 2)."""

import math

from kgqa.priors.agreement import answer_key
from kgqa.priors.rewards import answer_entropy
from kgqa.session.bandit import Arm
from kgqa.session.planned import Planned, PlannedUpdate, is_empty, names_known
from kgqa.session.step import Run, step


@step("choose_arm")
async def choose_arm(state: Planned, run: Run) -> PlannedUpdate:
    """Choose by UCB, or the fixed strategy; an empty observation is answered by looking ahead."""
    arm = _chosen(state, run)
    run.note |= {"step": state["at"], "arm": arm}
    return {"arm": arm, "decision": "forward" if arm == "lookahead" else "refine"}


def _chosen(state: Planned, run: Run) -> Arm:
    context, bandit = run.context, state["bandit"]
    ids = names_known(state)
    entropy = answer_entropy([answer_key(plan.answers, ids) for plan in state["pool"]])
    run.note["entropy"] = entropy
    if context.strategy != "adaptive":
        fixed: Arm = context.strategy
        return fixed
    if is_empty(state):
        return "lookahead"
    scores = bandit.scores(
        entropy=entropy,
        at=state["at"],
        expected_depth=context.expected_depth,
        repeated=state["repeated"],
        kg_priors=context.kg_priors,
        diversity=context.diversity,
    )
    run.note["scores"] = {arm: score if math.isfinite(score) else None for arm, score in scores.items()}
    return bandit.choose(scores)
