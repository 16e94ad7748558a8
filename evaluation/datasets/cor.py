"""The schema in which CoR republishes WebQSP, CWQ, GrailQA and QALD-10."""

from typing import Any, Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import Format, Text, Value, entity_ref, gold_readings, unique_refs
from kgqa.evaluation.question import Question


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
        topics=unique_refs(
            entity_ref(item.get("id"), item.get("name")) for item in record.get("topic_entity") or []
        ),
        readings=gold_readings(
            entity_ref(item.get("id"), item.get("name")) for item in record.get("answer") or []
        ),
        sparql=record.get("sparql"),
        kind=(record.get("meta_data") or {}).get("compositionality_type"),
    )


def _recognises(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and "question" in record
        and any(isinstance(record.get(key), list) for key in ("answer", "topic_entity"))
    )


FORMAT = Format("cor", _recognises, TypeAdapter(Record), _to_question)
