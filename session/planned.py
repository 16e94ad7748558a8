"""What a search with a plan in steps has in hand, beside the state of any search (VoG §2, §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Chain, Entity, Path
from kgqa.priors.agreement import worded
from kgqa.prompts.facts import Offer
from kgqa.prompts.plans import PlanStep, SearchPlan
from kgqa.session.bandit import Arm, Bandit
from kgqa.session.state import Decision, State, Update, has_run


@dataclass(frozen=True, slots=True)
class Appraised:
    """A revised plan, the arm it is by, and its reward (VoG equation 4)."""

    plan: SearchPlan
    arm: Arm
    reward: float


@dataclass(frozen=True, slots=True)
class Stand:
    """Where the search stood: at which step, from what the step began, and which nodes it was crossing.

    ``ahead`` are the chains that led on from there.
    """

    at: int
    frontier: list[Path]
    crossing: list[Path]
    crossed: int
    ahead: list[Chain]

    @property
    def place(self) -> tuple[int, int]:
        """How far the search was: the step, and how often nodes without a name were crossed in it."""
        return self.at, self.crossed


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
    crossing: list[Path]
    """The paths to nodes without a name that the step at hand goes on from, if it does."""
    crossed: int
    """How often it did."""
    reached: list[Path]
    """What the step at hand has reached so far; ``truncated`` says that there is more."""
    feedback: list[list[Path]]
    """What each step has observed, that which was chosen to go on from first: O_1 to O_t."""
    past: list[Path]
    """What was observed before the last second look and since where it went back to; it proves answers."""
    stood: list[Stand]
    """Where the search has stood, the last one last: where a second look goes back to."""
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
        "crossing": [],
        "crossed": 0,
        "reached": [],
        "truncated": False,
        "asked": 0,
        "repeated": False,
        "arm": None,
        "revised": None,
        "best": None,
        "revisions": 0,
    }


def at_hand(state: Planned) -> PlanStep:
    """Give the step at hand."""
    return state["plan"].steps[state["at"] - 1]


def standing(state: Planned) -> list[Path]:
    """Give the paths that the step at hand goes on from."""
    return state["crossing"] or state["frontier"]


def has_plan(state: Planned) -> bool:
    """Tell whether this run has made a plan: on a thread the state may hold that of an earlier run."""
    return any(entry["node"] == "plan" and "answers" in entry for entry in state["trace"])


def observed(state: Planned) -> list[Path]:
    """Give all that was observed, the last step first, what was set aside by a second look last."""
    return [*(path for paths in reversed(state["feedback"]) for path in paths), *state.get("past", ())]


def in_turns(state: Planned) -> tuple[Path, ...]:
    """Give all that was observed, the steps by turns, so that a prompt that shows some shows some of each."""
    turns = zip_longest(*reversed(state["feedback"]))
    return tuple(path for turn in turns for path in turn if path)


def is_empty(state: Planned) -> bool:
    """Tell whether the step at hand has observed nothing."""
    return len(state["feedback"]) < state["at"]


def chains_of(offers: Sequence[Offer], frontier: Sequence[Path]) -> list[Chain]:
    """Give the chains that relations make of those of a frontier, each once."""
    return list(dict.fromkeys(frontier[at].chain.then(offer.hop) for offer in offers for at in offer.heads))


def stood_before(state: Planned, stand: Stand) -> list[Stand]:
    """Give where the search has stood on its way to another place."""
    return [each for each in state["stood"] if each.place < stand.place]


def most_asked(state: Planned, width: int) -> int:
    """Give how often a step may ask what to retrieve: 2k (VoG, Table 13), less the verdict to come."""
    return 2 * width - state["plan"].whether


def may_revise(state: Planned, context: Any) -> bool:
    """Tell whether the step and the question have revisions left."""
    total = sum(state["bandit"].counts.values())
    return bool(state["revisions"] < context.revisions and total < context.revisions_in_all)


def without_more(state: Planned, context: Any) -> Decision:
    """Decide what follows where nothing leads on.

    What the step has reached before counts. An empty observation is answered by one revision,
    if there may be one, and by passing the step over if that does not help; so is a step of
    which the graph did not answer all, and one of a second look.
    """
    if state["reached"]:
        return "filter"
    failed = any("failure" in entry for entry in state["trace"] if entry.get("step") == state["at"])
    passed = failed or has_run(state, "look_again") or state["revisions"] or not may_revise(state, context)
    return "backtrack" if passed else "refine"


def names_known(state: Planned) -> dict[str, str]:
    """Give the id of each named entity that was met, by its name as answers are compared.

    Of several by one name it is the first.
    """
    nodes = [node for path in observed(state) for node in path.nodes]
    known = [node for node in [*state["topic_entities"], *nodes] if isinstance(node, Entity) and node.name]
    return {worded(node.name or ""): node.id for node in reversed(known)}
