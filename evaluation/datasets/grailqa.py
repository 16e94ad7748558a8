"""GrailQA: the official release, and PoG's list of it with topic entities.

Gu et al. (2021), Beyond I.I.D.: Three Levels of Generalization for Question Answering on
Knowledge Bases. Where a record has no ``topic_entity``, the entities of its graph query
are the topics. The public test set has questions only, so none of them is scored.
"""

from typing import Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    Format,
    Hops,
    Text,
    Value,
    WithTopics,
    entity_or_literal,
    entity_ref,
    gold_readings,
    has_fields,
    topics_and_others,
    unique_refs,
)
from kgqa.evaluation.question import EntityRef, Question


class Answer(TypedDict, total=False):
    """An entity with its mid, or a value."""

    answer_type: str | None
    answer_argument: Value | None
    entity_name: Value | None


class Node(TypedDict, total=False):
    """A node of the graph query."""

    node_type: str | None
    id: Value | None
    friendly_name: Value | None


class GraphQuery(TypedDict, total=False):
    """The query as a graph."""

    nodes: list[Node] | None


class Record(WithTopics, total=False):
    """One question."""

    qid: Value | None
    question: Required[Text]
    answer: list[Answer] | None
    function: str | None
    level: str | None
    sparql_query: str | None
    graph_query: GraphQuery | None
    hops: Hops | None


def _to_question(record: Record) -> Question:
    topics, others = topics_and_others(record.get("topic_entity") or {}, record.get("qid_topic_entity"))
    if record.get("topic_entity") is None:
        nodes = (record.get("graph_query") or {}).get("nodes") or []
        entities = (node for node in nodes if node.get("node_type") == "entity")
        topics = unique_refs(entity_ref(node.get("id"), node.get("friendly_name")) for node in entities)
    return Question(
        id=record.get("qid") or "",
        text=record["question"],
        topics=topics,
        other_topics=others,
        readings=gold_readings(map(_answer, record.get("answer") or [])),
        sparql=record.get("sparql_query"),
        hops=record.get("hops"),
        kind=record.get("function"),
        level=record.get("level"),
    )


def _answer(answer: Answer) -> EntityRef | None:
    kind, argument = answer.get("answer_type"), answer.get("answer_argument")
    return entity_or_literal(kind, argument, answer.get("entity_name"))


FORMAT = Format("grailqa", has_fields("qid", "question"), TypeAdapter(Record), _to_question)
