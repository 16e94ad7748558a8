"""What a verdict makes of a chain's candidates; for the nodes that judge chains."""

from collections.abc import Sequence
from typing import Protocol

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain
from kgqa.prompts.candidates import SHOWN, Take, aggregate, taken
from kgqa.session.state import Branch, Decision, State, Update, next_topic


class Accepting(Protocol):
    """A reply that accepts candidates: its decision is ``stop`` or ``filter``."""

    @property
    def decision(self) -> str:
        """Whether they are the answer, or a condition is left."""

    @property
    def take(self) -> Take:
        """What of them is the answer."""

    @property
    def chosen(self) -> Sequence[int]:
        """Their numbers, with take "some"; with ``filter``, of those that meet the condition."""


def accept(state: State, verdict: Accepting, named: list[Candidate]) -> Update:
    """Put the chain into working memory; other topics that wait refine it.

    Where all candidates were shown and those that meet the condition are named with the verdict,
    nothing is left to filter.
    """
    chain, cut = state["chain"], state["truncated"]
    if verdict.decision == "filter" and verdict.chosen and len(named) <= SHOWN and not cut:
        branch = Branch(chain, taken("some", verdict.chosen, named), "stop")
    else:
        branch = branch_of(chain, verdict, named, truncated=cut)
    decision: Decision = "refine" if next_topic(state) else branch.verdict
    return {"memory": [*state["memory"], branch], "decision": decision}


def branch_of(chain: Chain, verdict: Accepting, named: Sequence[Candidate], *, truncated: bool) -> Branch:
    """Give what a verdict makes of a chain and those of its ends that have a name."""
    if verdict.decision == "filter":
        fresh = tuple(c.term for c in named if not c.returning)
        return Branch(chain, fresh or tuple(c.term for c in named), "filter", truncated=truncated)
    ends = taken(verdict.take, verdict.chosen, named)
    return Branch(chain, ends, "stop", aggregate(verdict.take, ends), truncated and verdict.take != "some")
