"""GrailQA: the official release, and PoG's list of it with topic entities.

Gu et al. (2021), Beyond I.I.D.: Three Levels of Generalization for Question Answering on
Knowledge Bases. Where a record has no ``topic_entity``, the entities of its graph query
are the topics. The public test set has questions only, so none of them is scored.
"""

from typing import Any, Required

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from kgqa.evaluation.datasets.format import (
    Format,
    Hops,
    Text,
    Value,
    entity_or_literal,
    entity_ref,
    first_topics,
    gold_readings,
    other_topics,
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


class Record(TypedDict, total=False):
    """One question."""

    qid: Value | None
    question: Required[Text]
    answer: list[Answer] | None
    function: str | None
    level: str | None
    sparql_query: str | None
    graph_query: GraphQuery | None
    topic_entity: dict[str, str | None] | None
    qid_topic_entity: dict[str, str | None] | None
    hops: Hops | None


def _to_question(record: Record) -> Question:
    return Question(
        id=record.get("qid") or "",
        text=record["question"],
        topics=_topics(record),
        elsewhere=other_topics({}, record.get("qid_topic_entity")),
        readings=gold_readings(
            entity_or_literal(
                answer.get("answer_type"), answer.get("answer_argument"), answer.get("entity_name")
            )
            for answer in record.get("answer") or []
        ),
        sparql=record.get("sparql_query"),
        hops=record.get("hops"),
        kind=record.get("function"),
        level=record.get("level"),
    )


def _topics(record: Record) -> tuple[EntityRef, ...]:
    if record.get("topic_entity") is not None:
        return first_topics(record["topic_entity"])
    nodes = (record.get("graph_query") or {}).get("nodes") or []
    return unique_refs(
        entity_ref(node.get("id"), node.get("friendly_name"))
        for node in nodes
        if node.get("node_type") == "entity"
    )


def _recognises(record: Any) -> bool:
    return isinstance(record, dict) and {"qid", "question"} <= set(record)


FORMAT = Format("grailqa", _recognises, TypeAdapter(Record), _to_question)
