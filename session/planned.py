"""What a search with a plan in steps has in hand, beside the state of any search (VoG §2, §3)."""

from dataclasses import dataclass
from typing import Literal

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Entity, Path
from kgqa.priors.agreement import worded
from kgqa.prompts.facts import Offer
from kgqa.prompts.plans import PlanStep, SearchPlan
from kgqa.session.bandit import Arm, Bandit
from kgqa.session.state import Decision, State, Update


@dataclass(frozen=True, slots=True)
class Appraised:
    """A revised plan, the arm it is by, and its reward (VoG equation 4)."""

    plan: SearchPlan
    arm: Arm
    reward: float


class PlannedUpdate(Update, total=False):
    """What a node may change."""

    plan: SearchPlan
    """The plan that is carried out."""
    at: int
    """The step at hand, from 1: t."""
    frontier: list[Path]
    """Where the search stands: E_(t-1) until the step at hand has been observed, E_t from then on."""
    offers: list[Offer]
    """The relations that lead on from the frontier."""
    reached: list[Path]
    """What the step at hand has reached so far."""
    crossed: int
    """How often the step at hand went on from nodes without a name."""
    feedback: list[list[Path]]
    """What each step has observed, that which was chosen to go on from first: O_1 to O_t."""
    asked: int
    """How often the model was asked what to retrieve in the step at hand."""
    skipped: int
    """How many steps were passed over without an observation."""
    pool: list[SearchPlan]
    """Every plan made for the question, the first included: P."""
    bandit: Bandit
    """What each arm was tried for and earned."""
    repeated: bool
    """Whether the step at hand has come back to an entity met before: E_rep (equation 10)."""
    arm: Arm | None
    """The arm of the revision at hand."""
    revised: SearchPlan | None
    """The plan that a revision has given, before its reward."""
    best: Appraised | None
    """The best revision of the step at hand."""
    revisions: int
    """How many revisions the step at hand has had."""
    verdict: Literal["yes", "no", "unknown"] | None
    """The answer to a question that asks for yes or no."""
    favour: list[Path]
    """The evidence for yes."""
    against: list[Path]
    """The evidence for no."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class Planned(State, PlannedUpdate):
    """The record in the making, the plan, what its steps have observed, and the bandit."""


def step_begun() -> PlannedUpdate:
    """Give what a step begins with."""
    return {
        "offers": [],
        "reached": [],
        "crossed": 0,
        "asked": 0,
        "repeated": False,
        "arm": None,
        "revised": None,
        "best": None,
        "revisions": 0,
    }


def at_hand(state: Planned) -> PlanStep:
    """Give the step at hand; where the plan has fewer, one that searches for what is asked."""
    steps, place = state["plan"].steps, state["at"] - 1
    return steps[place] if place < len(steps) else PlanStep("", state["question"])


def observed(state: Planned) -> list[Path]:
    """Give all that was observed, the last step first."""
    return [path for paths in reversed(state["feedback"]) for path in paths]


def is_empty(state: Planned) -> bool:
    """Tell whether the step at hand has observed nothing."""
    return len(state["feedback"]) < state["at"]


def without_more(state: Planned) -> Decision:
    """Decide what follows where nothing leads on.

    What the step has reached before counts; an empty observation is answered by one revision,
    and by passing the step over if that does not help.
    """
    if state["reached"]:
        return "filter"
    return "backtrack" if state["revisions"] else "refine"


def names_known(state: Planned) -> dict[str, str]:
    """Give the id of each named entity that was met, by its name as answers are compared.

    Of several by one name it is the first.
    """
    nodes = [node for path in observed(state) for node in path.nodes]
    known = [node for node in [*state["topic_entities"], *nodes] if isinstance(node, Entity) and node.name]
    return {worded(node.name or ""): node.id for node in reversed(known)}
