"""The state of CoG: beside that of a search, a blueprint and the pruned chains (CoG §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Chain, Entity
from kgqa.nodes.frontier.state import FrontierUpdate, open_subgoals
from kgqa.priors.slots import Blueprint, Slot
from kgqa.prompts.chain import Extension
from kgqa.prompts.diagnose import PastDecision, Signal
from kgqa.prompts.progress import Progress
from kgqa.runtime.context import Context
from kgqa.runtime.state import State


@dataclass(frozen=True, slots=True)
class Finding:
    """What the ends of a chain were found to establish; an empty text says: nothing."""

    chain: Chain
    text: str
    reached: tuple[str, ...] = ()  # some names of the ends
    total: int = 0  # how many have one


@dataclass(frozen=True, slots=True)
class RankedRelation:
    """An offer and the scores of its hops (CoG equations 5, 6); None where not scored."""

    offer: Extension
    score: float | None = None
    step: float | None = None  # its similarity to the current slot
    relevance: float | None = None  # the larger of that and its similarity to any slot
    turned: bool = False  # whether it goes against the direction of the current slot

    @property
    def chain(self) -> Chain:
        """The chain that it leads to."""
        return self.offer.chain


@dataclass(frozen=True, slots=True)
class PrunedChain:
    """A branch that was set aside and not tried."""

    chain: Chain  # leads to it; where entities were set aside, it is held to them at its end
    waiting: bool = False  # whether it was chosen, but another was taken up first
    relevance: float | None = None
    hops: int = 1  # of them, how many were decided on at once

    @property
    def is_first(self) -> bool:
        """Whether it is recalled before others: it waits, or entities were set aside and not a relation."""
        held = self.chain.constraints
        return self.waiting or (bool(held) and held[-1].depth == self.chain.depth)

    @property
    def before(self) -> Chain:
        """The chain from which the decision was taken."""
        return self.chain.upto(self.chain.depth - self.hops)


class CoGUpdate(FrontierUpdate, total=False):
    """What a node may change."""

    blueprint: Blueprint | None
    """The relations that the answer is expected behind; None without, or when it was dropped."""
    ranking: list[RankedRelation]
    """How the chains in hand can go on, best first."""
    findings: list[Finding]
    """What was reached and noted on the way, for each chain that was checked."""
    pruned: list[PrunedChain]
    """The branches that were set aside, best first for each decision."""
    fits: bool
    """Whether the blueprint was copied, or adapted by the model, and is not merely the nearest."""
    signal: Signal
    """Why the last check has failed; read by the diagnosis that follows it alone."""
    diagnoses: int
    """How often the model was asked for a diagnosis."""
    checks_without_gain: int
    """How many checks of a frontier, one after the other, have found nothing new."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class CoGState(State, CoGUpdate):
    """The record in the making, the chains in hand, the plan, the blueprint, the pruned branches."""


def standing_chains(state: CoGState) -> list[Chain]:
    """Return the chains that stand: those in working memory, then the current one."""
    chains = [branch.chain for branch in state["memory"]]
    return chains if state["chain"] in chains else [*chains, state["chain"]]


def standing_findings(state: CoGState) -> list[Finding]:
    """Return what was verified on the chains that stand, in order."""
    begun = {chain.upto(depth) for chain in standing_chains(state) for depth in range(1, chain.depth + 1)}
    return [finding for finding in state["findings"] if finding.chain in begun]


def plan_progress(state: CoGState) -> Progress:
    """Return the plan and how far it is met: a subgoal for each finding."""
    findings = tuple(finding.text for finding in standing_findings(state) if finding.text)
    subgoals = tuple(state["subgoals"])
    return Progress(subgoals, min(len(findings), max(len(subgoals) - 1, 0)), findings)


def step_subgoals(state: CoGState) -> list[str]:
    """Return the subgoal of each step of the current chain, and of the next; the plan goes on by findings."""
    chain, subgoals = state["chain"], state["subgoals"] or [state["question"]]
    found = {finding.chain for finding in standing_findings(state) if finding.text}
    earlier = sum(each.topic != chain.topic for each in found)
    met = [sum(chain.upto(depth) in found for depth in range(1, step + 1)) for step in range(chain.depth + 1)]
    return [subgoals[min(earlier + here, len(subgoals) - 1)] for here in met]


def planned_subgoals(state: CoGState) -> list[str]:
    """Return the subgoal of each step of the current chain, and of the next: one a step (o_t of CoG)."""
    subgoals = state["subgoals"] or [state["question"]]
    return [subgoals[min(step, len(subgoals) - 1)] for step in range(state["chain"].depth + 1)]


def known_progress(state: CoGState) -> Progress:
    """Return the plan and what the memory of a frontier says of it; the first open subgoal is the current."""
    subgoals = tuple(state["subgoals"])
    at = next(iter(open_subgoals(state)), len(subgoals) - 1)
    return Progress(subgoals, at, tuple(state["known"]), verified=False)


def shown_progress(state: CoGState, context: Context) -> Progress:
    """Return the plan and what is known or verified of it, as the search keeps that."""
    frontier = getattr(context, "exploration", "chain") == "frontier"
    return known_progress(state) if frontier else plan_progress(state)


def topic_slots(state: CoGState) -> tuple[Slot, ...]:
    """Return the slots for the topic of the current chain; none without a blueprint."""
    blueprint = state["blueprint"]
    return blueprint.branch(topic_index(state, state["chain"].topic)) if blueprint else ()


def fitting_blueprint(state: CoGState, context: Context) -> Blueprint | None:
    """Return the blueprint, if prompts are to show it: one that is merely the nearest may be of anything.

    It is shown where it was copied, or adapted by the model, or where that was to adapt it first.
    """
    return state["blueprint"] if getattr(context, "plans_first", False) or state.get("fits") else None


def passed_slots(chain: Chain, slots: Sequence[Slot]) -> int:
    """Count the slots that lie behind a chain: up to the last one that a hop has taken, in order.

    A hop takes the next slot of its relation, one of its direction before any other.
    """
    behind = 0
    for hop in chain.hops:
        places = enumerate(slots[behind:], behind + 1)
        alike = [(slot.forward is not hop.forward, at) for at, slot in places if slot.relation == hop.words]
        behind = min(alike)[1] if alike else behind
    return behind


def standing_decisions(state: CoGState, *, undecided: bool) -> list[PastDecision]:
    """Return the decisions that led to the chains that stand (CoG §3.3), and one more if ``undecided``."""
    findings = {finding.chain: finding for finding in state["findings"]}
    decisions = []
    for whole in standing_chains(state):
        for before, chain in pairwise(decided_chains(whole, state)):
            found = findings.get(chain, Finding(chain, ""))
            decisions.append(PastDecision(before, found.chain, found.reached, found.total, found.text))
    return [*decisions, PastDecision(state["chain"], None, (), 0, "")] if undecided else decisions


def decided_chains(whole: Chain, state: CoGState) -> list[Chain]:
    """Return a chain's topic and what each decision has made of it; some were on two hops at once."""
    taken = {(chain.topic, chain.hops) for chain in state["tried"]}
    between = (whole.upto(depth) for depth in range(1, whole.depth))
    return list(dict.fromkeys([whole.upto(0), *(c for c in between if (c.topic, c.hops) in taken), whole]))


def last_hops(chain: Chain, state: CoGState) -> int:
    """Return how many hops the last decision on a chain has added."""
    return chain.depth - decided_chains(chain, state)[-2].depth


def topic_index(state: CoGState, topic: Entity) -> int:
    """Return the number of a topic entity, from 0, in the order they are taken up."""
    return state["topic_entities"].index(topic)
