"""The state that travels from node to node, readable in Studio at every step.

The state is the record in the making, plus what a search has in hand. Between
two steps it is plain JSON (`plain`), so that checkpoints need no allowlist of
types and a state edited in Studio is as good as one a node wrote; nodes are given
typed terms (`typed`).
"""

import operator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, Required, cast

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Hop, Literal as Value, Term
from kgqa.session.record import Fact, Outcome, PathStep, Ref, Spend, StoppedBy, add_spend, no_spend

Decision = Literal["stop", "forward", "filter", "refine", "backtrack"]
"""The labels of conditional edges; every node decides on one of them."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A verified chain in working memory and those of its ends that hold so far.

    ``verdict`` is "stop" when the ends are the answer as far as this chain goes,
    "filter" when a condition is left to apply. ``value`` is a count or another
    value computed from the ends, where the question asks for one.
    """

    chain: Chain
    ends: tuple[Term, ...]
    verdict: Literal["stop", "filter"]
    value: Value | None = None


@with_config(ConfigDict(use_attribute_docstrings=True))
class Input(TypedDict):
    """What goes in: a question and, where known, the entities it is about."""

    question: Required[str]
    """The question, in natural language."""
    topics: NotRequired[list[str | Ref]]
    """Ids or names of topic entities; linked from the question where absent."""
    id: NotRequired[str]
    """What the record is filed under; made from the question where absent."""


class State(Input):
    """The record in the making and what a search over relation chains has in hand."""

    decision: NotRequired[Decision]
    """What the last node decided: the label of the edge that is taken next."""
    chain: NotRequired[Chain]
    """The relation chain at hand."""
    stack: NotRequired[list[Chain]]
    """The relation-chain stack: alternatives, the next one last."""
    hops: NotRequired[list[Hop]]
    """The relations that extend the chain at hand."""
    candidates: NotRequired[list[Candidate]]
    """The ends of the chain at hand, as far as they meet the branches in memory."""
    truncated: NotRequired[bool]
    """Whether the row limit cut the candidates."""
    memory: NotRequired[list[Branch]]
    """Working memory: the verified branches, one for each topic entity."""

    method: NotRequired[str]
    answers: NotRequired[list[Ref]]
    outcome: NotRequired[Outcome]
    stopped_by: NotRequired[StoppedBy | None]
    paths: NotRequired[list[list[PathStep]]]
    evidence: NotRequired[list[Fact]]
    trace: Annotated[NotRequired[list[dict[str, Any]]], operator.add]
    usage: Annotated[NotRequired[Spend], add_spend]
    config: NotRequired[dict[str, Any]]


class Update(TypedDict, total=False):
    """What a node may change; the step around it adds trace, usage and decision."""

    decision: Decision
    topics: list[Ref]
    id: str
    chain: Chain
    stack: list[Chain]
    hops: list[Hop]
    candidates: list[Candidate]
    truncated: bool
    memory: list[Branch]
    method: str
    answers: list[Ref]
    outcome: Outcome
    stopped_by: StoppedBy | None
    paths: list[list[PathStep]]
    evidence: list[Fact]
    trace: list[dict[str, Any]]
    usage: Spend
    config: dict[str, Any]


_STATE = TypeAdapter(State)
_UPDATE = TypeAdapter(Update)


def typed(state: State) -> State:
    """Give a plain state with its terms and chains as objects.

    Raises:
        ValidationError: if it was given or edited by hand and does not fit `State`.
    """
    spent = state.get("usage") or no_spend()  # LangGraph begins a reduced key with an empty value
    return _STATE.validate_python({**state, "usage": spent})


def plain(update: Update) -> Update:
    """Give an update with its terms and chains as plain JSON."""
    return cast(Update, _UPDATE.dump_python(update))


async def decision(state: State) -> Decision:
    """Route by what the last node decided; the one router of every method.

    Asynchronous only so that LangGraph calls it in place, not in a thread.
    """
    return state["decision"]
