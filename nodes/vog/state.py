"""The state of VoG: beside that of any search a plan in steps and what they observed (VoG §2, §3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Chain, Entity, Path
from kgqa.priors.answer_agreement import answer_key, normalise_answer
from kgqa.priors.rewards import AnswerKey
from kgqa.prompts.facts import RelationCandidate
from kgqa.prompts.plans import PlanStep, SearchPlan
from kgqa.prompts.revise_plan import Arm
from kgqa.runtime.state import Decision, State, Update, node_has_run

ARMS: tuple[Arm, ...] = ("local", "lookahead", "global")
"""The arms of the bandit; the first of equals is chosen. A fixed strategy may be ``mixed`` as well."""

DIVERSITY_WINDOW = 3
"""How many selections the diversity penalty looks back: k of equation 11, which the paper does not give."""

MAX_FRONTIER_PATHS = 500  # paths that a search goes on from at most


@dataclass(frozen=True, slots=True)
class Bandit:
    """How often each arm was chosen (N_c), what it has earned (R_c), and the arms chosen last."""

    counts: dict[Arm, int]
    rewards: dict[Arm, float]
    recent: tuple[Arm, ...] = ()

    @classmethod
    def blank(cls) -> "Bandit":
        """Return the bandit of a question that had no revision yet."""
        return cls(dict.fromkeys(ARMS, 0), dict.fromkeys(ARMS, 0.0))

    def after(self, arm: Arm, reward: float) -> "Bandit":
        """Return the bandit after a revision by ``arm`` that earned ``reward``."""
        return Bandit(
            {**self.counts, arm: self.counts.get(arm, 0) + 1},
            {**self.rewards, arm: self.rewards.get(arm, 0.0) + reward},
            (*self.recent, arm)[-DIVERSITY_WINDOW:],
        )


@dataclass(frozen=True, slots=True)
class RewardedPlan:
    """A revised plan, the arm it is by, and its reward (VoG equation 4)."""

    plan: SearchPlan
    arm: Arm
    reward: float


@dataclass(frozen=True, slots=True)
class SearchCheckpoint:
    """Where the search stood: at which step, from what the step began, and which nodes it was crossing."""

    step_index: int
    frontier: list[Path]
    crossing: list[Path]
    crossed: int
    ahead: list[Chain]  # what led on from there


class VoGUpdate(Update, total=False):
    """What a node may change."""

    plan: SearchPlan
    """The plan that is carried out."""
    step_index: int
    """The current step, from 1: t."""
    frontier: list[Path]
    """Where the search stands: E_(t-1) until the current step has been observed, E_t from then on."""
    offers: list[RelationCandidate]
    """The relations that lead on from the frontier."""
    crossing: list[Path]
    """The paths to nodes without a name that the current step goes on from, if it does."""
    crossed: int
    """How often it did."""
    reached: list[Path]
    """What the current step has reached so far."""
    feedback: list[list[Path]]
    """What each step has observed, that which was chosen to go on from first: O_1 to O_t."""
    set_aside: list[Path]
    """What was observed before the last second look and since where it went back to; it proves answers."""
    checkpoints: list[SearchCheckpoint]
    """Where the search has stood, the last one last: where a second look goes back to."""
    asked: int
    """How often the model was asked what to retrieve in the current step."""
    left_out: list[Path]
    """What was reached and not chosen to go on from, of any step."""
    concluded: list[Chain]
    """The chains whose ends were shown when the model was asked at the end who the answer is."""
    skipped: int
    """How many steps were passed over without an observation."""
    pool: list[SearchPlan]
    """Every plan made for the question, the first included."""
    entropy: float
    """How much the answers of the plans differ, when the arm was chosen: H_t."""
    bandit: Bandit
    """What each arm was tried for and earned."""
    repeated: bool
    """Whether the current step has come back to an entity met before: E_rep (equation 10)."""
    arm: Arm | None
    """The arm of the current revision."""
    revised: SearchPlan | None
    """The plan that a revision has given, before its reward."""
    best: RewardedPlan | None
    """The best revision of the current step."""
    revisions: int
    """How many revisions the current step has had."""
    tried_arms: list[Arm]
    """The arms of those since something was observed last."""
    verdict: Literal["yes", "no", "unknown"] | None
    """The answer to a question that asks for yes or no."""
    supporting: list[Path]
    """The evidence for yes."""
    against: list[Path]
    """The evidence for no."""
    verdict_reason: str
    """Why the evidence says so, in the model's words."""
    taken_arm: Arm | None
    """The arm of the last revision that was taken up."""
    cut: bool
    """Whether any step has led to more than was kept of it."""
    step_failed: bool
    """Whether a call of the model or the graph has failed in the retrieval of the current step."""
    unanswered: str | None
    """Why the end of the plan has found no answer, while it is revised for that."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class VoGState(State, VoGUpdate):
    """The record in the making, the plan, what its steps have observed, and the bandit."""


def new_step() -> VoGUpdate:
    """Return what a step begins with."""
    return {
        "offers": [],
        "crossing": [],
        "crossed": 0,
        "reached": [],
        "step_failed": False,
        "asked": 0,
        "repeated": False,
        "arm": None,
        "revised": None,
        "best": None,
        "revisions": 0,
        "tried_arms": [],
    }


def current_step(state: VoGState) -> PlanStep:
    """Return the current step of the plan."""
    return state["plan"].steps[state["step_index"] - 1]


def open_paths(state: VoGState) -> list[Path]:
    """Return the paths that the current step goes on from."""
    return state["crossing"] or state["frontier"]


def limit_paths(paths: Iterable[Path]) -> list[Path]:
    """Keep the first path from each topic to each end, at most `MAX_FRONTIER_PATHS` of them."""
    first = {(path.topic, path.end): path for path in reversed(list(paths))}
    return list(first.values())[::-1][:MAX_FRONTIER_PATHS]


def observations(state: VoGState) -> list[Path]:
    """Return all that was observed, the last step first, what was set aside by a second look last."""
    return [*(path for paths in reversed(state["feedback"]) for path in paths), *state.get("set_aside", ())]


def interleaved_observations(state: VoGState) -> tuple[Path, ...]:
    """Return all that was observed, the steps by turns: a prompt that shows some shows some of each."""
    turns = zip_longest(*reversed(state["feedback"]))
    return tuple(path for turn in turns for path in turn if path)


def candidate_answers(state: VoGState, plans: Sequence[SearchPlan], context: Any) -> list[AnswerKey]:
    """Return what the candidate plans answer: those of P, from which Algorithm 2 leaves out the first."""
    ids = entity_ids(state)
    candidates = plans[1:] if context.candidate_plans == "revised" else plans
    return [answer_key(plan.answers, ids) for plan in candidates]


def is_cut(state: VoGState) -> bool:
    """Return whether any step may have led to more."""
    return state["cut"] or len(state["frontier"]) >= MAX_FRONTIER_PATHS


def observed_nothing(state: VoGState) -> bool:
    """Return whether the current step has observed nothing."""
    return len(state["feedback"]) < state["step_index"]


def extended_chains(offers: Sequence[RelationCandidate], frontier: Sequence[Path]) -> list[Chain]:
    """Return the chains that relations make of those of a frontier, each once."""
    return list(dict.fromkeys(offer.extend(frontier[at]) for offer in offers for at in offer.heads))


def earlier_checkpoints(state: VoGState, checkpoint: SearchCheckpoint) -> list[SearchCheckpoint]:
    """Return the checkpoints that the search passed before another."""
    place = (checkpoint.step_index, checkpoint.crossed)
    return [each for each in state["checkpoints"] if (each.step_index, each.crossed) < place]


def max_selections(state: VoGState, context: Any) -> int:
    """Return how often a step may ask what to retrieve: 2k (VoG, Table 13), less a verdict to come."""
    return int(2 * context.width - (state["plan"].whether and context.judge))


def concludes(state: VoGState, context: Any) -> bool:
    """Return whether the plan ends with the current step, and the model is asked then who the answer is."""
    return state["step_index"] >= len(state["plan"].steps) and asks_at_end(state, context)


def asks_at_end(state: VoGState, context: Any) -> bool:
    """Return whether the model is asked at the end of the plan who the answer is."""
    return bool(context.conclude and not (state["plan"].whether and context.judge))


def open_arms(state: VoGState, context: Any) -> list[Arm]:
    """Return the arms that may revise the current step, as often as they were tried or only once."""
    arms: tuple[Arm, ...] = ARMS if context.strategy == "adaptive" else (context.strategy,)
    return [arm for arm in arms if context.repeat_revisions or arm not in state["tried_arms"]]


def may_revise(state: VoGState, context: Any) -> bool:
    """Return whether the step and the question have revisions left."""
    total = sum(state["bandit"].counts.values())
    left = state["revisions"] < context.revisions and total < context.max_revisions
    return bool(left and open_arms(state, context))


def next_decision(
    offers: Sequence[RelationCandidate], state: VoGState, context: Any, *, dead_end: bool = False
) -> Decision:
    """Decide what follows a part of a retrieval.

    Where nothing leads on, what the step has reached before counts. An empty observation is answered
    by one revision, if there may be one, and by passing the step over if that does not help; so is a
    step of which the graph did not answer all, and one of a second look. Where not a single relation leads
    on (``dead_end``), no revision helps; where the end of the plan asks who the answer is, and steps before
    have found anything, it asks at once.
    """
    if offers:
        return "forward"
    if state["reached"]:
        return "filter"
    again = node_has_run(state, "look_again") or (dead_end and not context.repeat_revisions)
    again |= concludes(state, context) and any(state["feedback"])
    failed = state["step_failed"] or again or state["revisions"] or not may_revise(state, context)
    return "backtrack" if failed else "refine"


def entity_ids(state: VoGState) -> dict[str, str]:
    """Return the id of each named entity that was met, the first by its name as answers are compared."""
    nodes = [*state["topic_entities"], *(each for path in observations(state) for each in path.nodes)]
    known = [each for each in nodes if isinstance(each, Entity) and each.name]
    return {normalise_answer(each.name or ""): each.id for each in reversed(known)}
