"""Each limit of the budget ends a question in one record, with what was at hand as the answer."""

import time
from collections.abc import Callable
from typing import Any

import pytest

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.tests.support.doubles import FAMILY, KEYS, QUESTION, Costly, Flaky, children, grandchildren, shown

Open = Callable[[str], SparqlGraph]


async def run(graph: Any, model: Any, **budget: float) -> kgqa.Record:
    record = await kgqa.aask(QUESTION, topics=["Ada"], method="cor", kg=graph, model=model, budget=budget)
    assert record.keys() == KEYS
    return record


@pytest.mark.parametrize(("limit", "answers"), [(0, []), (1, ["Ben", "Cleo"]), (2, ["Ben", "Cleo"])])
async def test_llm_calls(graph: Open, limit: int, answers: list[str]) -> None:
    record = await run(graph(FAMILY), children("filter"), llm_calls=limit)
    assert (record["stopped_by"], record["usage"]["llm_calls"]) == ("llm_calls", limit)
    assert shown(record) == answers
    assert record["outcome"] == ("grounded_unverified" if answers else "none")


async def test_a_call_that_the_limit_allows_is_made(graph: Open) -> None:
    record = await run(graph(FAMILY), children("filter"), llm_calls=3)
    assert (record["stopped_by"], shown(record)) == (None, ["Ben"])


@pytest.mark.parametrize(("limit", "calls"), [(0, 0), (1, 1), (15, 1), (16, 2)])
async def test_tokens_allow_no_call_once_they_are_spent(graph: Open, limit: int, calls: int) -> None:
    record = await run(graph(FAMILY), Costly(children("filter")), tokens=limit)
    assert (record["stopped_by"], record["usage"]["llm_calls"]) == ("tokens", calls)


@pytest.mark.parametrize("limit", [0, 1, 2])
async def test_kg_queries(graph: Open, limit: int) -> None:
    record = await run(graph(FAMILY), children(), kg_queries=limit)
    assert (record["stopped_by"], record["usage"]["kg_queries"]) == ("kg_queries", limit)
    assert (record["outcome"], record["answers"]) == ("none", [])


async def test_kg_queries_that_leave_none_for_the_proof(graph: Open) -> None:
    record = await run(graph(FAMILY), grandchildren(), kg_queries=5)
    assert (record["stopped_by"], record["usage"]["kg_queries"]) == ("kg_queries", 5)
    assert (record["outcome"], shown(record)) == ("grounded_unverified", ["Dora"])


async def test_seconds_end_a_call_of_the_model(graph: Open) -> None:
    started = time.perf_counter()
    record = await run(graph(FAMILY), Costly(children(), delay=30), seconds=0.3)
    assert record["stopped_by"] == "seconds"
    assert time.perf_counter() - started < 5


async def test_seconds_end_a_query_of_the_graph(graph: Open) -> None:
    started = time.perf_counter()
    record = await run(Flaky(graph(FAMILY), "visit_chains", delay=30), children(), seconds=0.3)
    assert (record["stopped_by"], record["outcome"]) == ("seconds", "none")
    assert time.perf_counter() - started < 5


async def test_candidates_that_time_left_unjudged_are_the_answer(graph: Open) -> None:
    record = await run(graph(FAMILY), SlowToVerify(children()), seconds=0.5)
    assert (record["stopped_by"], record["outcome"]) == ("seconds", "grounded_unverified")
    assert shown(record) == ["Ben", "Cleo"]


async def test_the_paper_falls_back_when_the_budget_ends_too(graph: Open) -> None:
    model = children(answer_directly={"answers": ["Ben"]})
    budget = {"kg_queries": 1}
    record = await kgqa.aask(
        "?",
        topics=["Ada"],
        method="cor",
        kg=graph(FAMILY),
        model=model,
        budget=budget,
        allow_parametric="always",
    )
    assert (record["stopped_by"], record["outcome"]) == ("kg_queries", "parametric")


async def test_no_limit_is_no_limit(graph: Open) -> None:
    unlimited: dict[str, Any] = dict.fromkeys(["llm_calls", "tokens", "kg_queries", "seconds"])
    record = await run(graph(FAMILY), children(), **unlimited)
    assert (record["stopped_by"], shown(record)) == (None, ["Ben", "Cleo"])


async def test_a_spent_budget_is_not_spent_on_an_answer_from_memory(graph: Open) -> None:
    record = await run(graph(FAMILY), children(prune_relations={"relations": []}), llm_calls=1)
    assert (record["stopped_by"], record["outcome"]) == ("llm_calls", "none")


class SlowToVerify(Costly):
    """Slow from the second prompt on."""

    async def ask(self, prompt: Any) -> Any:
        self.delay = 30.0 if self.history else 0.0
        return await super().ask(prompt)
