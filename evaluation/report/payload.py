"""What the page knows of each question: an index to search, and the details in parts, packed.

Parts are unpacked one at a time, so that a page of many thousand records opens at once.
"""

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kgqa.evaluation.question import Named, Question
from kgqa.evaluation.report.groups import Entry, Group
from kgqa.evaluation.report.marks import Mark, mark
from kgqa.evaluation.result import Result

PART = 100
"""Questions of a part."""

LISTED = 100
"""Answers, gold answers and facts that the page lists of a record at most; it says how many there are."""

SEARCHED = 5
"""Gold answers, and answers of a run, that the search looks through at most."""

_LETTERS = {"right": "r", "partly": "p", "wrong": "w", "failed": "f", "unscored": "u", "missing": "m"}

_NOT_ASKED = "."

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Payload:
    """The packed index and the packed parts, each gzip in base64."""

    index: str
    parts: tuple[str, ...]


def payload(groups: Sequence[Group]) -> Payload:
    """Pack the questions of all groups."""
    rows: list[Json] = []
    details: list[Json] = []
    for place, group in enumerate(groups):
        for row, detail in _questions(group):
            rows.append({**row, "group": place})
            details.append(detail)
    index = {
        "part": PART,
        "runs": [_run(entry, place) for place, group in enumerate(groups) for entry in group.entries],
        "groups": [{"name": group.name, "gold": group.no_gold is None} for group in groups],
        "questions": rows,
    }
    parts = (_packed(details[start : start + PART]) for start in range(0, len(details), PART))
    return Payload(_packed(index), tuple(parts))


def _packed(value: object) -> str:
    written = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()
    return base64.b64encode(gzip.compress(written, compresslevel=6, mtime=0)).decode()


def _run(entry: Entry, group: int) -> Json:
    return {"number": entry.number, "name": entry.name.full, "group": group}


def _questions(group: Group) -> Iterator[tuple[Json, Json]]:
    asked = [{question.id for question in entry.questions} for entry in group.entries]
    for question in group.questions:
        results = [entry.results.get(question.id) for entry in group.entries]
        marks = [
            mark(result, question) if question.id in ids else None
            for result, ids in zip(results, asked, strict=True)
        ]
        yield _row(question, results, marks), _detail(question, results, marks)


def _row(question: Question, results: list[Result | None], marks: list[Mark | None]) -> Json:
    answers = [answer for result in results if result for answer in result.answers[:SEARCHED]]
    searched = [*question.topics, *question.gold[:SEARCHED], *answers]
    return {
        "id": question.id,
        "text": question.text,
        "hops": question.hops,
        "kind": question.kind,
        "level": question.level,
        "marks": "".join(_LETTERS[found.state] if found else _NOT_ASKED for found in marks),
        "outcomes": [result.outcome if result else None for result in results],
        "words": " ".join(dict.fromkeys(text for named in searched if (text := named.name or named.id))),
    }


def _detail(question: Question, results: list[Result | None], marks: list[Mark | None]) -> Json:
    return {
        "topics": [_named(topic) for topic in question.topics],
        "readings": [
            _cut([_named(answer) for answer in reading]) for reading in question.readings if reading
        ],
        "paths": [{"topic": path.topic, "relations": path.relations} for path in question.paths],
        "sparql": question.sparql,
        "runs": [
            _answered(result, found) if result and found else None
            for result, found in zip(results, marks, strict=True)
        ],
    }


def _answered(result: Result, found: Mark) -> Json:
    right: Sequence[bool | None] = found.right or [None] * len(result.answers)
    answers = [{**_named(answer), "right": ok} for answer, ok in zip(result.answers, right, strict=True)]
    record = result.record
    return {
        "state": found.state,
        "score": found.score._asdict() if found.score and not result.failed else None,
        "answers": _cut(answers),
        "missed": _cut([_named(gold) for gold in found.missed]),
        "outcome": result.outcome,
        "error": result.error,
        "stopped_by": record.get("stopped_by"),
        "paths": _list(record.get("paths")),
        "evidence": _cut(_list(record.get("evidence"))),
        "trace": _list(record.get("trace")),
        "usage": dict(result.usage),
    }


def _named(named: Named) -> Json:
    return {"id": named.id, "name": named.name}


def _cut(items: Sequence[Json]) -> Json:
    return {"all": len(items), "items": list(items[:LISTED])}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
