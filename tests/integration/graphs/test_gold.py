"""With a perfect model, CoR answers every question of the public complete graphs."""

import asyncio
import json
from functools import cache
from typing import Any

import pytest

import kgqa
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.tests.support.cases import EVERY_QUESTION, public
from kgqa.tests.support.perfect import DATA, PerfectModel, gold_paths, hop_name, questions

SETS = [
    ("pathquestion/pq-2h", "pathquestion/pq-2h"),
    ("pathquestion/pq-3h", "pathquestion/pq-3h"),
    ("pathquestion/pql-2h", "pathquestion/pql-2h"),
    ("metaqa/metaqa", "metaqa/metaqa-1hop-test-sample"),
    ("metaqa/metaqa", "metaqa/metaqa-2hop-test-sample"),
    ("metaqa/metaqa", "metaqa/metaqa-3hop-test-sample"),
    ("worldcup/wc2014", "worldcup/wc-p1"),
    ("worldcup/wc2014", "worldcup/wc-p2"),
    ("worldcup/wc2014", "worldcup/wc-c"),
]


def ids(shown: list[dict[str, Any]]) -> set[str]:
    return {item["id"] for item in shown}


async def replayed(path: list[dict[str, Any]], graph: KnowledgeGraph) -> set[str]:
    """Follow a record's path on the graph and give the ids at its end."""
    chain = Chain(Entity(path[0]["head"]["id"]), tuple(Hop(s["relation"], s["forward"]) for s in path))
    return {candidate.term.id for candidate in await graph.follow_chain(chain)}


async def wrong(record: dict[str, Any], question: dict[str, Any], graph: KnowledgeGraph) -> str | None:
    """Say what is wrong with a record, None if nothing is."""
    hops = sum(map(len, gold_paths(question).values()))
    if ids(record["answers"]) != ids(question["answers"]):
        return "answers"
    if record["outcome"] not in {"grounded", "grounded_unverified"}:
        return "outcome"
    if record["usage"]["llm_calls"] > 2 * hops:
        return "calls"
    for path in record["paths"]:
        if not ids(record["answers"]) <= await replayed(path, graph):
            return "path"
    return None


MOST = None if EVERY_QUESTION else 15
"""Questions tried of each set, evenly spread; all of them with KGQA_EVERY_QUESTION=1."""

MOST_UNREAD = 0.05
"""Of the questions, those whose words do not all say something of the right query; of few, one."""


def spread(name: str) -> list[dict[str, Any]]:
    found = questions(name)
    return found[:: -(-len(found) // MOST)] if MOST else found


@cache
def opened(kg: str) -> KnowledgeGraph:
    return open_graph([DATA / f"{kg}.nt.gz"])


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("kg", "name"), public(*SETS))
async def test_a_perfect_model_answers(kg: str, name: str) -> None:
    graph = await asyncio.to_thread(opened, kg)
    model, problems, unread = PerfectModel(), [], 0
    asked = spread(name)
    for question in asked:
        model.question = question
        topics = [topic["id"] for topic in question["topic_entities"]]
        record = await kgqa.aask(question["question"], topics=topics, method="cor", kg=graph, model=model)
        if problem := await wrong(record, question, graph):
            problems.append((problem, question["id"], json.dumps(record)[:600]))
        unread += record["outcome"] == "grounded_unverified"
        model.history.clear()
    assert not problems, f"{len(problems)} wrong, first: {problems[0]}"
    assert unread <= max(1, MOST_UNREAD * len(asked))


def test_the_gold_hop_is_told_from_its_inverse() -> None:
    assert hop_name(Hop("http://x/r/parent", forward=False)) == "^parent"
