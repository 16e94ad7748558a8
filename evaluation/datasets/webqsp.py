"""WebQSP: the official release, and PoG's list of it with topic entities.

Yih et al. (2016), The Value of Semantic Parse Labeling for Knowledge Base Question
Answering. Each parse is a reading of the question. Topic, path and SPARQL are those of the
first parse that names a topic: paths of several parses are no branches of one question.
"""

from typing import Any, Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    Format,
    Text,
    Value,
    entity_or_literal,
    first_topics,
    gold_readings,
    other_topics,
)
from kgqa.evaluation.question import EntityRef, GoldPath, Question


class Answer(TypedDict, total=False):
    """An entity with its mid, or a value."""

    AnswerType: str | None
    AnswerArgument: Value | None
    EntityName: Value | None


class Parse(TypedDict, total=False):
    """One way to understand the question; its chain leaves constraints out."""

    TopicEntityMid: str | None
    TopicEntityName: str | None
    InferentialChain: list[Text] | None
    Sparql: str | None
    Answers: list[Answer] | None


class Record(TypedDict, total=False):
    """One question; ``topic_entity`` is PoG's, ``qid_topic_entity`` ToG's."""

    QuestionId: Value | None
    RawQuestion: Required[Text]
    Parses: Required[list[Parse]]
    topic_entity: dict[str, str | None] | None
    qid_topic_entity: dict[str, str | None] | None


def _to_question(record: Record) -> Question:
    parses = record["Parses"]
    main = next((parse for parse in parses if parse.get("TopicEntityMid")), parses[0] if parses else Parse())
    mid, chain = main.get("TopicEntityMid"), main.get("InferentialChain")
    named = record.get("topic_entity")
    if named is None and mid:
        named = {mid: main.get("TopicEntityName")}
    given = named, record.get("qid_topic_entity")
    paths = (GoldPath(mid or None, tuple(chain)),) if chain else ()
    return Question(
        id=record.get("QuestionId") or "",
        text=record["RawQuestion"],
        topics=first_topics(*given),
        elsewhere=other_topics(*given),
        readings=gold_readings(*(map(_answer, parse.get("Answers") or []) for parse in parses)),
        paths=paths,
        sparql=main.get("Sparql"),
        hops=len(chain) if chain else None,
    )


def _answer(answer: Answer) -> EntityRef | None:
    return entity_or_literal(answer.get("AnswerType"), answer.get("AnswerArgument"), answer.get("EntityName"))


def _recognises(record: Any) -> bool:
    return isinstance(record, dict) and "Parses" in record


FORMAT = Format("webqsp", _recognises, TypeAdapter(Record), _to_question)
