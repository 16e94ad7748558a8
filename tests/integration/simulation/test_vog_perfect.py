"""With a perfect simulated model VoG answers what can be derived, and recovers from a plan that is wrong."""

from collections.abc import Sequence

import pytest

from kgqa.evaluation.question import Question
from kgqa.evaluation.scoring.statistics import bootstrap_interval
from kgqa.evaluation.simulation import ErrorRates
from kgqa.nodes.vog.state import ARMS
from kgqa.runtime.record import Record
from kgqa.tests.unit.evaluation.simulation.public import answered, available, graph_of, questions
from kgqa.tests.unit.graphs.test_vog_paper import PAPER

CHAINS = [
    ("sample", "sample"),
    ("pq-2h", "pathquestion/pq-2h"),
    ("pq-3h", "pathquestion/pq-3h"),
    ("pql-2h", "pathquestion/pql-2h"),
    ("metaqa", "metaqa/metaqa-1hop-test-sample"),
    ("metaqa", "metaqa/metaqa-2hop-test-sample"),
    ("metaqa", "metaqa/metaqa-3hop-test-sample"),
]
MOST = 8
WRONG_PLAN = ErrorRates(plan=0)


def chains(name: str) -> Sequence[Question]:
    """Questions whose answers are all that a chain leads to."""
    return [question for question in questions(name, MOST) if name != "sample" or question.kind == "chain"]


async def right(graph: str, asked: Sequence[Question], errors: ErrorRates, **options: object) -> list[bool]:
    results = await answered(asked, graph_of(graph), errors, method="vog", **options)
    return [score.f1 == 1 and record["outcome"] == "grounded" for record, score in results]


def revisions(record: Record) -> int:
    return sum(entry["node"] == "revise" for entry in record["trace"])


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("graph", "name"), available(CHAINS))
async def test_what_can_be_derived_is_answered_and_proved(graph: str, name: str) -> None:
    asked = chains(name)
    found = await right(graph, asked, ErrorRates())
    assert not [question.id for question, is_right in zip(asked, found, strict=True) if not is_right]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("graph", "name"), available(CHAINS[:2]))
async def test_the_paper_to_the_letter_answers_as_well(graph: str, name: str) -> None:
    """Not all is proved: what the entropy filter leaves out is not retrieved."""
    results = await answered(chains(name), graph_of(graph), ErrorRates(), method="vog", **PAPER)
    assert [score.f1 for _, score in results] == [1] * len(results)
    assert all(record["outcome"] in {"grounded", "parametric"} for record, _ in results)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("graph", "name"), available(CHAINS))
async def test_verification_recovers_from_a_wrong_plan(graph: str, name: str) -> None:
    asked = chains(name)
    with_it = await right(graph, asked, WRONG_PLAN)
    assert sum(with_it) >= 0.7 * len(asked)
    assert not any(await right(graph, asked, WRONG_PLAN, verification=False))


@pytest.mark.timeout(1800)
async def test_the_bandit_is_as_good_as_the_best_fixed_arm() -> None:
    """VoG, Table 2: the mean of the best fixed arm is not above the interval of the adaptive one."""
    asked, clumsy = chains("sample"), ErrorRates(plan=0, accuracy=0.6, seed=3)
    adaptive = await right("sample", asked, clumsy)
    fixed = [await right("sample", asked, clumsy, strategy=arm) for arm in ARMS]
    assert bootstrap_interval(adaptive, seed=0).high >= max(sum(found) for found in fixed) / len(asked)
