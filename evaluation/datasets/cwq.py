"""ComplexWebQuestions: the official release, and PoG's list of it with topic entities.

Talmor and Berant (2018), The Web as a Knowledge-base for Answering Complex Questions.
"""

from collections.abc import Iterator
from typing import Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    ENTITY_ID,
    Format,
    Text,
    Value,
    WithTopics,
    entity_ref,
    gold_readings,
    has_fields,
    topics_and_others,
)
from kgqa.evaluation.question import EntityRef, Question


class Answer(TypedDict, total=False):
    """An answer of the official release; a literal may have its value as id and no name."""

    answer_id: Value | None
    answer: Value | None
    aliases: list[Value] | None


class Record(WithTopics, total=False):
    """One question: ``answers`` is official, ``answer`` and the topics are PoG's."""

    ID: Value | None
    question: Required[Text]
    compositionality_type: str | None
    sparql: str | None
    answers: list[Answer] | None
    answer: Value | None


def _to_question(record: Record) -> Question:
    topics, others = topics_and_others(record.get("topic_entity"), record.get("qid_topic_entity"))
    return Question(
        id=record.get("ID") or "",
        text=record["question"],
        topics=topics,
        other_topics=others,
        readings=gold_readings(_answers(record)),
        sparql=record.get("sparql"),
        kind=record.get("compositionality_type"),
    )


def _answers(record: Record) -> Iterator[EntityRef | None]:
    answers = record.get("answers")
    if answers is None:
        yield entity_ref(None, record.get("answer"))
    for answer in answers or []:
        id, name = answer.get("answer_id"), answer.get("answer")
        if name is None and id and not ENTITY_ID.fullmatch(id):
            name = id
        yield entity_ref(id, name, answer.get("aliases") or ())


FORMAT = Format("cwq", has_fields("ID", "question"), TypeAdapter(Record), _to_question)
