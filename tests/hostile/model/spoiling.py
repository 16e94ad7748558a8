# ruff: noqa: RUF001
"""What spoils a good reply: cut, wrapped, bent, misspelt, beyond the offer."""

import json
from collections.abc import Iterator
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 10**30, -(10**30), 1.0, 0.5, 1e308, float("nan"), float("inf")),
    *("", " ", "1", "null", "all", "Ulm", "http://x/1", "\x00", "\ud800", "x" * 5_000),
    *([], [[]], {}, [{}], {"a": 1}, [None], [0], [-1], [10**30], [1.0], ["1"], [True], [1, 1], [10_000]),
    *(["Ulm"], [["a"]], [["a", "b", "c", "d"]], list(range(1, 500)), [1] * 2_000, ["\ud800"], [float("nan")]),
)
"""Values that stand where others belong, or are of the right type and out of range."""

PLACES = 24
"""Places where a reply is cut."""


def spoilt(good: str) -> Iterator[tuple[str, str]]:
    """Spoil a good reply, the text of one JSON object; some of what comes out may still be read."""
    reply: dict[str, Any] = json.loads(good)
    for at in range(1, PLACES):
        yield "cut", good[: len(good) * at // PLACES]
        yield "cut at the beginning", good[len(good) * at // PLACES :]
    yield from (("wrapped", text) for text in _wrapped(good))
    yield from (("respelt", json.dumps(other, ensure_ascii=False)) for other in _respelt(reply))
    for key in reply:
        yield "missing", json.dumps({name: value for name, value in reply.items() if name != key})
        for odd in ODD:
            yield "bent", json.dumps({**reply, key: odd})
            if isinstance(reply[key], list) and reply[key]:
                yield "bent inside", json.dumps({**reply, key: [*reply[key], odd]})
    for odd in ODD:
        yield "bent all over", json.dumps(dict.fromkeys(reply, odd))
        yield "more", json.dumps({**reply, "more": odd})
    yield "deep", good[:-1] + ', "more": ' + "[" * 100_000 + "]" * 100_000 + "}"
    yield "deeper", '{"a":' * 10_000 + good + "}" * 10_000


def _wrapped(good: str) -> Iterator[str]:
    yield from (
        f"```json\n{good}\n```",
        f"~~~\n{good}\n~~~",
        f"```json\n{good}",
        f"```\n```json\n{good}\n```\n```",
    )
    yield from (f"Here you are: {good}", f"{good} Hope this helps! :-}}", f"{{note}} {good} {{end}}")
    yield from (
        f"<think>{good}</think>",
        f"<think>{good}",
        f"<think>{{</think>{good}",
        f"</think>{good}</think>",
    )
    yield from (
        f"[{good}]",
        f"[[{good}]]",
        f'{{"reply": {good}}}',
        json.dumps(good),
        f"{good}{good}",
        f"{good},",
    )
    yield from (f"\ufeff{good}", f"\x00{good}", f"{good}\x00", f"\u202e{good}", good.replace('"', "'"))
    yield from (
        good.replace('"', "“"),
        good.replace("{", "｛"),
        good.replace(":", "："),
        good.replace(",", "，"),
    )
    yield from (good[:-1] + ",}", good[:-1] + "// end\n}", good.replace("]", ",]"), good.replace('"', '\\"'))
    yield from (
        good.replace(":", "="),
        good.replace('"', ""),
        good.replace('"', "`"),
        good.replace(" ", "\n"),
    )
    yield from (good.upper(), good.swapcase(), good[::-1], good.replace("{", "{{").replace("}", "}}"))
    yield from (f"{good[:-1]}, {good[1:]}", f"{good[:-1]}, {good[1:-1]}", f"print({good})", f"eval('{good}')")


def _respelt(reply: dict[str, Any]) -> Iterator[dict[str, Any]]:
    spellings = (str.upper, str.title, lambda key: f" {key} ", lambda key: f"{key}s", lambda key: key[:-1])
    yield from ({spell(key): value for key, value in reply.items()} for spell in spellings)
    yield {key: str(value) for key, value in reply.items()}
    yield {key: [value] for key, value in reply.items()}
    yield {key: {"value": value} for key, value in reply.items()}
    yield {key: value[0] if isinstance(value, list) and value else value for key, value in reply.items()}
