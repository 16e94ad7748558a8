"""What the page knows of each question: how each run did, an index to search, and packed details.

Parts are unpacked one at a time, so that a page of many thousand records opens at once.
"""

import base64
import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.report.groups import DatasetGroup
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring.matching import AnswerIndex, answer_keys
from kgqa.evaluation.scoring.run_metrics import COST_LABELS
from kgqa.evaluation.scoring.scores import ZERO_SCORE, Score, reading_preference, score_answers
from kgqa.runtime.record_text import OUTAGES, OUTCOME_LABELS

QUESTIONS_PER_PART = 100

MAX_LISTED_ITEMS = 100
"""Answers, gold answers and facts that the page lists of a record at most; it says how many there are."""

MAX_SEARCHED_ANSWERS = 5  # gold answers, and answers of a run, that the search looks through at most

MarkState = Literal["right", "partly", "wrong", "failed", "unscored", "missing"]
"""``right``: all gold answers and nothing else. ``partly``: some answer is right. ``unscored``: no gold."""

_NOT_ASKED = "."  # the letter of a run without a mark; that of any other mark is the first one of its state

Json = dict[str, Any]


class Mark(NamedTuple):
    """How a result did, and what its answers were compared with."""

    state: MarkState
    score: Score | None = None
    right: tuple[bool, ...] | None = None
    """For each answer whether it is a gold answer; None without gold."""
    missed: tuple[EntityRef, ...] = ()
    """The gold answers that were not given."""


def mark_result(result: Result | None, question: Question) -> Mark:
    """Mark a result, or its absence, by the reading of the question that fits it best."""
    if result is None:
        return Mark("missing")
    score = score_answers(result.answers, question)
    if score is None:
        return Mark("failed" if result.failed else "unscored")
    readings = [reading for reading in question.readings if reading]
    gold = max(readings, key=lambda reading: _preference(result.answers, reading, question))
    index = AnswerIndex([answer_keys(one, aliases=True) for one in gold])
    edges = [index.find(answer_keys(answer)) for answer in result.answers]
    given = {place for places in edges for place in places}
    missed = tuple(answer for place, answer in enumerate(gold) if place not in given)
    state: MarkState = "partly" if score.hit_any else "wrong"
    state = "failed" if result.failed else "right" if score.f1 == 1 else state
    return Mark(state, score, tuple(map(bool, edges)), missed)


def _preference(answers: Sequence[EntityRef], reading: tuple[EntityRef, ...], question: Question) -> Any:
    return reading_preference(score_answers(answers, replace(question, readings=(reading,))) or ZERO_SCORE)


@dataclass(frozen=True, slots=True)
class PackedQuestions:
    """The packed index and the packed parts, each gzip in base64."""

    index: str
    parts: tuple[str, ...]


def pack_questions(groups: Sequence[DatasetGroup]) -> PackedQuestions:
    """Pack the questions of all groups."""
    rows: list[Json] = []
    details: list[Json] = []
    runs: list[Json] = []
    for place, group in enumerate(groups):
        runs += ({"number": run.number, "name": run.name.full, "group": place} for run in group.runs)
        asked = [{question.id for question in run.questions} for run in group.runs]
        for question in group.questions:
            results = [run.results.get(question.id) for run in group.runs]
            pairs = zip(results, asked, strict=True)
            marks = [mark_result(result, question) if question.id in ids else None for result, ids in pairs]
            rows.append({**_index_row(question, results, marks), "group": place})
            details.append(_question_detail(question, results, marks))
    index = {
        "part": QUESTIONS_PER_PART,
        "runs": runs,
        "groups": [{"name": group.name, "gold": group.no_gold is None} for group in groups],
        "questions": rows,
        "labels": {"outcomes": {**OUTCOME_LABELS, **OUTAGES}, "costs": COST_LABELS},
    }
    starts = range(0, len(details), QUESTIONS_PER_PART)
    parts = (_compress(details[start : start + QUESTIONS_PER_PART]) for start in starts)
    return PackedQuestions(_compress(index), tuple(parts))


def _compress(value: object) -> str:
    written = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()
    return base64.b64encode(gzip.compress(written, compresslevel=6, mtime=0)).decode()


def _index_row(question: Question, results: Sequence[Result | None], marks: Sequence[Mark | None]) -> Json:
    answers = [answer for result in results if result for answer in result.answers[:MAX_SEARCHED_ANSWERS]]
    searched = [*question.topics, *question.gold[:MAX_SEARCHED_ANSWERS], *answers]
    return {
        "id": question.id,
        "text": question.text,
        "hops": question.hops,
        "kind": question.kind,
        "level": question.level,
        "marks": "".join(mark.state[0] if mark else _NOT_ASKED for mark in marks),
        "outcomes": [result.outcome if result else None for result in results],
        "words": " ".join(dict.fromkeys(text for ref in searched if (text := ref.name or ref.id))),
    }


def _question_detail(
    question: Question, results: Sequence[Result | None], marks: Sequence[Mark | None]
) -> Json:
    return {
        "topics": [_entity_ref(topic) for topic in question.topics],
        "readings": [_truncate(map(_entity_ref, reading)) for reading in question.readings if reading],
        "paths": [{"topic": path.topic, "relations": path.relations} for path in question.paths],
        "sparql": question.sparql,
        "runs": [
            _result_detail(result, mark) if result and mark else None
            for result, mark in zip(results, marks, strict=True)
        ],
    }


def _result_detail(result: Result, mark: Mark) -> Json:
    right: Sequence[bool | None] = mark.right or [None] * len(result.answers)
    pairs = zip(result.answers, right, strict=True)
    noted = (result.record.get(key) for key in ("paths", "evidence", "trace"))
    paths, evidence, trace = (value if isinstance(value, list) else [] for value in noted)
    return {
        "state": mark.state,
        "score": mark.score._asdict() if mark.score and not result.failed else None,
        "answers": _truncate({**_entity_ref(answer), "right": is_right} for answer, is_right in pairs),
        "table": _short_table(result.record.get("table")),
        "missed": _truncate(map(_entity_ref, mark.missed)),
        "reading": result.record.get("reading"),
        "no_query": result.record.get("query", "") is None,
        "outcome": result.outcome,
        "error": result.error,
        "confidence": result.record.get("confidence"),
        "stopped_by": result.record.get("stopped_by"),
        "paths": paths,
        "evidence": _truncate(evidence),
        "trace": trace,
        "usage": dict(result.usage),
    }


def _short_table(table: Any) -> Json | None:
    """Return the first rows of a record's table, as it has them."""
    rows = table.get("rows") if isinstance(table, dict) else None
    return {"columns": table.get("columns"), "rows": _truncate(rows)} if isinstance(rows, list) else None


def _entity_ref(ref: EntityRef) -> Json:
    return {"id": ref.id, "name": ref.name}


def _truncate(items: Iterable[Json]) -> Json:
    every = list(items)
    return {"all": len(every), "items": every[:MAX_LISTED_ITEMS]}
