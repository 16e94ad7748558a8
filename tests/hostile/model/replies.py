"""Replies that no model should give, by family; `spoiling` makes others of a good reply."""

import json
from collections.abc import Iterator
from pathlib import Path

FILE = Path(__file__).with_name("replies.jsonl")
"""Short ones: prose, other tongues, code, calls of tools, markup, JSON that is none or not what was asked."""

BOMBS = ("e" + "\u0301" * 5000, "a\u0315\u0300" * 3000, "\ufdfa" * 500)
"""Marks that pile up, and a letter that is eighteen."""


def static() -> list[tuple[str, str]]:
    """The short ones, each with its family."""
    rows = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    return [*((row["kind"], row["text"]) for row in rows), *(("bomb", text) for text in BOMBS)]


def huge() -> Iterator[tuple[str, str]]:
    """Replies of a million characters, of as many as are read, and as deep as that."""
    for part in ("x", "{", '"', "[1,", "\\", "\u0301", "</think>", "```", "Thought 1: a\n"):
        yield f"1 MB of {part!r}", part * (1_000_000 // len(part))
    for part in ("{", "[", '{"', '{"a":', '{"a":[', "'", "}", "Action 1: Search[", "(a, b, c) ", "\n", "a,"):
        yield f"100 kB of {part!r}", part * (99_000 // len(part))
    for part in ("{", '{"a":', '{"a":[', '{"a" "b"', "{'a':'", "\\", "{//\n"):
        yield f"10 kB of {part!r}", "{" + part * (9_000 // len(part))
