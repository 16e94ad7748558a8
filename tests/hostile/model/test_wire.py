"""Over HTTP: whatever a server answers, there is a reply, `MalformedReply` or `ModelUnavailable`."""

import asyncio
import time
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from kgqa.models.chat import ChatModel
from kgqa.models.errors import MalformedReply, ModelUnavailable
from kgqa.models.interface import Usage, budget_allows
from kgqa.retries import RetryPolicy
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.model.answers import GOOD, bodies, completion
from kgqa.tests.hostile.model.parsing_child import good
from kgqa.tests.hostile.model.replies import huge, static
from kgqa.tests.hostile.model.spoiling import spoilt
from kgqa.tests.support.model_stub import Answer, Stub, failed, said, stubbed
from kgqa.tests.unit.models.pick import Pick
from kgqa.tests.unit.prompts.samples import WORKED

Failures = (MalformedReply, ModelUnavailable)


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with stubbed() as server:
        yield server


@pytest.fixture
def model(stub: Stub) -> ChatModel:
    stub.requests.clear()
    return ChatModel("openai:stub", base_url=stub.url, retries=RetryPolicy(attempts=2, pause=0.01))


def is_cost(usage: Usage) -> bool:
    counts = (usage.llm_calls, usage.unknown_calls, usage.input_tokens, usage.output_tokens)
    return all(type(count) is int and 0 <= count < 1 << 53 for count in counts)


async def test_any_reply_of_the_corpus_by_any_prompt(stub: Stub, model: ChatModel, tried: Tried) -> None:
    texts = [text for _, text in [*static(), *list(huge())[:3], *list(spoilt(good(WORKED[0])))[::7]]]
    for worked, text in zip(cycle(WORKED), texts, strict=False):
        stub.say(said(text))
        try:
            worked.check((await model.ask(worked)).reply)
        except MalformedReply as error:
            assert "\n" not in str(error) and error.usage.llm_calls == 2
    tried(inputs=len(texts))


async def test_any_body_of_an_answer(stub: Stub, model: ChatModel, tried: Tried) -> None:
    number = 0
    for body in bodies():
        stub.say(Answer(body=body))
        for asked in (model.ask(Pick()), model.turn([HumanMessage("x")])):
            number += 1
            started = time.perf_counter()
            try:
                usage = (await asked).usage
            except Failures as error:
                usage = error.usage
                assert "\n" not in str(error) and len(str(error)) < 600
            assert is_cost(usage)
            assert time.perf_counter() - started < 5
    assert number > 500
    tried(inputs=number)


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/html"},
        {"Content-Type": ""},
        {"Content-Encoding": "gzip"},
        {"Content-Length": "99999"},
    ],
    ids=["html", "none", "not packed", "cut short"],
)
async def test_headers_that_lie(stub: Stub, headers: dict[str, str]) -> None:
    model = ChatModel("openai:stub", base_url=stub.url, retries=RetryPolicy(attempts=1), timeout=0.5)
    stub.say(Answer(body=completion(), headers=headers))
    try:
        assert (await model.ask(Pick())).reply.numbers == [2]
    except Failures as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("count", [-1, 10**30, 1.5, 1e300, float("nan"), float("inf"), "7"])
async def test_tokens_that_cannot_be_are_unknown(stub: Stub, model: ChatModel, count: Any) -> None:
    body = {
        **completion(),
        "usage": {"prompt_tokens": count, "completion_tokens": count, "total_tokens": count},
    }
    stub.say(Answer(body=body))
    try:
        usage = (await model.ask(Pick())).usage
    except ModelUnavailable:
        return
    assert (usage.llm_calls, usage.unknown_calls, usage.input_tokens, usage.output_tokens) == (1, 1, 0, 0)


async def test_no_reply_is_repaired_where_the_budget_has_no_room(stub: Stub, model: ChatModel) -> None:
    stub.say(said("no"), said(GOOD))
    token = budget_allows.set(lambda spent: spent.llm_calls < 1)
    try:
        with pytest.raises(MalformedReply) as caught:
            await model.ask(Pick())
    finally:
        budget_allows.reset(token)
    assert (caught.value.usage.llm_calls, len(stub.requests)) == (1, 1)


async def test_no_call_that_ran_out_of_time_is_repeated_where_the_budget_has_no_room(stub: Stub) -> None:
    model = ChatModel(
        "openai:stub", base_url=stub.url, retries=RetryPolicy(attempts=3, pause=0.01), timeout=0.05
    )
    stub.requests.clear()
    stub.say(Answer(body={}, delay=0.3))
    token = budget_allows.set(lambda spent: spent.llm_calls < 2)
    try:
        for call in (model.ask(Pick()), model.turn([HumanMessage("x")])):
            with pytest.raises(ModelUnavailable, match=r"no reply from .* within") as caught:
                await call
            assert caught.value.usage.llm_calls == 2
    finally:
        budget_allows.reset(token)


async def test_a_passing_refusal_is_repeated_at_no_cost_whatever_room_there_is(
    stub: Stub, model: ChatModel
) -> None:
    stub.say(failed(503), said(GOOD))
    token = budget_allows.set(lambda spent: spent.llm_calls < 1)
    try:
        assert (await model.ask(Pick())).usage.llm_calls == 1
    finally:
        budget_allows.reset(token)


async def test_many_hostile_answers_at_once_stay_apart(stub: Stub, model: ChatModel) -> None:
    stub.say(said("no"))
    told = await asyncio.gather(*(model.ask(Pick()) for _ in range(20)), return_exceptions=True)
    assert all(isinstance(error, MalformedReply) and error.usage.llm_calls == 2 for error in told)
