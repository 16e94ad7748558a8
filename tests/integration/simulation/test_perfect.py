"""With a perfect simulated model, CoR answers every question that can be derived from its graph."""

import gzip
import json
from collections.abc import AsyncIterator, Sequence

import pytest

from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.simulation import ErrorRates
from kgqa.evaluation.simulation.graph_cache import resolve_hops
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity
from kgqa.tests.support.perfect import DATA
from kgqa.tests.unit.evaluation.simulation.public import answered, available, graph_of, questions

COMPLETE = [
    ("sample", "sample"),
    ("pq-2h", "pathquestion/pq-2h"),
    ("pq-3h", "pathquestion/pq-3h"),
    ("pql-2h", "pathquestion/pql-2h"),
    ("metaqa", "metaqa/metaqa-1hop-test-sample"),
    ("metaqa", "metaqa/metaqa-2hop-test-sample"),
    ("metaqa", "metaqa/metaqa-3hop-test-sample"),
    ("worldcup", "worldcup/wc-p1"),
    ("worldcup", "worldcup/wc-p2"),
    ("worldcup", "worldcup/wc-c"),
]

SLICES = [
    ("freebase", "freebase/webqsp_slice_union"),
    ("freebase", "freebase/cwq_slice_union"),
    ("freebase", "freebase/grailqa_slice"),
    ("grasp", "freebase/webqsp_grasp_slice"),
    ("grasp", "freebase/cwq_grasp_slice"),
]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("graph", "name"), available(COMPLETE))
async def test_all_of_a_complete_graph(graph: str, name: str) -> None:
    asked = questions(name, most=15)
    results = await answered(asked, graph_of(graph), ErrorRates())
    wrong = [q.id for q, (record, score) in zip(asked, results, strict=True) if score.f1 < 1]
    assert not wrong
    for record, _ in results:
        by_graph = all(condition["by"] == "graph" for condition in record["conditions"])
        assert record["query"] and (record["outcome"] == "grounded") == by_graph


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("graph", "name"), available(SLICES))
async def test_what_can_be_derived_from_a_slice_of_freebase(graph: str, name: str) -> None:
    opened = graph_of(graph)
    asked = [question async for question in derivable(questions(name, most=40), opened, name)]
    assert len(asked) > 10
    results = await answered(asked, opened, ErrorRates(), depth=10)
    wrong = [question.id for question, (_, score) in zip(asked, results, strict=True) if score.f1 < 1]
    assert not wrong


async def derivable(asked: Sequence[Question], graph: KnowledgeGraph, name: str) -> AsyncIterator[Question]:
    """Leave the questions whose path the file calls complete, and where a path leads to all gold answers.

    Their topics are in the graph; links to others are not at issue here.
    """
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        complete = {record["id"] for record in map(json.loads, lines) if record["gold_path_complete"]}
    for question in asked:
        gold = {named.id for named in question.gold}
        named = await graph.names([topic.id for topic in question.topics if topic.id])
        ends = [
            await ends_of(path.topic, path.relations, graph) for path in question.paths if path.topic in named
        ]
        if question.id in complete and None not in named.values() and any(gold <= found for found in ends):
            yield question


async def ends_of(topic: str, relations: Sequence[str], graph: KnowledgeGraph) -> set[str]:
    hops = resolve_hops(relations, graph)
    if not hops:
        return set()
    return {c.term.id for c in await graph.follow_chain(Chain(Entity(topic), hops)) if c.term.name}


async def test_without_paths_the_sample_is_answered_from_its_sparql() -> None:
    asked = [question for question in questions("sample", most=20) if question.sparql]
    bare = [Question(q.id, q.text, q.topics, q.readings, sparql=q.sparql) for q in asked]
    results = await answered(bare, graph_of("sample"), ErrorRates())
    wrong = [question.id for question, (_, score) in zip(bare, results, strict=True) if score.f1 < 1]
    assert not wrong


async def test_without_paths_and_sparql_chains_of_the_sample_are_found_on_the_graph() -> None:
    asked = [q for q in questions("sample", most=20) if q.kind == "chain" and not any(map(numeric, q.gold))]
    bare = [Question(q.id, q.text, q.topics, q.readings) for q in asked][::3]
    results = await answered(bare, graph_of("sample"), ErrorRates())
    found = [score.f1 for _, score in results]
    assert sum(found) / len(found) > 0.9


def numeric(named: EntityRef) -> bool:
    return bool(named.id and named.id[0].isdigit())
