"""A simulated model that is spoken to in messages: by an agent with tools, by a chain that writes SPARQL.

Its turn depends on the seed, the question and the number of the turn; it errs as `Errors` says.
"""

import asyncio
import json
import math
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.draws import Draws
from kgqa.evaluation.simulation.errors import Errors
from kgqa.evaluation.simulation.oracle import Oracle
from kgqa.evaluation.simulation.walking import walk
from kgqa.evaluation.simulation.writing import write
from kgqa.models.port import Turn
from kgqa.models.usage import Usage

MALFORMED = "This reply is malformed, as simulated."


async def turn(
    messages: Sequence[BaseMessage],
    tools: Sequence[BaseTool],
    oracle: Oracle,
    errors: Errors,
    token: int,
    id: str,
) -> Turn:
    """Give the next message of a conversation about a question, whose ``id`` its draws go by.

    It costs a token for every ``token`` characters that were said so far, tools included.
    """
    said = sum(isinstance(message, AIMessage) for message in messages)
    key = f"turn {said}" if tools else messages[-1].text
    case = Case(oracle, errors, Draws(errors.seed, id, key))
    message = await (walk(messages, tools, case) if tools else write(messages[-1].text, case))
    if case.happens("format"):
        message = AIMessage(MALFORMED)
    if errors.latency:
        await asyncio.sleep(errors.latency)
    asked = sum(map(_size, messages)) + sum(len(json.dumps(convert_to_openai_tool(tool))) for tool in tools)
    cost = Usage(
        llm_calls=1,
        input_tokens=math.ceil(asked / token),
        output_tokens=math.ceil(_size(message) / token),
        seconds=errors.latency,
    )
    return Turn(message, cost)


def _size(message: BaseMessage) -> int:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return len(message.text) + sum(len(call["name"]) + len(json.dumps(call["args"])) for call in calls)
