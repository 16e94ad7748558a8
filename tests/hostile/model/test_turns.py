"""A turn of a conversation goes back to its provider as it was, but for what is too much or no character."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import tool_call

from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.interface import Turn, Usage
from kgqa.models.messages import MAX_EXTRA_BYTES, MAX_MESSAGE_ID_CHARS, bound_message
from kgqa.models.parsing import MAX_REPLY_CHARS, BadReply, parse_reply
from kgqa.models.scripted import ScriptedModel
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.model.asking import ask
from kgqa.tests.unit.models.pick import Pick

THOUGHT = {"type": "thinking", "thinking": "Let me see.", "signature": "Zm9v" * 5_000}

KWARGS = {
    "reasoning_content": "Hm.",
    "__gemini_function_call_thought_signatures__": {"c1": "c2lnbmF0dXJl"},
    "refusal": None,
}


def call(id: str, name: str = "find_entities") -> dict[str, Any]:
    return dict(tool_call(name=name, args={"name": "Ann"}, id=id))


def turn(id: str = "msg_1") -> AIMessage:
    """A turn as Anthropic's and Google's packages give it: a thought, words, a call."""
    use = {"type": "tool_use", "id": "c1", "name": "find_entities", "input": {"name": "Ann"}}
    content: list[str | dict[str, Any]] = [THOUGHT, {"type": "text", "text": "I look."}, use]
    return AIMessage(content, id=id, additional_kwargs=KWARGS, tool_calls=[call("c1")])


class Thinking(ScriptedModel):
    """Thinks before it calls a tool, and listens to what it is told to have said."""

    def __init__(self) -> None:
        super().__init__(lambda prompt: {})
        self.told: list[list[BaseMessage]] = []

    async def turn(self, messages: Any, tools: Any = (), **options: Any) -> Turn:
        self.told.append(list(messages))
        if len(self.told) < 3:
            return Turn(turn(), Usage(llm_calls=1))
        answer = {**call("c2", "Answer"), "args": {"answers": [{"id": None, "name": "Eve"}]}}
        return Turn(AIMessage("", tool_calls=[answer]), Usage(llm_calls=1))


async def test_an_agent_gives_thoughts_and_signatures_back(family: SparqlGraph, tried: Tried) -> None:
    model = Thinking()
    await ask("agent", family, model)
    said = [message for message in model.told[-1] if isinstance(message, AIMessage)]
    assert [(each.content, each.additional_kwargs) for each in said] == [(turn().content, KWARGS)] * 2
    assert said[0].id == "msg_1" != said[1].id, "the second would take the place of the first"
    tried(questions=1, records=1)


def test_what_is_whole_and_short_stays_as_it_is() -> None:
    assert bound_message(turn()) == turn()
    assert bound_message(turn(), {"msg_1"}).id is None


def test_what_is_too_much_is_left_out_and_text_is_cut(tried: Tried) -> None:
    blocks: list[str | dict[str, Any]] = [
        {"type": "text", "text": "x" * (MAX_REPLY_CHARS - 1), "id": "t"},
        "yyy",
        "zzz",
        {**THOUGHT, "signature": "s" * MAX_EXTRA_BYTES},
        THOUGHT,
        *({**THOUGHT, "n": n} for n in range(MAX_EXTRA_BYTES // 10_000)),
    ]
    kwargs = {"a": "x" * MAX_EXTRA_BYTES, "b": 1, "c": object(), "d": float("nan"), "tool_calls": [1]}
    fit = bound_message(AIMessage(blocks, id="x" * (MAX_MESSAGE_ID_CHARS + 1), additional_kwargs=kwargs))
    assert fit.text == "x" * (MAX_REPLY_CHARS - 1) + "y"
    assert fit.content[2] == THOUGHT
    assert (
        MAX_EXTRA_BYTES - 50_000 < len(json.dumps(fit.content, ensure_ascii=False)) < MAX_EXTRA_BYTES + 1_000
    )
    assert (fit.additional_kwargs, fit.id) == ({"b": 1}, None)
    tried(inputs=6)


def test_no_half_of_a_character_comes_through(tried: Tried) -> None:
    half = "\ud800"
    inner = {half: [half, {"x": half}]}
    content: list[str | dict[str, Any]] = [half, {"type": "text", "text": half}, {"type": half, **inner}]
    for said in (half, content):
        message = AIMessage(
            said,
            id=half,
            name=half,
            additional_kwargs=inner,
            response_metadata=inner,
            tool_calls=[tool_call(name=half, args=inner, id=half)],
            invalid_tool_calls=[
                {"name": half, "args": half, "id": half, "error": half, "type": "invalid_tool_call"}
            ],
        )
        fit = bound_message(message)
        json.dumps(fit.model_dump(), ensure_ascii=False).encode()
        assert fit.text == "?" * (1 if said == half else 2)
        assert fit.response_metadata == {"?": ["?", {"x": "?"}]}
    tried(inputs=2)


def test_a_block_of_a_call_that_is_not_made_is_left_out() -> None:
    """It would stay without a result, and the provider would refuse what follows."""
    kinds: list[str | dict[str, Any]] = [
        {"type": "tool_use", "id": "lost"},
        {"type": "function_call", "call_id": "lost", "id": "c1"},
        {"type": "tool_call", "id": ["c1"]},
        {"type": "function_call", "call_id": "c1", "id": "fc_1"},
        {"type": "server_tool_use", "id": "s1"},
    ]
    assert bound_message(AIMessage(kinds, tool_calls=[call("c1")])).content == kinds[3:]
    many = [call(f"c{n}") for n in range(60)]
    uses: list[str | dict[str, Any]] = [{"type": "tool_use", "id": each["id"]} for each in many]
    fit = bound_message(AIMessage(uses, tool_calls=many))
    assert [block["id"] for block in fit.content if isinstance(block, dict)] == [
        each["id"] for each in fit.tool_calls
    ]


def test_an_item_that_a_repair_drops_is_not_found_in_other_words(tried: Tried) -> None:
    for kept in ("[1 2]", "[1/*x*/2]", "[+1; 2]"):
        assert parse_reply(f'{{"note": "n", "numbers": {kept},}}', Pick()).numbers == [1, 2]
    for lost in ('{"note": "n1-3", "numbers": [2, -, 1],}', '{"note": "a:b", "numbers": [2, :, 1],}'):
        with pytest.raises(BadReply):
            parse_reply(lost, Pick())
    tried(inputs=5)
