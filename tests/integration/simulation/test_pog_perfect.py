"""With a perfect simulated model PoG answers what can be derived, and recovers where it chose wrongly."""

import pytest

from kgqa.evaluation.simulation import ErrorRates
from kgqa.tests.unit.evaluation.simulation.public import answered, available, f1, graph_of, questions

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

SLICES = [("freebase", "freebase/webqsp_slice_union"), ("grasp", "freebase/cwq_grasp_slice")]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("graph", "name"), available(COMPLETE))
async def test_what_can_be_derived_is_answered_and_proved(graph: str, name: str) -> None:
    asked = questions(name, most=6)
    results = await answered(asked, graph_of(graph), ErrorRates(), method="pog")
    assert not [q.id for q, (_, score) in zip(asked, results, strict=True) if score.f1 < 1]
    for record, _ in results:
        by_graph = all(condition["by"] == "graph" for condition in record["conditions"])
        assert record["query"] and (record["outcome"] == "grounded") == by_graph


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("graph", "name"), available(SLICES))
async def test_on_a_slice_of_freebase_it_answers_what_cor_answers(graph: str, name: str) -> None:
    asked, opened = questions(name, most=8), graph_of(graph)
    by_pog = await answered(asked, opened, ErrorRates(), method="pog", depth=4)
    by_cor = await answered(asked, opened, ErrorRates(), method="cor", depth=4)
    assert [score.f1 for _, score in by_pog] == [score.f1 for _, score in by_cor]


async def test_reflection_recovers_from_relations_that_lead_astray() -> None:
    asked, opened = questions("sample", most=48), graph_of("sample")  # any word of a prompt draws anew
    astray = ErrorRates(accuracy=0.6, recall=0)
    with_it = await f1(asked, opened, astray, method="pog")
    assert with_it > await f1(asked, opened, astray, method="pog", reflections=0) + 0.2


async def test_where_the_right_relation_is_among_the_picks_nothing_is_lost() -> None:
    asked = questions("sample", most=12)
    assert await f1(asked, graph_of("sample"), ErrorRates(accuracy=0, recall=1), method="pog") == 1
