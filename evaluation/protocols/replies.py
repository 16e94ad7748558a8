"""How the code of PoG and of CoG finds the answer in a reply."""

import json
import re
from typing import Any

from kgqa.evaluation.protocols.legacy import names
from kgqa.evaluation.result import Result

_QUOTED = re.compile(r"\"Answer\":\s*[\"']([^\"']+)[\"']")
_LISTED = re.compile(r'"Answer":\s*(\[[^\]]+\])')
_ITEM = re.compile(r"\"([^\"]*)\"|'([^']*)'")


def reply_of(result: Result) -> str | None:
    """Give the reply of a record in PoG's form; None where it has no answer.

    A published record has it. One of ours becomes PoG's JSON: ``Answer`` is the name
    (else the id) of the one answer, or the list of all.
    """
    if result.text is not None:
        return result.text
    answers = names(result)
    if not answers:
        return None
    answer: Any = answers[0] if len(answers) == 1 else answers
    return json.dumps({"A": {"Sufficient": "Yes", "Answer": answer}}, ensure_ascii=False)


def candidates(reply: str) -> list[str] | None:
    """Give the strings of a reply that are compared with the gold; any of them may be right.

    From the first brace on: the JSON's ``A.Answer`` or ``Answer``, where a list becomes
    one string as Python prints it; else the last quoted ``"Answer"`` that a pattern
    finds, up to the next quote of either kind; else the items of the first list. A
    reply without a brace is the answer as a whole. None where there is a brace and
    nothing is found: there PoG and CoG go on in different ways.
    """
    start = reply.find("{")
    if start < 0:
        return [reply]
    rest = reply[start:]
    try:
        stated = json.loads(rest)
        return [str(stated["A"]["Answer"] if "A" in stated else stated["Answer"])]
    except (ValueError, TypeError, LookupError, RecursionError):
        return _patterns(rest)


def _patterns(text: str) -> list[str] | None:
    if quoted := _QUOTED.findall(text):
        return [str(quoted[-1])]
    listed = _LISTED.search(text)
    return _items(listed.group(1)) if listed else None


def _items(text: str) -> list[str]:
    """Give the items of a list in the text; the published code evaluates it as Python."""
    try:
        return [str(item) for item in json.loads(text)]
    except (ValueError, RecursionError):
        return [double or single for double, single in _ITEM.findall(text)]
