"""WebQSP: the official release, and PoG's list of it with topic entities.

Yih et al. (2016), The Value of Semantic Parse Labeling for Knowledge Base Question
Answering. Each parse is a reading of the question. Topic, path and SPARQL are those of the
first parse that names a topic: paths of several parses are no branches of one question.
"""

from typing import Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    Format,
    Text,
    Value,
    WithTopics,
    entity_or_literal,
    gold_readings,
    has_fields,
    topics_and_others,
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


class Record(WithTopics, total=False):
    """One question."""

    QuestionId: Value | None
    RawQuestion: Required[Text]
    Parses: Required[list[Parse]]


def _to_question(record: Record) -> Question:
    parses = record["Parses"]
    main = next((parse for parse in parses if parse.get("TopicEntityMid")), parses[0] if parses else Parse())
    mid, chain = main.get("TopicEntityMid"), main.get("InferentialChain")
    names = record.get("topic_entity")
    if names is None and mid:
        names = {mid: main.get("TopicEntityName")}
    topics, others = topics_and_others(names, record.get("qid_topic_entity"))
    return Question(
        id=record.get("QuestionId") or "",
        text=record["RawQuestion"],
        topics=topics,
        other_topics=others,
        readings=gold_readings(*(map(_answer, parse.get("Answers") or []) for parse in parses)),
        paths=(GoldPath(mid or None, tuple(chain)),) if chain else (),
        sparql=main.get("Sparql"),
        hops=len(chain) if chain else None,
    )


def _answer(answer: Answer) -> EntityRef | None:
    return entity_or_literal(answer.get("AnswerType"), answer.get("AnswerArgument"), answer.get("EntityName"))


FORMAT = Format("webqsp", has_fields("Parses"), TypeAdapter(Record), _to_question)
