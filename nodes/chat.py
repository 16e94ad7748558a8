"""State and nodes of a conversation: a question is rewritten to stand alone, asked, and its answer said."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, NotRequired, Required

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.graph.message import add_messages
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from kgqa.kg.errors import KGError
from kgqa.kg.pages import Mention
from kgqa.kg.terms import Entity, Literal, Term, is_id
from kgqa.models.errors import ModelError
from kgqa.priors.errors import EncoderError, PriorError
from kgqa.prompts.base import MAX_QUESTION_CHARS
from kgqa.prompts.rewrite_question import MAX_TURNS_SHOWN, ConversationTurn, RewriteQuestion
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import Record, Spend, summarise_record, zero_spend
from kgqa.runtime.record_text import say_record
from kgqa.runtime.server_limits import active_limits
from kgqa.runtime.state import misfit, reducer

PROOF_KEY = "kgqa"
"""Under which, in ``additional_kwargs``, a reply holds its answer and proof, and a question its topics."""


join_messages = reducer("messages", add_messages, [])


@with_config(ConfigDict(use_attribute_docstrings=True))
class ChatInput(TypedDict):
    """What goes in: messages, of which the last is answered."""

    messages: Annotated[Required[list[AnyMessage]], join_messages]
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
    """Raise `StateError` where a hand has edited into a state what no node writes."""
    try:
        _written.validate_python(state)
    except ValidationError as error:
        raise misfit(error) from None


def last_said(messages: Sequence[AnyMessage]) -> tuple[str, list[str]]:
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
        return ConversationTurn(asked, (), (Literal(reply.text.partition("\n")[0]),) if reply.text else ())
    topics = (_term(ref) for ref in _refs(proof.get("topics")))
    answers = tuple(map(_term, _refs(proof.get("answers"))))
    entities = tuple(topic for topic in topics if isinstance(topic, Entity))
    return ConversationTurn(_text(proof.get("question")), entities, answers)


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


GREETING = re.compile(
    r"(?:hi|hello|hey|howdy|good (?:morning|day|afternoon|evening)|thanks?(?: you)?(?: very much| a lot)?"
    r"|thx|bye|goodbye|cheers|help|ok(?:ay)?|great|cool|nice|perfect)"
    r"(?: there| again| everybody| all)?[\s!.,?]*",
    re.IGNORECASE,
)
"""What asks nothing."""

FAILURES = (KGError, ModelError, EncoderError, PriorError, BudgetExceeded)
"""What leaves a message as it was said; who answers it meets the same, and tells of it."""


async def rewrite(state: ChatState, context: Any) -> dict[str, Any]:
    """Return the question that the last message is, and its topics where the conversation knows them.

    A first message, one with topics, or one that the model cannot make whole, stays as it is; a greeting
    asks nothing.
    """
    said, topics = last_said(state["messages"])
    turns = past_turns(state["messages"])
    active_limits().check_input({"question": said, "topics": topics})
    node = NodeRuntime(context, zero_spend())
    question = "" if GREETING.fullmatch(said) else said
    if question and turns and context.rewrite and not topics:
        try:
            turns = [await _recall(turn, node) for turn in turns[-MAX_TURNS_SHOWN:]]
            question = await _make_whole(said, turns, node)
            topics = await _known_topics(question, turns, node)
        except FAILURES as error:
            node.record_failure(error)
    return {"question": question, "topics": topics, "record": None, "spend": node.total_spend()}


async def _recall(turn: ConversationTurn, node: NodeRuntime) -> ConversationTurn:
    """Return a turn with the entities that its words name, where a client has kept the words alone.

    A class is nothing that a pronoun stands for.
    """
    words = [answer.value for answer in turn.answers if isinstance(answer, Literal)]
    if turn.topics:
        mentions: list[Mention] = await node.call_tool("link_entities", question=turn.question)
        classes = {mention.matches[0].entity for mention in mentions if mention.is_class}
        return replace(turn, topics=tuple(topic for topic in turn.topics if topic not in classes))
    if len(words) < len(turn.answers):
        return turn
    topics, *answers = [
        [each.matches[0].entity for each in await _named(text, node)] for text in (turn.question, *words)
    ]
    found = [entity for each in answers for entity in each]
    return replace(turn, topics=tuple(topics), answers=tuple(found) or turn.answers)


async def _make_whole(said: str, turns: list[ConversationTurn], node: NodeRuntime) -> str:
    reply = await node.ask(RewriteQuestion(said[:MAX_QUESTION_CHARS], tuple(turns)))
    return reply.question.strip() if reply else said


async def _known_topics(question: str, turns: list[ConversationTurn], node: NodeRuntime) -> list[str]:
    """Return the topics of a question where a name in it is that of something spoken of; else none.

    Of entities of one name, it is the one spoken of.
    """
    spoken = {term.id for turn in turns for term in (*turn.topics, *turn.answers) if isinstance(term, Entity)}
    mentions = await _named(question, node)
    meant = [next((m.entity.id for m in each.matches if m.entity.id in spoken), None) for each in mentions]
    ambiguous = any(id and len(each.matches) > 1 for id, each in zip(meant, mentions, strict=True))
    if not ambiguous:
        return []
    return [id or each.matches[0].entity.id for id, each in zip(meant, mentions, strict=True)]


async def _named(text: str, node: NodeRuntime) -> list[Mention]:
    """Return the mentions of entities and values in a text, without those of classes."""
    mentions: list[Mention] = await node.call_tool("link_entities", question=text)
    return [mention for mention in mentions if not mention.is_class]


def asks(state: ChatState) -> str:
    """Return where a conversation goes on: to an answer, or to a word of help."""
    return "ask" if state.get("question") else "say"


HELP = (
    "Ask me about what is in the knowledge graph, by name: I answer with the path that proves it. "
    'Then go on: "and X?", "what is its ...?"'
)


async def reply(state: ChatState, context: Any) -> dict[str, Any]:
    """Return the message that answers: a sentence with its paths, and the whole proof beside it."""
    if (record := state.get("record")) is None:
        return {"messages": [AIMessage(HELP, additional_kwargs={PROOF_KEY: {}})]}
    proof = {PROOF_KEY: summarise_record(record)}
    return {"messages": [AIMessage(say_record(record), additional_kwargs=proof)]}
