"""The state of a conversation: its messages, and what the last one asks."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, Required

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langgraph.graph.message import add_messages
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from kgqa.kg.terms import Entity, Literal, Term, is_id
from kgqa.prompts.rewrite_question import ConversationTurn
from kgqa.runtime.record import Record, Spend
from kgqa.runtime.record_text import READ_AS, path_end
from kgqa.runtime.state import misfit, reducer

PROOF_KEY = "kgqa"
"""Under which, in ``additional_kwargs``, a reply holds its answer and proof, and a question its topics."""


EXAMPLE = [{"role": "user", "content": "What is the capital of Mongolia?"}]

join_messages = reducer("messages", add_messages, [])


@with_config(ConfigDict(use_attribute_docstrings=True))
class ChatInput(TypedDict):
    """What goes in: messages, of which the last is answered."""

    messages: Annotated[Required[list[AnyMessage]], Field(examples=[EXAMPLE]), join_messages]
    """The conversation; on a thread, what is new of it."""


@with_config(ConfigDict(use_attribute_docstrings=True))
class ChatState(ChatInput):
    """The conversation, and how its last message is read and answered."""

    messages: Annotated[Required[list[AnyMessage]], join_messages]
    """The conversation so far; each reply has its proof beside its words."""
    question: NotRequired[str]
    """The last message, made whole; empty where it asks nothing."""
    topics: NotRequired[list[str]]
    """Ids of the entities it is about, where the conversation says which of some name are meant."""
    record: NotRequired[Record | None]
    """The record of its answer."""
    spend: NotRequired[Spend]
    """What it has cost to make it whole."""


class _Written(TypedDict, total=False):
    messages: list[Any]
    question: str
    topics: list[str]
    record: Record | None
    spend: Spend


_written: TypeAdapter[Any] = TypeAdapter(_Written)


def check_state(state: ChatState) -> None:
    """Raise `StateError` where a state was edited to what no node writes."""
    try:
        _written.validate_python(state)
    except ValidationError as error:
        raise misfit(error) from None


def last_said(messages: Sequence[BaseMessage]) -> tuple[str, list[str]]:
    """Return the text of the last message of a person, empty if there is none, and the topics it names."""
    said = next((each for each in reversed(messages) if isinstance(each, HumanMessage)), None)
    if said is None:
        return "", []
    beside = said.additional_kwargs.get(PROOF_KEY)
    given = beside.get("topics") if isinstance(beside, dict) else None
    topics = given if isinstance(given, list) else []
    return said.text.strip(), [topic for topic in topics if isinstance(topic, str)]


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
        return ConversationTurn(asked, (), tuple(map(Literal, _said_answers(reply.text))))
    topics = (_term(ref) for ref in _refs(proof.get("topics")))
    answers = tuple(map(_term, _refs(proof.get("answers"))))
    entities = tuple(topic for topic in topics if isinstance(topic, Entity))
    return ConversationTurn(_text(proof.get("question")), entities, answers)


def _said_answers(said: str) -> list[str]:
    """Return what the paths of a reply lead to, as far as its sentence says it; that where there are none."""
    lines = [line for line in said.split("\n") if line and not line.startswith(READ_AS)]
    ends = [end for line in lines[1:] if (end := path_end(line)) and end in lines[0]]
    return [*dict.fromkeys(ends)] or lines[:1]


def _refs(listed: Any) -> list[tuple[str, str]]:
    """Return id and name of what is listed, as far as these are texts and there is either."""
    found = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    texts = [(_text(each.get("id")), _text(each.get("name"))) for each in found]
    return [(id, name) for id, name in texts if id or name]


def _text(given: Any) -> str:
    return given if isinstance(given, str) else ""


def _term(ref: tuple[str, str]) -> Term:
    """Read an answer as a record has it; one without an id is from memory, and has a name alone."""
    id, name = ref
    return Entity(id, name or None) if is_id(id) else Literal(name or id)
