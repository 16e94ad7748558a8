"""QALD: the official JSON of the challenges (QALD-7 to 10), and ToG's list of QALD-10.

Usbeck et al. (2023), QALD-10: The 10th challenge on question answering over linked data.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Required

from pydantic import AfterValidator, TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    Format,
    Text,
    Value,
    WithTopics,
    entity_ref,
    gold_readings,
    has_fields,
    with_topics,
)
from kgqa.evaluation.question import EntityRef, Question


class _Wording(TypedDict, total=False):
    language: str | None
    string: str | None


def _check_wordings(wordings: list[_Wording]) -> list[_Wording]:
    if not any((wording.get("string") or "").strip() for wording in wordings):
        raise ValueError("should hold the question in a language")
    return wordings


class _Query(TypedDict, total=False):
    sparql: str | None


class _Cell(TypedDict, total=False):
    type: Required[str]
    value: Required[Value]


class _Head(TypedDict, total=False):
    vars: list[str] | None


class _Results(TypedDict, total=False):
    bindings: list[dict[str, _Cell]] | None


class _Answer(TypedDict, total=False):
    """A SPARQL result: rows, or a truth value."""

    head: _Head | None
    results: _Results | None
    boolean: Value | None


class _Official(TypedDict, total=False):
    id: Value | None
    question: Required[Annotated[list[_Wording], AfterValidator(_check_wordings)]]
    query: _Query | None
    answers: list[_Answer] | None


class _Listed(WithTopics, total=False):
    """A question of ToG's list; an answer is ``id: label``, a literal is its own label."""

    question: Required[Text]
    answer: dict[str, Value | None] | None
    sparql: str | None


def _official_question(record: _Official) -> Question:
    wordings = sorted(record["question"], key=lambda wording: wording.get("language") != "en")
    texts = ((wording.get("string") or "").strip() for wording in wordings)
    return Question(
        id=record.get("id") or "",
        text=next(filter(None, texts)),
        readings=gold_readings(found for answer in record.get("answers") or [] for found in _answers(answer)),
        sparql=(record.get("query") or {}).get("sparql"),
    )


def _answers(answer: _Answer) -> Iterator[EntityRef | None]:
    """Return what stands under the first variable of each row, or the truth value."""
    if (truth := answer.get("boolean")) is not None:
        yield entity_ref(truth, truth)
    variables = (answer.get("head") or {}).get("vars") or []
    for row in (answer.get("results") or {}).get("bindings") or []:
        first = next((row[variable] for variable in variables if variable in row), None)
        cell = first or next(iter(row.values()), None)
        if cell and cell["type"] != "bnode":
            yield entity_ref(cell["value"], None if cell["type"] == "uri" else cell["value"])


def _listed_question(record: _Listed) -> Question:
    answers = (entity_ref(id, label) for id, label in (record.get("answer") or {}).items())
    question = Question("", record["question"], readings=gold_readings(answers), sparql=record.get("sparql"))
    return with_topics(question, record)


FORMATS: tuple[Format[Any], ...] = (
    Format("qald", has_fields(question=list), TypeAdapter(_Official), _official_question),
    Format("qald", has_fields("question", answer=dict), TypeAdapter(_Listed), _listed_question),
)
