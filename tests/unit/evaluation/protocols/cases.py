"""Questions and published records of a few words, to work protocols out by hand."""

import json
from typing import Any

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.result_files import parse_result


def asked(text: str, *gold: str | EntityRef, kind: str | None = None, level: str | None = None) -> Question:
    """A question whose id is not its text, as in published outputs."""
    answers = tuple(EntityRef(None, answer) if isinstance(answer, str) else answer for answer in gold)
    return Question(f"id of {text}", text, readings=(answers,) if answers else (), kind=kind, level=level)


def said(text: str, reply: str | None, **more: Any) -> Result:
    """A record of PoG or VoG: the raw reply to a question."""
    return parse_result({"question": text, "results": reply, **more})


def answered(text: str, answer: Any, **more: Any) -> Result:
    """A record of PoG with an answer in its JSON."""
    return said(text, json.dumps({"A": {"Sufficient": "Yes", "Answer": answer}}), **more)


def ours(text: str, *names: str | None, outcome: str = "grounded", **more: Any) -> Result:
    """One of our records."""
    answers = [{"id": f"http://t/{name}", "name": name} for name in names]
    return parse_result(
        {"id": f"id of {text}", "question": text, "answers": answers, "outcome": outcome, **more}
    )


def cor(text: str, *names: str, action: str = "Stop") -> Result:
    """A record of CoR."""
    results = [{"id": "", "name": name} for name in names]
    return parse_result({"id": text, "question": text, "action": action, "results": results})


def value(found: dict[str, Any], name: str) -> float | None:
    """The share that a metric has."""
    share: float | None = found[name]["value"]
    return share
