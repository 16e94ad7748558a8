"""What a model says in a conversation, made fit to be kept, shown and sent on.

A reply to a prompt is held against a schema (`parsing`); a turn of a conversation is read by
LangChain, which takes it as it comes.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import ToolCall, tool_call

from kgqa.kg.terms import one_line
from kgqa.models.parsing import TEXT_LIMIT

CALLS = 50
"""Calls of tools that one turn may make; what is more is passed over."""

NAME = 64
"""Characters of the name and of the id of a call, as OpenAI has them."""


def made_fit(message: AIMessage) -> AIMessage:
    """Give a turn whose text and calls are of whole characters and bounded length, each call with its own id.

    What is no argument of a call, or too long for one, is left out: the tool says what it misses.
    """
    return AIMessage(
        whole(str(message.text))[:TEXT_LIMIT],
        tool_calls=list(_calls(message.tool_calls)),
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
    )


def whole(text: str) -> str:
    """Put a question mark where half of a character stands, which no file or request can hold."""
    return text.encode("utf-8", "replace").decode()


def _calls(calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
    seen: set[str] = set()
    for at, call in enumerate(islice(calls, CALLS), 1):
        id = one_line(call["id"] or "", NAME)
        id = f"call_{at}" if not id or id in seen else id
        seen.add(id)
        yield tool_call(name=one_line(whole(call["name"]), NAME), args=_arguments(call["args"]), id=whole(id))


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    try:
        text = json.dumps(given, ensure_ascii=False)
        arguments = json.loads(whole(text)) if len(text) <= TEXT_LIMIT else {}
    except (RecursionError, TypeError, ValueError):
        return {}
    return arguments if isinstance(arguments, dict) else {}
