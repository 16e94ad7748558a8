# ruff: noqa: RUF001
"""Any text, any JSON and any bent reply to any prompt: a valid reply or `BadReply`."""

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.models.parsing import BadReply, parse_reply
from kgqa.prompts.base import Prompt
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.model.parsing_child import good
from kgqa.tests.unit.prompts.samples import PROMPTS, WORKED

EXAMPLES = 50

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-2, 12)
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "all", "some", "stop", "forward", "yes", "1", "\ud800", "Search[x]"])
    | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
marks = st.sampled_from(
    [
        *"{}[]\":,\\'`01.-eE\n\x00",
        "```json",
        "NaN",
        "null",
        "</think>",
        "<think>",
        "//",
        "/*",
        "\ud800",
        "“",
        "：",
        "１",
        *("Thought 1: ", "Action 1: ", "Search[", "Finish[", "Observation 1: (a, b, c)"),
    ]
)


@st.composite
def bent(draw: st.DrawFn, reply: dict[str, Any]) -> str:
    """A good reply with some of its parts replaced, at any depth, and some text put into the text of it."""
    bent = draw(parts(reply, 2))
    text = json.dumps(bent, ensure_ascii=draw(st.booleans()))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(marks) + text[at + draw(st.integers(0, 2)) :]
    return text


@st.composite
def parts(draw: st.DrawFn, part: Any, left: int) -> Any:
    """A JSON value with some of its parts replaced."""
    if left and draw(st.integers(0, 3)):
        if isinstance(part, dict):
            return {
                key: draw(parts(value, left - 1)) for key, value in part.items() if draw(st.integers(0, 9))
            }
        if isinstance(part, list):
            return [draw(parts(value, left - 1)) for value in part]
    return draw(values) if draw(st.integers(0, 4)) == 0 else part


@pytest.mark.parametrize("kind", PROMPTS, ids=lambda kind: kind.name)
def test_any_text_to_any_prompt(kind: type[Prompt[Any]], tried: Tried) -> None:
    prompt = next(worked for worked in WORKED if type(worked) is kind)
    names = st.sampled_from([*kind.reply.model_fields])
    texts = (
        st.text(max_size=60)
        | st.lists(marks | names | names.map(json.dumps), max_size=25).map("".join)
        | values.map(json.dumps)
        | st.dictionaries(names, values).map(json.dumps)
        | bent(json.loads(good(prompt)))
    )

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
    @given(texts)
    def holds(text: str) -> None:
        try:
            reply = parse_reply(text, prompt)
        except BadReply as error:
            assert "\n" not in str(error)
            return
        prompt.check(reply)
        assert type(reply) is kind.reply
        assert kind.reply.model_validate_json(reply.model_dump_json()) == reply

    holds()
    tried(inputs=EXAMPLES)
