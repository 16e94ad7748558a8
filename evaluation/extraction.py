"""The answers that the free text of a published record gives, read in its favour but honestly.

Used by strict scoring only; each legacy protocol reads the text in its own way.
"""

import json
import re
from typing import Any

_QUOTED = re.compile(r'"Answer"\s*:\s*"((?:[^"\\]|\\.)*)"')
_LISTED = re.compile(r'"Answer"\s*:\s*\[([^\]]*)\]')
_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'')
_BRACES = re.compile(r"\{([^{}]*)\}")
_SEVERAL = re.compile(r", |/| and ")


def answers_in(text: str, chains: Any = ()) -> tuple[str, ...]:
    """Give the answers that a reply states, each once, in its order.

    The reply's JSON decides (``A.Answer`` or ``Answer``, PoG and CoG); where it is
    malformed, the last quoted ``"Answer"`` or the first list; where it has none, the
    last braces that are not a bare yes or no (ToG); a text without braces is the
    answer itself (VoG). A list is taken as it is. One string is split on comma and
    space, on slashes, and on "and", for the reply has no other way to give several;
    but not when the whole of it is a name in the record's own reasoning ``chains``.

    >>> answers_in('{"A": {"Sufficient": "Yes", "Answer": "Ulm and Bonn"}}')
    ('Ulm', 'Bonn')
    >>> answers_in('{"Answer": "Preston, Ohio"}', chains=[[[["Ann", "lives_in", "Preston, Ohio"]]]])
    ('Preston, Ohio',)
    >>> answers_in('{"Answer": ["Washington, D.C."]}')
    ('Washington, D.C.',)
    >>> answers_in("{Yes}. The answer is {Danube}.")
    ('Danube',)
    """
    found = _stated(text)
    parts = found if isinstance(found, list) else _split(found, chains)
    return tuple(dict.fromkeys(part.strip() for part in map(_text, parts) if part.strip()))


def _split(text: str, chains: Any) -> list[str]:
    parts = _SEVERAL.split(text)
    return [text] if len(parts) > 1 and _holds(chains, text.strip()) else parts


def _holds(chains: Any, name: str) -> bool:
    """Tell whether a name is in nested lists."""
    waiting = [chains]
    while waiting:
        given = waiting.pop()
        if given == name:
            return True
        if isinstance(given, list):
            waiting.extend(given)
    return False


def _stated(text: str) -> str | list[Any]:
    start = text.find("{")
    if start < 0:
        return text
    try:
        stated = _answer_of(json.loads(text[start:]))
    except (ValueError, RecursionError):
        stated = None
    return _from_pieces(text[start:]) if stated is None else stated


def _answer_of(reply: Any) -> str | list[Any] | None:
    """Give ``A.Answer`` or ``Answer`` of parsed JSON, or None where there is neither."""
    inner = reply.get("A", reply)
    answer = inner.get("Answer") if isinstance(inner, dict) else None
    if isinstance(answer, dict) or answer is None:
        return None
    return answer if isinstance(answer, list) else _text(answer)


def _from_pieces(text: str) -> str | list[Any]:
    if quoted := _QUOTED.findall(text):
        return str(quoted[-1])
    if listed := _LISTED.search(text):
        return [double or single for double, single in _ITEM.findall(listed.group(1))]
    said = [inside for inside in _BRACES.findall(text) if '":' not in inside]
    said = [inside for inside in said if inside.strip().casefold() not in ("yes", "no", "")]
    return str(said[-1]) if said else []


def _text(value: Any) -> str:
    """Write an item of a list as text; true and false as JSON has them, null as nothing."""
    if value is None or isinstance(value, dict | list):
        return ""
    return value if isinstance(value, str) else json.dumps(value)
