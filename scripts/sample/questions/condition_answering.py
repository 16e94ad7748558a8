"""Gives questions with conditions their answers in the graph, and the files what they hold of them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from kgqa.kg.proof.compilation import write_query
from kgqa.kg.proof.query import AnswerQuery
from kgqa.scripts.sample.graph import RDF_TYPE
from kgqa.scripts.sample.questions.condition_draft import ConditionDraft, find_topic
from kgqa.scripts.sample.questions.conditions import CONDITIONS
from kgqa.scripts.sample.questions.lookup import Lookup, QuestionError
from kgqa.scripts.sample.questions.without_topic import WITHOUT_TOPIC

_MOST_ANSWERS = 40
_QUERY = TypeAdapter(AnswerQuery)


def build_without_topic(triples: Iterable[str]) -> list[dict[str, Any]]:
    """Answer every draft without a topic on the graph; see `build_conditions`."""
    return _build(triples, WITHOUT_TOPIC)


def build_conditions(triples: Iterable[str]) -> list[dict[str, Any]]:
    """Answer every draft on the graph.

    Args:
        triples: The graph, as lines of N-Triples.

    Raises:
        QuestionError: The answers are none or too many, or a condition changes nothing.
    """
    return _build(triples, CONDITIONS)


def _build(
    triples: Iterable[str], drafts_by_kind: Mapping[str, Sequence[ConditionDraft]]
) -> list[dict[str, Any]]:
    graph = Lookup(triples)
    return [
        {"id": f"{kind}-{number:03d}", **_question(graph, draft), "kind": kind}
        for kind, drafts in drafts_by_kind.items()
        for number, draft in enumerate(drafts, 1)
    ]


def _question(graph: Lookup, draft: ConditionDraft) -> dict[str, Any]:
    query = draft.query(graph)
    answers = _answers(graph, query)
    if not 1 <= len(answers) <= _MOST_ANSWERS:
        raise QuestionError(f"{draft.text} has {len(answers)} answers")
    for fewer in _without_one(query):
        if _answers(graph, fewer) == answers:
            raise QuestionError(f"a condition of {draft.text} changes nothing")
    topics = [graph.find(way.topic) for way in draft.ways if way.topic.kind not in {"class", "anything"}]
    return {
        "question": re.sub(r"[][]", "", draft.text),
        "topic_entities": [{"id": topic.value, "name": graph.name(topic)} for topic in topics],
        "answers": [{"id": id, "name": name} for id, name in answers],
        "gold_paths": [
            {"topic": find_topic(way.topic, graph).id, "path": list(way.path)} for way in draft.ways
        ],
        "sparql": write_query(query, (RDF_TYPE,)),
        "query": _QUERY.dump_python(query, mode="json", exclude_defaults=True),
        "hops": max(len(way.path) for way in draft.ways),
    }


def _answers(graph: Lookup, query: AnswerQuery) -> list[tuple[str, str]]:
    found = graph.select(write_query(query, (RDF_TYPE,)))
    return sorted((term.value, graph.name(term)) for term in found)


def _without_one(query: AnswerQuery) -> Iterator[AnswerQuery]:
    """Yield the query without each of its conditions."""
    for place in range(len(query.conditions)):
        yield replace(query, conditions=query.conditions[:place] + query.conditions[place + 1 :])
