"""What a method makes of a model that errs: less the more it errs, and less without its parts."""

from itertools import pairwise

import pytest

from kgqa.evaluation.simulation import ErrorRates
from kgqa.tests.support.cases import needs_data
from kgqa.tests.unit.evaluation.simulation.public import available, f1, graph_of, questions

pytestmark = pytest.mark.timeout(1800)

CURVES = [("metaqa", "metaqa/metaqa-3hop-test-sample"), ("pq-3h", "pathquestion/pq-3h")]


@pytest.mark.parametrize(("graph", "name"), available(CURVES))
async def test_accuracy_falls_with_that_of_the_model(graph: str, name: str) -> None:
    asked = questions(name, most=48)
    curve = [await f1(asked, graph_of(graph), ErrorRates(accuracy=a, seed=1)) for a in (1.0, 0.6, 0.2)]
    assert curve[0] == 1
    assert all(more > less for more, less in pairwise(curve)), curve


@needs_data
async def test_without_its_parts_cor_falls_in_the_order_of_the_paper() -> None:
    """Table 3 of the paper: CWQ, depth 4; F1 52.1, without backtracking 50.0, without filtering 42.8."""
    asked, graph = questions("freebase/cwq_slice_union", most=24), graph_of("freebase")
    errors = ErrorRates(accuracy=0.9, recall=0.5, seed=1)
    whole = await f1(asked, graph, errors, depth=4)
    no_backtracking = await f1(asked, graph, errors, depth=4, backtracking=False)
    no_filtering = await f1(asked, graph, errors, depth=4, filtering=False)
    assert whole > no_backtracking > no_filtering
