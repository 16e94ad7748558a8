"""The state of compose: what was retrieved, the query that was composed of it, what is missing."""

from collections.abc import Sequence

from pydantic import ConfigDict, with_config

from kgqa.kg.terms import Entity, Hop, Term
from kgqa.nodes.draft.state import DraftState
from kgqa.prompts.attributes import Mention
from kgqa.prompts.compose_query import OfferedAttribute, OfferedChain
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.state import Decision, State, Update, VerifiedChain


class ComposeUpdate(Update, total=False):
    """What a node may change."""

    offered: list[OfferedChain]
    """The chains that a query may be composed of, the likeliest of each topic first."""
    attributes: list[OfferedAttribute]
    """What their nodes have, the most similar to the question first."""
    types: list[tuple[Term, Term]]
    """Some ends of the chains and their types."""
    mentions: list[Mention]
    """What the question names beside its topics, and where it was found."""
    naming: Hop | None
    """What leads to the name of a node."""
    composed: list[VerifiedChain]
    """The query as it was composed, before the graph is asked: the branch that has the answer last."""
    missing: str
    """What is looked for: what the last query could not be composed without."""
    empty: str
    """The last query, where it gives nothing."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class ComposeState(DraftState, ComposeUpdate):
    """The record in the making, the chains that were retrieved, and the query composed of them or drafted."""


def leading_topics(state: State) -> list[Entity]:
    """Return the topics but for those that are known to lead nowhere, such as classes."""
    nowhere = {
        lead.chain.topic for lead in state["leads"] if not (lead.chain.hops or lead.hops or lead.truncated)
    }
    return [topic for topic in state["topic_entities"] if topic not in nowhere]


def with_alternative_entities(state: State, topics: Sequence[Entity]) -> dict[Entity, list[Entity]]:
    """Return each topic with what else its name may stand for, the likeliest first."""
    return {topic: state["alternative_entities"].get(topic.id, []) for topic in topics}


def has_drafted(state: State) -> bool:
    """Return whether a query was drafted, which has failed where a node of compose follows."""
    return state.get("described") is not None


def otherwise(state: State, runtime: NodeRuntime) -> Decision:
    """Return what follows where no query gives an answer: exploring from the topics, unless that is off.

    Nothing is explored where chains do not say the question.
    """
    explores = runtime.context.explore and not has_drafted(state)
    return "backtrack" if explores and leading_topics(state) else "stop"
