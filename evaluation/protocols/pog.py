"""What the evaluation code of Plan-on-Graph counts (PoG, also published as Hits@1 or exact match)."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from kgqa.evaluation.protocols.shared import (
    LegacyCase,
    answer_texts,
    legacy_cases,
    matches_any_gold,
    summarise,
)
from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result

NOTE = "Share of records whose answer text contains, or is part of, any gold name or alias."

_QUOTED = re.compile(r"\"Answer\":\s*[\"']([^\"']+)[\"']")
_LISTED = re.compile(r'"Answer":\s*(\[[^\]]+\])')
_ITEM = re.compile(r"\"([^\"]*)\"|'([^']*)'")


def reply_text(result: Result) -> str | None:
    """Return the reply of a record in PoG's form; None where it has no answer.

    A published record has it. One of ours becomes PoG's JSON: ``Answer`` is the name
    (else the id) of the one answer, or the list of all.
    """
    if result.text is not None:
        return result.text
    answers = answer_texts(result)
    if not answers:
        return None
    answer: Any = answers[0] if len(answers) == 1 else answers
    return json.dumps({"A": {"Sufficient": "Yes", "Answer": answer}}, ensure_ascii=False)


def candidate_answers(reply: str) -> list[str] | None:
    """Return the strings of a reply that are compared with the gold; any of them may be right.

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
        pass
    if quoted := _QUOTED.findall(rest):
        return [str(quoted[-1])]
    listed = _LISTED.search(rest)
    return _list_items(listed.group(1)) if listed else None


def _list_items(text: str) -> list[str]:
    """Return the items of a list in the text; the published code evaluates it as Python."""
    try:
        return [str(item) for item in json.loads(text)]
    except (ValueError, RecursionError):
        return [double or single for double, single in _ITEM.findall(text)]


def measure(results: Sequence[Result], questions: Sequence[Question], *, seed: int = 0) -> dict[str, Any]:
    """Count as PoG's code does.

    ``n`` is the number of records, not of questions. An empty answer is part of every
    gold and counts as right; a list is compared as the one string that Python prints;
    a question without gold counts as wrong, and so does a record whose question the
    dataset does not have. Where a reply has a brace but no answer that can be found,
    the answer of the record before is compared once more.

    One of our records takes part as `reply_text` writes it; without an answer it
    is wrong.
    """
    cases = legacy_cases(results, questions)
    return summarise("pog", NOTE, cases, list(_judge_in_order(cases)), seed)


def _judge_in_order(cases: Sequence[LegacyCase]) -> Iterator[bool]:
    before: list[str] = []
    for case in cases:
        reply = reply_text(case.result)
        found = None if reply is None else candidate_answers(reply)
        tried = [] if reply is None else before if found is None else found
        right = next((candidate for candidate in tried if matches_any_gold(candidate, case.gold)), None)
        if tried:
            before = [tried[-1] if right is None else right]
        yield right is not None
