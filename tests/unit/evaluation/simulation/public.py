"""Public question sets, answered by a method with a simulated model."""

import asyncio
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import kgqa
from kgqa.data import SAMPLE_GRAPH
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.scoring.scores import Score, score_answers
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.runtime.record import Record
from kgqa.tests.support.cases import EVERY_QUESTION, NO_DATA, tried
from kgqa.tests.support.perfect import DATA

GRAPHS = {
    "sample": ["sample"],
    "metaqa": ["metaqa/metaqa"],
    "worldcup": ["worldcup/wc2014"],
    "freebase": ["freebase/freebase_slice", "freebase/freebase_slice_gnnrag"],
    "grasp": ["freebase/freebase_grasp_slice"],
} | {name: [f"pathquestion/{name}"] for name in ("pq-2h", "pq-3h", "pql-2h")}


def available(cases: Iterable[tuple[str, str]]) -> list[Any]:
    """Return the pairs of graph and question set that can be tried; without the data folder the sample's."""
    return tried(cases, lambda graph, _: None if graph == "sample" or DATA.is_dir() else NO_DATA)


@cache
def graph_of(name: str) -> KnowledgeGraph:
    """Open a graph of the data folder, once."""
    if name == "sample":
        return open_graph([SAMPLE_GRAPH])
    return open_graph([DATA / f"{file}.nt.gz" for file in GRAPHS[name]])


def questions(name: str, most: int) -> Sequence[Question]:
    """Return questions of a set, evenly spread."""
    found = load(name if name == "sample" else DATA / f"{name}.jsonl.gz").questions
    return found if EVERY_QUESTION else found[:: max(1, len(found) // most)]


async def answered(
    asked: Sequence[Question], graph: KnowledgeGraph, errors: ErrorRates, **options: object
) -> list[tuple[Record, Score]]:
    """Ask each question, a few at a time, and score what comes back."""
    few = asyncio.Semaphore(4)

    async def one(question: Question) -> tuple[Record, Score]:
        model = SimulatedModel(question, graph, errors)
        topics = [{"id": topic.id, "name": topic.name} for topic in question.topics]
        async with few:
            record = await kgqa.aask(
                question.text, topics=topics, model=model, **{"kg": graph, "method": "cor", **options}
            )
        found = score_answers(
            [EntityRef(answer["id"], answer["name"]) for answer in record["answers"]], question
        )
        assert found is not None, question.id
        return record, found

    return await asyncio.gather(*map(one, asked))


async def f1(
    asked: Sequence[Question], graph: KnowledgeGraph, errors: ErrorRates, **options: object
) -> float:
    """The mean F1."""
    scores = [found.f1 for _, found in await answered(asked, graph, errors, **options)]
    return sum(scores) / len(scores)
