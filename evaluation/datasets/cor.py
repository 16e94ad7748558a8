"""The schema in which CoR republishes WebQSP, CWQ, GrailQA and QALD-10."""

from collections.abc import Iterator
from typing import Any, Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    Format,
    Text,
    Value,
    entity_ref,
    gold_readings,
    has_fields,
    unique_refs,
)
from kgqa.evaluation.question import EntityRef, Question


class Item(TypedDict, total=False):
    """A topic or an answer; the id of a literal is empty (WebQSP) or its value (QALD-10)."""

    id: Value | None
    name: Value | None


class About(TypedDict, total=False):
    """What else is known of a question."""

    compositionality_type: str | None


class Record(TypedDict, total=False):
    """One question."""

    id: Value | None
    question: Required[Text]
    sparql: str | None
    meta_data: About | None
    answer: list[Item] | None
    topic_entity: list[Item] | None


def _to_question(record: Record) -> Question:
    return Question(
        id=record.get("id") or "",
        text=record["question"],
        topics=unique_refs(_refs(record.get("topic_entity"))),
        readings=gold_readings(_refs(record.get("answer"))),
        sparql=record.get("sparql"),
        kind=(record.get("meta_data") or {}).get("compositionality_type"),
    )


def _refs(items: list[Item] | None) -> Iterator[EntityRef | None]:
    return (entity_ref(item.get("id"), item.get("name")) for item in items or [])


def _recognises(record: Any) -> bool:
    lists = (record.get("answer"), record.get("topic_entity")) if has_fields("question")(record) else ()
    return any(isinstance(each, list) for each in lists)


FORMAT = Format("cor", _recognises, TypeAdapter(Record), _to_question)
