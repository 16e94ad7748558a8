"""Rewrite: what is said now, made a whole question from the conversation."""

import asyncio
import re
from dataclasses import replace
from typing import Any

from kgqa.kg.errors import KGError
from kgqa.kg.pages import Mention
from kgqa.kg.terms import Entity, Literal
from kgqa.models.errors import ModelError
from kgqa.nodes.chat.alternatives import taken_reading
from kgqa.nodes.chat.state import ChatState, last_said, past_turns
from kgqa.priors.errors import EncoderError, PriorError
from kgqa.prompts.base import MAX_QUESTION_CHARS
from kgqa.prompts.rewrite_question import MAX_TURNS_SHOWN, ConversationTurn, RewriteQuestion
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import zero_spend
from kgqa.runtime.server_limits import active_limits

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
    asks nothing, nor does what says another reading of the last question, which is taken.
    """
    if (taken := await asyncio.to_thread(taken_reading, state["messages"], context)) is not None:
        return {"question": "", "topics": [], "record": taken, "spend": zero_spend()}
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
    found = [entity for each in answers for entity in each if entity not in topics]  # a sentence has both
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
