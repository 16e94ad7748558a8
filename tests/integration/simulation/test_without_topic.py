"""With a perfect simulated model, compose answers questions that name no topic."""

from pathlib import Path

import pytest

from kgqa.evaluation.datasets import load
from kgqa.evaluation.simulation import ErrorRates
from kgqa.tests.support.cases import EVERY_QUESTION
from kgqa.tests.unit.evaluation.simulation.public import answered, available, graph_of

QUESTIONS = {
    "sample": "without_topic",
    "worldcup": Path(__file__).parents[2] / "unit" / "data" / "worldcup_without_topic.jsonl",
}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("graph", "name"), available(QUESTIONS.items()))
async def test_from_a_class_or_from_anything(graph: str, name: str | Path) -> None:
    asked = load(name).questions[:: 1 if EVERY_QUESTION else 7]
    results = await answered(asked, graph_of(graph), ErrorRates(), method="compose")
    wrong = [question.text for question, (_, score) in zip(asked, results, strict=True) if score.f1 < 1]
    assert len(wrong) <= 0.1 * len(asked), wrong
    assert all(record["query"] for record, score in results if score.f1 == 1)
