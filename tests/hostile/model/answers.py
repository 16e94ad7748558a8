"""What a server that speaks OpenAI's protocol should not answer: completions, bent everywhere."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from kgqa.tests.support.model_stub import said

GOOD = '{"rationale": "", "numbers": [2], "sure": null}'

ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -5,
    10**30,
    1.5,
    float("nan"),
    float("inf"),
    "x",
    "",
    [],
    [1],
    {},
    {"a": 1},
)

ARGUMENTS: tuple[Any, ...] = (
    *("{", "", "null", "[1]", '"x"', "1e999", '{"numbers": NaN}', '{"numbers": ["\\ud800"]}', "}{", "\x00"),
    *('{"a":' * 900 + "1" + "}" * 900, '{"a":' * 100_000, GOOD, "{'numbers': [2]}", "x" * 1_000_000),
    *(None, 5, {"numbers": [2]}, [], True),
)

RAW = (
    *(
        "",
        "null",
        "1",
        '"x"',
        "[]",
        "[[]]",
        "{}",
        "NaN",
        "true",
        "\x00",
        "\ufeff{}",
        "not JSON",
        "<html>502</html>",
    ),
    *(
        '{"choices": []}',
        '{"choices": [{}]}',
        '{"choices": [{"message": {}}]}',
        '{"choices": [{"message": nu',
    ),
    *(
        "[" * 200_000,
        '{"a":' * 200_000,
        '{"error": {"message": "no"}}',
        '{"error": "no"}',
        '{"object": "error"}',
    ),
    *("data: {}\n\ndata: [DONE]\n\n", json.dumps(said(GOOD).body)[:70], "x" * 10_000_000),
)


def completion(text: Any = GOOD, **message: Any) -> dict[str, Any]:
    """A completion; ``message`` replaces parts of its message."""
    body: dict[str, Any] = copy.deepcopy(said(GOOD).body)
    body["choices"][0]["message"] |= {"content": text, **message}
    return body


def calling(*calls: dict[str, Any]) -> dict[str, Any]:
    """A completion that calls tools."""
    return completion(None, tool_calls=list(calls))


def call(
    arguments: Any, name: Any = "find_entities", id: Any = "c1", kind: Any = "function"
) -> dict[str, Any]:
    """A call of a tool as the protocol writes it."""
    return {"id": id, "type": kind, "function": {"name": name, "arguments": arguments}}


def bodies() -> Iterator[Any]:
    """Bodies, as objects or as text."""
    yield from RAW
    for odd in ODD:
        yield from (
            {**said(GOOD).body, key: odd} for key in ("choices", "usage", "model", "id", "error", "object")
        )
        choice = said(GOOD).body["choices"][0]
        yield from (
            {**said(GOOD).body, "choices": [{**choice, key: odd}]} for key in ("message", "finish_reason")
        )
        yield {**said(GOOD).body, "choices": [odd]}
        yield from (
            completion(**{key: odd}) for key in ("role", "refusal", "tool_calls", "function_call", "audio")
        )
        yield from (completion(odd), completion([odd]), completion([{"type": "text", "text": odd}]))
        yield from (calling({"id": "c", "type": "function", "function": odd}), completion(tool_calls=[odd]))
        yield from (calling(call(GOOD, name=odd)), calling(call(GOOD, id=odd)), calling(call(GOOD, kind=odd)))
        for key in ("prompt_tokens", "completion_tokens", "total_tokens"):
            counts = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, key: odd}
            yield {**said(GOOD).body, "usage": counts}
        details = {"prompt_tokens_details": {"cached_tokens": odd}, "completion_tokens_details": odd}
        yield {**said(GOOD).body, "usage": {"prompt_tokens": 1, "completion_tokens": 1, **details}}
    yield from (calling(call(arguments, "Answer")) for arguments in ARGUMENTS)
    yield calling(*[call("{}", id="same")] * 500)
    yield from map(completion, ("\ud800", "x" * 1_000_000, '{"numbers": [2], "rationale": "\ud83d"}'))
    yield completion(
        [{"type": "text", "text": GOOD}, {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]
    )
