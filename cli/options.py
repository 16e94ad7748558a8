"""Reads the options of a method from the command line."""

import json
from typing import Any


def read_options(pairs: list[str]) -> dict[str, Any]:
    """Read ``key=value`` pairs; a dotted key reaches into a group (``budget.llm_calls=9``).

    Raises:
        ValueError: for a pair without ``=``.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise ValueError(f"an option is written key=value, not {pair!r}")
        *groups, last = key.split(".")
        inner = options
        for group in groups:
            inner = inner.setdefault(group, {})
            if not isinstance(inner, dict):
                raise ValueError(f"the option {group} is given as one value and in parts")
        inner[last] = _value(text)
    return options


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or deeper than Python reads
        return text
