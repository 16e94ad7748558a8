"""With a perfect simulated model ToG answers everything, and by a beam of entities what that can hold."""

from collections.abc import Sequence
from typing import Any

import pytest

from kgqa.evaluation.question import Question
from kgqa.evaluation.simulation import ErrorRates
from kgqa.tests.support.cases import needs_data
from kgqa.tests.unit.evaluation.simulation.public import answered, available, f1, graph_of, questions

CHAINS = [
    ("sample", "sample"),
    ("pq-2h", "pathquestion/pq-2h"),
    ("pq-3h", "pathquestion/pq-3h"),
    ("pql-2h", "pathquestion/pql-2h"),
    ("metaqa", "metaqa/metaqa-1hop-test-sample"),
    ("metaqa", "metaqa/metaqa-2hop-test-sample"),
    ("worldcup", "worldcup/wc-p1"),
]


def chains(name: str) -> Sequence[Question]:
    """Questions whose answers are all that a chain leads to."""
    return [question for question in questions(name, 8) if name != "sample" or question.kind == "chain"]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("graph", "name"), available(CHAINS))
@pytest.mark.parametrize("held", [{"beam": "chains"}, {"beam": "entities", "width": 50}])
async def test_what_the_beam_can_hold_is_answered_and_proved(
    graph: str, name: str, held: dict[str, Any]
) -> None:
    asked = chains(name)
    results = await answered(asked, graph_of(graph), ErrorRates(), method="tog", **held)
    assert not [q.id for q, (_, score) in zip(asked, results, strict=True) if score.f1 < 1]
    for record, _ in results:
        by_graph = all(condition["by"] == "graph" for condition in record["conditions"])
        assert record["query"] and (record["outcome"] == "grounded") == by_graph


@pytest.mark.timeout(1800)
@needs_data
async def test_what_the_beam_cannot_hold_is_lost() -> None:
    asked, opened = questions("metaqa/metaqa-3hop-test-sample", most=6), graph_of("metaqa")
    held = {"method": "tog", "beam": "entities"}
    narrow, usual = [await f1(asked, opened, ErrorRates(), width=width, **held) for width in (1, 3)]
    assert narrow + 0.1 < usual < await f1(asked, opened, ErrorRates(), method="cor")


@pytest.mark.timeout(1800)
@needs_data
async def test_some_answer_is_found_by_a_narrow_beam_and_no_wrong_one() -> None:
    asked = chains("pathquestion/pq-3h")
    results = await answered(asked, graph_of("pq-3h"), ErrorRates(), method="tog", beam="entities", width=1)
    assert {(score.hit_at_1, score.precision) for _, score in results} == {(1, 1.0)}


async def test_nothing_comes_back_to_what_was_pruned() -> None:
    asked, opened = chains("sample")[::2], graph_of("sample")
    astray = ErrorRates(accuracy=0, recall=0)
    assert await f1(asked, opened, astray, method="tog") == 0
    assert await f1(asked, opened, ErrorRates(accuracy=0, recall=1), method="tog", width=50) > 0.5
