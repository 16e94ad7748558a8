"""The state of a conversation: its messages, and what the last one asks."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, Required

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph.message import add_messages
from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from kgqa.kg.terms import Entity, Literal, Term, is_id
from kgqa.prompts.rewrite_question import ConversationTurn
from kgqa.runtime.record import Record, Spend

PROOF_KEY = "kgqa"
"""Under which a message holds its answer and proof, among its ``additional_kwargs``."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class ChatInput(TypedDict):
    """What goes in: what is said, the last message first of all."""

    messages: Annotated[Required[list[AnyMessage]], add_messages]
    """The conversation; on a thread, what is new of it."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class ChatState(ChatInput):
    """The conversation, and how its last message is read and answered."""

    messages: Annotated[Required[list[AnyMessage]], add_messages]
    """The conversation so far; each reply has its proof beside its words."""
    question: NotRequired[str]
    """The last message, made whole; empty where it asks nothing."""
    topics: NotRequired[list[str]]
    """Ids of the entities it is about, where the conversation says which of some name are meant."""
    record: NotRequired[Record | None]
    """The record of its answer."""
    spend: NotRequired[Spend]
    """What it has cost to make it whole."""


def last_said(messages: Sequence[AnyMessage]) -> str:
    """Return the text of the last message of a person; empty where nobody has said anything."""
    said = next((each for each in reversed(messages) if isinstance(each, HumanMessage)), None)
    return said.text.strip() if said else ""


def past_turns(messages: Sequence[AnyMessage]) -> list[ConversationTurn]:
    """Return what was asked and answered before the last message, as the replies tell it.

    Where a reply has lost its proof, as clients may leave it out, the words of question and reply are left.
    """
    turns: list[ConversationTurn] = []
    asked = ""
    for message in messages:
        if isinstance(message, HumanMessage):
            asked = message.text
        elif isinstance(message, AIMessage) and asked:
            turns.append(_turn(asked, message))
            asked = ""
    return [turn for turn in turns if turn.question]


def _turn(asked: str, reply: AIMessage) -> ConversationTurn:
    proof = reply.additional_kwargs.get(PROOF_KEY)
    if not isinstance(proof, dict):
        return ConversationTurn(asked, (), (Literal(reply.text.partition("\n")[0]),) if reply.text else ())
    topics = (_term(ref) for ref in _refs(proof.get("topics")))
    answers = tuple(map(_term, _refs(proof.get("answers"))))
    entities = tuple(topic for topic in topics if isinstance(topic, Entity))
    return ConversationTurn(str(proof.get("question") or ""), entities, answers)


def _refs(listed: Any) -> list[dict[str, Any]]:
    return [each for each in listed or () if isinstance(each, dict) and (each.get("id") or each.get("name"))]


def _term(ref: dict[str, Any]) -> Term:
    """Read an answer as a record has it; one without an id is from memory, and has a name alone."""
    id, name = ref.get("id"), ref.get("name")
    return Entity(id, name) if id and is_id(id) else Literal(str(name or id))
