"""What the page knows of each question: how each run did, an index to search, and the details in packed parts.

Parts are unpacked one at a time, so that a page of many thousand records opens at once.
"""

import base64
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.report.groups import DatasetGroup, ReportedRun
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.matching import AnswerKeys, answer_keys
from kgqa.evaluation.scoring.scores import ZERO_SCORE, Score, reading_preference, score_answers

MarkState = Literal["right", "partly", "wrong", "failed", "unscored", "missing"]
"""``right``: all gold answers and nothing else. ``partly``: some answer is right. ``unscored``: no gold."""


class Mark(NamedTuple):
    """How a result did, and what its answers were held against."""

    state: MarkState
    score: Score | None
    right: tuple[bool, ...] | None
    """For each answer whether it is a gold answer; None without gold."""
    missed: tuple[EntityRef, ...]
    """The gold answers that were not given."""


def mark_result(result: Result | None, question: Question) -> Mark:
    """Mark a result, or its absence, by the reading of the question that fits it best."""
    if result is None:
        return Mark("missing", None, None, ())
    scored = score_answers(result.answers, question)
    if scored is None:
        return Mark("failed" if result.failed else "unscored", None, None, ())
    gold = _closest_reading(result.answers, question)
    given, wanted = (
        [answer_keys(answer) for answer in result.answers],
        [answer_keys(one, aliases=True) for one in gold],
    )
    missed = tuple(one for one, found in zip(gold, _find_matches(wanted, given), strict=True) if not found)
    return Mark(_mark_state(result, scored), scored, tuple(_find_matches(given, wanted)), missed)


def _mark_state(result: Result, scored: Score) -> MarkState:
    if result.failed:
        return "failed"
    if scored.f1 == 1:
        return "right"
    return "partly" if scored.hit_any else "wrong"


def _closest_reading(answers: Sequence[EntityRef], question: Question) -> tuple[EntityRef, ...]:
    readings = [reading for reading in question.readings if reading]
    if len(readings) == 1:
        return readings[0]
    return max(
        readings,
        key=lambda reading: reading_preference(
            score_answers(answers, replace(question, readings=(reading,))) or ZERO_SCORE
        ),
    )


def _find_matches(ours: Sequence[AnswerKeys], theirs: Sequence[AnswerKeys]) -> list[bool]:
    """Tell for each of ours whether it is among theirs, without comparing all with all."""
    near = defaultdict(list)
    for reading in theirs:
        for key in _match_keys(reading):
            near[key].append(reading)
    return [
        any(one.matches(other) for key in _match_keys(one) for other in near.get(key, ())) for one in ours
    ]


def _match_keys(reading: AnswerKeys) -> set[object]:
    return {*reading.names, *([reading.id.local] if reading.id else [])}


QUESTIONS_PER_PART = 100
"""Questions of a part."""

MAX_LISTED_ITEMS = 100
"""Answers, gold answers and facts that the page lists of a record at most; it says how many there are."""

MAX_SEARCHED_ANSWERS = 5
"""Gold answers, and answers of a run, that the search looks through at most."""

_MARK_LETTERS = {"right": "r", "partly": "p", "wrong": "w", "failed": "f", "unscored": "u", "missing": "m"}

_NOT_ASKED = "."

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PackedQuestions:
    """The packed index and the packed parts, each gzip in base64."""

    index: str
    parts: tuple[str, ...]


def pack_questions(groups: Sequence[DatasetGroup]) -> PackedQuestions:
    """Pack the questions of all groups."""
    rows: list[Json] = []
    details: list[Json] = []
    for place, group in enumerate(groups):
        for row, detail in _question_rows(group):
            rows.append({**row, "group": place})
            details.append(detail)
    index = {
        "part": QUESTIONS_PER_PART,
        "runs": [_run_row(entry, place) for place, group in enumerate(groups) for entry in group.entries],
        "groups": [{"name": group.name, "gold": group.no_gold is None} for group in groups],
        "questions": rows,
    }
    parts = (
        _compress(details[start : start + QUESTIONS_PER_PART])
        for start in range(0, len(details), QUESTIONS_PER_PART)
    )
    return PackedQuestions(_compress(index), tuple(parts))


def _compress(value: object) -> str:
    written = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()
    return base64.b64encode(gzip.compress(written, compresslevel=6, mtime=0)).decode()


def _run_row(entry: ReportedRun, group: int) -> Json:
    return {"number": entry.number, "name": entry.name.full, "group": group}


def _question_rows(group: DatasetGroup) -> Iterator[tuple[Json, Json]]:
    asked = [{question.id for question in entry.questions} for entry in group.entries]
    for question in group.questions:
        results = [entry.results.get(question.id) for entry in group.entries]
        marks = [
            mark_result(result, question) if question.id in ids else None
            for result, ids in zip(results, asked, strict=True)
        ]
        yield _index_row(question, results, marks), _question_detail(question, results, marks)


def _index_row(question: Question, results: list[Result | None], marks: list[Mark | None]) -> Json:
    answers = [answer for result in results if result for answer in result.answers[:MAX_SEARCHED_ANSWERS]]
    searched = [*question.topics, *question.gold[:MAX_SEARCHED_ANSWERS], *answers]
    return {
        "id": question.id,
        "text": question.text,
        "hops": question.hops,
        "kind": question.kind,
        "level": question.level,
        "marks": "".join(_MARK_LETTERS[found.state] if found else _NOT_ASKED for found in marks),
        "outcomes": [result.outcome if result else None for result in results],
        "words": " ".join(dict.fromkeys(text for named in searched if (text := named.name or named.id))),
    }


def _question_detail(question: Question, results: list[Result | None], marks: list[Mark | None]) -> Json:
    return {
        "topics": [_entity_ref(topic) for topic in question.topics],
        "readings": [
            _truncate([_entity_ref(answer) for answer in reading]) for reading in question.readings if reading
        ],
        "paths": [{"topic": path.topic, "relations": path.relations} for path in question.paths],
        "sparql": question.sparql,
        "runs": [
            _result_detail(result, found) if result and found else None
            for result, found in zip(results, marks, strict=True)
        ],
    }


def _result_detail(result: Result, found: Mark) -> Json:
    right: Sequence[bool | None] = found.right or [None] * len(result.answers)
    answers = [{**_entity_ref(answer), "right": ok} for answer, ok in zip(result.answers, right, strict=True)]
    record = result.record
    return {
        "state": found.state,
        "score": found.score._asdict() if found.score and not result.failed else None,
        "answers": _truncate(answers),
        "missed": _truncate([_entity_ref(gold) for gold in found.missed]),
        "outcome": result.outcome,
        "error": result.error,
        "stopped_by": record.get("stopped_by"),
        "paths": _as_list(record.get("paths")),
        "evidence": _truncate(_as_list(record.get("evidence"))),
        "trace": _as_list(record.get("trace")),
        "usage": dict(result.usage),
    }


def _entity_ref(named: EntityRef) -> Json:
    return {"id": named.id, "name": named.name}


def _truncate(items: Sequence[Json]) -> Json:
    return {"all": len(items), "items": list(items[:MAX_LISTED_ITEMS])}


def _as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
