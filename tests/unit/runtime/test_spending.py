"""A step checks what is left before it spends, counts what it spends, and says what it ran out of."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from kgqa.kg.errors import KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.meter import begin_query, end_query, unmetered
from kgqa.models.errors import ModelUnavailable
from kgqa.models.interface import Completion, Usage, budget_allows, model_queries_spent
from kgqa.runtime import node
from kgqa.runtime.budget import BudgetExceeded
from kgqa.runtime.context import Context
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import Spend, zero_spend

NO_LIMIT: dict[str, Any] = dict.fromkeys(["llm_calls", "tokens", "kg_queries", "seconds"])

CALL = Usage(llm_calls=1, cached_calls=2, unknown_calls=3, input_tokens=40, output_tokens=5, seconds=0.5)


class Model:
    """Costs a `CALL` a time; says, of some costs more, whether there is room for another call."""

    rooms: tuple[bool, ...] = ()

    def __init__(self, *probes: Usage) -> None:
        self._probes = probes

    async def __call__(self) -> SimpleNamespace:
        self.rooms = tuple(budget_allows.get()(probe) for probe in self._probes)
        return SimpleNamespace(usage=CALL)


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    """The model of every context."""
    given = Model(Usage(), Usage(llm_calls=1), Usage(input_tokens=6), Usage(output_tokens=6))

    async def resources(context: Context) -> SimpleNamespace:
        kg = context.kg[0]
        return SimpleNamespace(
            model=given, library=f"{kg} library", index=f"{kg} index", contradiction_detector=f"{kg} judge"
        )

    monkeypatch.setattr(node, "open_resources", resources)
    return given


def run(before: dict[str, float] | None = None, **budget: float) -> NodeRuntime:
    """Begin a step; ``before`` is what the question has cost until then, ``budget`` its only limits."""
    context = Context(kg="a.ttl", model="offline", budget=NO_LIMIT | budget)
    spent: Any = zero_spend() | (before or {})
    return NodeRuntime(context, spent)


async def call(step: NodeRuntime) -> Any:
    return await step.call_model(lambda model: model())


async def query(step: NodeRuntime, times: int = 1) -> None:
    async with step.meter_queries():
        for _ in range(times):
            begin_query()
            end_query(0.25)


def untimed(spend: Spend) -> dict[str, float]:
    return {name: amount for name, amount in spend.items() if amount and name != "seconds"}


SPENT = {"llm_calls": 3, "input_tokens": 60, "output_tokens": 40, "kg_queries": 7, "seconds": 50.0}


@pytest.mark.parametrize(("limit", "spent"), [("llm_calls", 3), ("tokens", 100), ("seconds", 50)])
async def test_a_call_is_made_up_to_a_limit_and_not_at_it(limit: str, spent: int) -> None:
    await call(run(SPENT, **{limit: spent + 1}))
    for least in (spent, spent - 1):
        with pytest.raises(BudgetExceeded) as caught:
            await call(run(SPENT, **{limit: least}))
        assert (caught.value.limit, str(caught.value)) == (limit, f"the budget of {limit} is spent")


@pytest.mark.parametrize(("limit", "spent"), [("kg_queries", 7), ("seconds", 50)])
async def test_a_query_is_made_up_to_a_limit_and_not_at_it(limit: str, spent: int) -> None:
    await query(run(SPENT, **{limit: spent + 1}))
    for least in (spent, spent - 1):
        with pytest.raises(BudgetExceeded) as caught:
            await query(run(SPENT, **{limit: least}))
        assert caught.value.limit == limit


async def test_calls_and_queries_have_limits_of_their_own() -> None:
    await query(run(SPENT, llm_calls=1, tokens=1))
    await call(run(SPENT, kg_queries=1))


async def test_what_a_step_has_spent_itself_counts() -> None:
    one = run(llm_calls=2)
    await call(one)
    await call(one)
    with pytest.raises(BudgetExceeded, match="llm_calls"):
        await call(one)
    other = run(kg_queries=2)
    await query(other)
    await query(other)
    with pytest.raises(BudgetExceeded, match="kg_queries"):
        await query(other)
    with pytest.raises(BudgetExceeded, match="tokens"):
        await call(await after(call, run(tokens=45)))


async def after(spend: Any, step: NodeRuntime) -> NodeRuntime:
    await spend(step)
    return step


async def test_what_makes_several_queries_is_stopped_after_one_more_than_is_left() -> None:
    one = run({"kg_queries": 4}, kg_queries=6)
    with pytest.raises(BudgetExceeded, match="kg_queries"):
        await query(one, times=4)
    assert untimed(one.spend) == {"kg_queries": 3, "seconds_kg": 0.75}
    two = await after(query, run({"kg_queries": 4}, kg_queries=6))
    with pytest.raises(BudgetExceeded, match=r"^the budget of kg_queries is spent$"):
        await query(two, times=3)
    assert untimed(two.spend) == {"kg_queries": 3, "seconds_kg": 0.75}
    with pytest.raises(BudgetExceeded, match="kg_queries"):
        await query(two)
    free = run({"kg_queries": 4})
    await query(free, times=99)
    assert free.spend["kg_queries"] == 99


async def test_look_ups_that_no_meter_sees_are_neither_counted_nor_stopped() -> None:
    one = run(kg_queries=2)
    async with one.meter_queries():
        begin_query()
        with unmetered():
            for _ in range(9):
                begin_query()
                end_query(0.25)
        begin_query()
    assert untimed(one.spend) == {"kg_queries": 2}


async def test_every_part_of_every_call_is_counted() -> None:
    one = run(SPENT)
    await call(one)
    await call(one)
    counted = {"llm_calls": 2, "cached_calls": 4, "unknown_calls": 6, "input_tokens": 80, "output_tokens": 10}
    assert untimed(one.spend) == {**counted, "seconds_llm": 1.0}
    assert one.token_counts() == {"tokens": [80, 10]}
    assert untimed(one.total_spend()) == untimed(one.spend)


async def test_queries_of_the_model_are_counted_apart_and_told_to_it() -> None:
    told = []

    async def looking() -> Any:
        told.append(model_queries_spent.get())
        return Completion(None, Usage(model_queries=2))

    one = run({"model_queries": 3, "kg_queries": 7}, kg_queries=7)
    for _ in range(2):
        await one.call_model(lambda model: looking())
    assert untimed(one.spend) == {"model_queries": 4}
    assert told == [3, 5]


async def test_a_step_without_a_call_says_nothing_of_tokens() -> None:
    one = run(SPENT)
    await query(one)
    assert one.token_counts() == {}
    assert untimed(one.total_spend()) == {"kg_queries": 1, "seconds_kg": 0.25}


async def test_a_call_that_fails_is_counted() -> None:
    async def failing() -> Any:
        raise ModelUnavailable("gone", CALL)

    one = run()
    with pytest.raises(ModelUnavailable, match="gone"):
        await one.call_model(lambda model: failing())
    assert one.spend["llm_calls"] == 1


async def test_a_query_that_fails_is_counted() -> None:
    one = run()
    with pytest.raises(KGUnavailable):
        async with one.meter_queries():
            begin_query()
            end_query(0.25)
            raise KGUnavailable("gone")
    assert untimed(one.spend) == {"kg_queries": 1, "seconds_kg": 0.25}


async def test_a_call_that_time_cuts_off_is_counted_as_far_as_it_got() -> None:
    async def slow() -> Any:
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError as error:
            error.usage = CALL  # type: ignore[attr-defined]
            raise

    one = run({"seconds": 49.8}, seconds=50)
    started = time.perf_counter()
    with pytest.raises(BudgetExceeded, match="seconds"):
        await one.call_model(lambda model: slow())
    assert 0.1 < time.perf_counter() - started < 3
    assert one.spend["llm_calls"] == 1


async def test_all_a_step_waits_for_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(*given: Any) -> Any:
        await asyncio.sleep(9)

    monkeypatch.setattr(node, "open_resources", slow)
    monkeypatch.setattr(node, "encode", slow)
    for wait in (
        lambda one: one.blueprint_library(),
        lambda one: one.exemplar_index(),
        lambda one: one.contradiction_detector(),
        lambda one: one.encode(["a"]),
        lambda one: one.call_tool("link"),
        call,
    ):
        with pytest.raises(BudgetExceeded, match="seconds"):
            await wait(run(seconds=0.02))


@pytest.mark.parametrize(("ago", "begun"), [(49.9, 1), (50.1, 0)])
async def test_the_time_of_the_step_itself_counts(ago: float, begun: int) -> None:
    asked: list[Any] = []

    async def slow(model: Any) -> Any:
        asked.append(model)
        await asyncio.sleep(9)

    context = Context(kg="a.ttl", model="offline", budget=NO_LIMIT | {"seconds": 50})
    one = NodeRuntime(context, zero_spend(), started=time.perf_counter() - ago)
    with pytest.raises(BudgetExceeded, match="seconds"):
        await one.call_model(slow)
    assert len(asked) == begun


async def test_a_time_out_of_the_work_itself_is_none_of_the_budget() -> None:
    async def late() -> Any:
        raise TimeoutError("the socket's")

    for budget in ({"seconds": 50.0}, {}):
        with pytest.raises(ModelUnavailable, match=r"^TimeoutError: the socket's$"):
            await run(**budget).call_model(lambda model: late())


@pytest.mark.parametrize(
    ("limits", "rooms"),
    [
        ({}, (True, True, True, True)),
        ({"llm_calls": 5}, (True, True, True, True)),
        ({"llm_calls": 4}, (True, False, True, True)),
        ({"tokens": 107}, (True, True, True, True)),
        ({"tokens": 106}, (True, True, False, False)),
    ],
)
async def test_a_model_is_told_whether_it_may_call_again(
    model: Model, limits: dict[str, float], rooms: tuple[bool, ...]
) -> None:
    await call(run(SPENT, **limits))
    assert model.rooms == rooms
    assert budget_allows.get()(Usage(llm_calls=10**9))


async def test_what_a_context_names_is_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async def encode(context: Context, texts: list[str], encoder: str | None) -> list[str]:
        return [f"{encoder or context.model} {text}" for text in texts]

    monkeypatch.setattr(node, "encode", encode)
    one = run()
    assert await one.blueprint_library() == "a.ttl library"
    assert await one.exemplar_index() == "a.ttl index"
    assert await one.contradiction_detector() == "a.ttl judge"
    assert await one.encode(["a", "b"]) == ["offline a", "offline b"]
    assert await one.encode(["a"], "another") == ["another a"]


def test_a_time_out_stays_noted_whatever_fails_after_it() -> None:
    one = run()
    one.trace["similarity"] = 0.5
    one.record_failure(KGUnavailable("gone"))
    one.record_failure(KGTimeout("slow"))
    one.record_failure(KGRejected("bad"))
    assert one.trace == {"similarity": 0.5, "failure": "KGTimeout", "error": "slow"}
