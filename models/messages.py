"""Bounds what a model says in a conversation, so that it can be kept, shown and sent on.

A reply to a prompt is held against a schema (`parsing`); a turn of a conversation is read by
LangChain, which takes it as it comes.
"""

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import ToolCall, tool_call

from kgqa.kg.terms import one_line, replace_surrogates
from kgqa.models.parsing import MAX_REPLY_CHARS

MAX_MESSAGE_ID_CHARS = 256  # characters of the id of a message

MAX_EXTRA_BYTES = 1_000_000
"""Bytes, as JSON, of the blocks of a turn, and of what else comes with it: thoughts and signatures."""

_MAX_TOOL_CALLS = 50  # of one turn; what is more is passed over
_MAX_CALL_NAME_CHARS = 64  # also of the id of a call, as OpenAI has them
# blocks that make a call once more
_CALL_BLOCKS = frozenset({"tool_use", "tool_call", "tool_call_chunk", "function_call", "invalid_tool_call"})

Block = str | dict[str, Any]


def bound_message(message: AIMessage, taken: Container[str | None] = ()) -> AIMessage:
    """Return a turn whose text and calls are of whole characters and bounded length, each with its own id.

    What is no argument of a call, or too long for one, is left out: the tool says what it misses.
    Thoughts, signatures and whatever else a provider wants back stay as they are, or, where they
    are too long or no JSON, are left out. So is an id that another message has (``taken``),
    for it would take the place of that one.
    """
    calls = list(_bound_calls(message.tool_calls))
    id = replace_surrogates(message.id or "")
    content: str | list[Block]
    if isinstance(message.content, str):
        content = replace_surrogates(message.content[:MAX_REPLY_CHARS])
    else:
        content = list(_bound_blocks(message.content, {call["id"] for call in calls}))
    return message.model_copy(
        update={
            "content": content,
            "tool_calls": calls,
            "invalid_tool_calls": [],
            "additional_kwargs": _bound_mapping(
                message.additional_kwargs, without={"tool_calls", "function_call"}
            ),
            "response_metadata": _bound_mapping(message.response_metadata),
            "id": id if 0 < len(id) <= MAX_MESSAGE_ID_CHARS and id not in taken else None,
            "name": None,
        }
    )


def _bound_calls(calls: Iterable[ToolCall]) -> Iterator[ToolCall]:
    seen: set[str] = set()
    for at, call in enumerate(islice(calls, _MAX_TOOL_CALLS), 1):
        id = one_line(call["id"] or "", _MAX_CALL_NAME_CHARS)
        id = f"call_{at}" if not id or id in seen else id
        seen.add(id)
        arguments = _bound_json(call["args"], MAX_REPLY_CHARS)[0]
        yield tool_call(
            name=one_line(replace_surrogates(call["name"]), _MAX_CALL_NAME_CHARS),
            args=arguments if isinstance(arguments, dict) else {},
            id=replace_surrogates(id),
        )


def _bound_blocks(content: Iterable[Block], calls: Container[str | None]) -> Iterator[Block]:
    """Cut the text of blocks, and leave out those that are too long or of a call that is not made.

    A call without a result would be refused by the provider.
    """
    text, room = MAX_REPLY_CHARS, MAX_EXTRA_BYTES
    for block in content:
        said = _block_text(block)
        if said and len(said) > text:
            block = said[:text] if isinstance(block, str) else {**block, "text": said[:text]}
        fit, size = _bound_json(block, room)
        if fit is not None and _is_kept_call(fit, calls) and (text or not said):
            text -= len(_block_text(fit))
            room -= size
            yield fit


def _block_text(block: Block) -> str:
    if isinstance(block, str):
        return block
    said = block.get("text") if block.get("type", "text") == "text" else None
    return said if isinstance(said, str) else ""


def _is_kept_call(block: Block, calls: Container[str | None]) -> bool:
    """Return whether a block stays: one that is a call has to be one of ``calls``."""
    if isinstance(block, str) or str(block.get("type")) not in _CALL_BLOCKS:
        return True
    return str(block.get("call_id", block.get("id"))) in calls


def _bound_mapping(given: Mapping[str, Any], without: Container[str] = ()) -> dict[str, Any]:
    kept, room = {}, MAX_EXTRA_BYTES
    for key, value in given.items():
        fit, size = _bound_json({key: value}, room)
        if fit is not None and key not in without:
            kept.update(fit)
            room -= size
    return kept


def _bound_json(value: Any, most: int) -> tuple[Any, int]:
    """Return a value in whole characters and its bytes as JSON; None where it has too many or is no JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        return (json.loads(text), len(text)) if len(text) <= most else (None, 0)
    except (RecursionError, TypeError, ValueError):
        return None, 0
