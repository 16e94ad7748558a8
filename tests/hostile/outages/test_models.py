"""Outages of a model over real HTTP: each question of each method ends in one record that says so."""

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

import kgqa
from kgqa.graphs import METHODS
from kgqa.kg.opening import open_graph
from kgqa.models.chat import ChatModel
from kgqa.models.errors import ModelError
from kgqa.retries import RetryPolicy
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.outages import provider
from kgqa.tests.hostile.outages.provider import BOMB, KEY, Fault, Provider, body, drip, providing, status
from kgqa.tests.support.doubles import FAMILY
from kgqa.tests.unit.models.pick import Pick

ONCE, AGAIN = 1, 3

SAMPLES = 10
"""Calls that self-consistency makes side by side."""

SLOW = ("says nothing", "drips headers", "drips a body")
"""Faults that end by the time that a call may take."""

FAULTS: dict[str, tuple[Fault, int]] = {
    **{str(code): (status(code), ONCE) for code in (301, 307, 401, 402, 403, 404, 405, 410, 413, 451)},
    **{str(code): (status(code), AGAIN) for code in (408, 409, 429, 500, 502, 503, 504, 529)},
    **{
        f"Retry-After: {said}": (status(429, f"Retry-After: {said}"), times)
        for said, times in {
            "0": AGAIN,
            "-5": AGAIN,
            "NaN": AGAIN,
            "soon": AGAIN,
            "0.01": AGAIN,
            "9" * 400: AGAIN,
            "1000000000": ONCE,
            "Sat, 01 Jan 2000 00:00:00 GMT": AGAIN,
            "Oct   +99999999999 2015 99:99:99": AGAIN,
            "Fri, 31 Dec 9999 23:59:59 GMT": ONCE,
        }.items()
    },
    "hangs up": (provider.closed, AGAIN),
    "resets": (provider.reset, AGAIN),
    "half an answer": (provider.half, AGAIN),
    "says nothing": (provider.silent, AGAIN),
    "drips headers": (drip(b"HTTP/1.1 200 OK\r\nX: "), AGAIN),
    "drips a body": (drip(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"), AGAIN),
    "no end": (provider.endless, ONCE),
    "a bomb": (body(BOMB, "Content-Encoding: gzip"), ONCE),
    "prose": (body(b"Please sign in."), ONCE),
    "half JSON": (body(b'{"choices": [{"message"'), ONCE),
    "no text": (body(b"\xff\xfe{"), ONCE),
    "nested": (body(b"[" * 100_000), ONCE),
    "null": (body(b"null"), ONCE),
    "no choice": (body(b'{"choices": []}'), ONCE),
    "an error under 200": (body(b'{"error": {"message": "overloaded"}}'), ONCE),
}


@pytest.fixture
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Provider]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with providing() as server:
        yield server


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("family") / "family.ttl"
    path.write_text(PREFIXES + FAMILY, encoding="utf-8")
    return open_graph([path])


def model(server: Provider, **options: Any) -> ChatModel:
    given = {"base_url": server.url, "timeout": 10.0, "retries": RetryPolicy(pause=0.001), **options}
    return ChatModel("openai:stub", **given)


async def asked(server: Provider, graph: Any, method: str, fault: str = "", **options: Any) -> kgqa.Record:
    """Ask, and see that the record is whole and shows no key."""
    away = model(server, timeout=0.06 if fault in SLOW else 10.0)
    record = await kgqa.aask(
        "Who are Ada's children?", topics=["Ada"], method=method, kg=graph, model=away, **options
    )
    assert record.keys() == kgqa.Record.__annotations__.keys()
    assert KEY not in json.dumps(record)
    return record


def is_outage(record: kgqa.Record) -> bool:
    reasons = [entry["error"] for entry in record["trace"] if entry.get("failure") == "ModelUnavailable"]
    empty = not record["answers"] and not record["paths"]
    return record["outcome"] == "model_unavailable" and empty and "\n" not in reasons[-1]


async def test_a_model_that_is_away_from_the_start(served: Provider, family: Any, tried: Tried) -> None:
    """One method meets each fault, the others some; with those in the middle, each fault again."""
    some = itertools.cycle(FAULTS)
    cases = [("cor", name) for name in FAULTS]
    cases += [(method, next(some)) for method in METHODS for _ in range(2)]
    for method, name in cases:
        fault, times = FAULTS[name]
        served.fail(fault)
        record = await asked(served, family, method, name)
        assert is_outage(record), (method, name, record["trace"])
        if name not in SLOW:
            assert len(served.requests) == times * (SAMPLES if method == "sc" else 1), (method, name)
        assert record["usage"]["input_tokens"] == 0
    tried(faults=len(cases), questions=len(cases), records=len(cases))


async def test_a_model_that_goes_away_in_the_middle(served: Provider, family: Any, tried: Tried) -> None:
    some, n = itertools.cycle(reversed(FAULTS)), 0
    for method in METHODS:
        served.fail(None)
        await asked(served, family, method)
        calls = len(served.requests)
        for spared in {1, calls // 2, calls - 1} - {0, calls}:
            n += 1
            served.fail(FAULTS[name := next(some)][0], spared)
            record = await asked(served, family, method, name)
            if method == "sc":  # the samples that came are counted, and the others told
                assert record["outcome"] == "parametric"
                assert "ModelUnavailable" in str(record["trace"])
            else:
                assert is_outage(record), (method, name, spared, record["trace"])
    assert n > 20
    tried(faults=n, questions=n, records=n)


async def test_what_passes_leaves_no_trace(served: Provider, family: Any, tried: Tried) -> None:
    for method in METHODS:
        served.fail(None)
        undisturbed = await asked(served, family, method)
        served.fail(provider.reset if len(method) % 2 else status(503), spared=0, times=2)
        disturbed = await asked(served, family, method)
        for key in ("answers", "outcome", "paths", "trace"):
            assert disturbed[key] == undisturbed[key]
        assert disturbed["usage"]["llm_calls"] == undisturbed["usage"]["llm_calls"]
    tried(faults=2 * len(METHODS), questions=2 * len(METHODS), records=2 * len(METHODS))


async def test_a_refusal_is_asked_once_and_a_refused_schema_once_more(served: Provider, tried: Tried) -> None:
    told = {
        (404, "The model `stub` does not exist or you do not have access to it."): 1,
        (404, "model 'stub' not found, try pulling it first"): 1,
        (404, "No endpoints found that can handle the requested parameters."): 2,
        (400, "response_format is not supported"): 2,
        (400, "no"): 2,
        (422, "no"): 2,
        (403, "response_format"): 1,
    }
    for (code, message), times in told.items():
        served.fail(status(code, message=message))
        with pytest.raises(ModelError):
            await model(served).ask(Pick())
        assert len(served.requests) == times, message
        assert ["response_format" in request for request in served.requests] == [True, False][:times]
    tried(faults=len(told))


async def test_no_wait_goes_beyond_the_time_of_a_question(
    served: Provider, family: Any, tried: Tried
) -> None:
    served.fail(status(429, "Retry-After: 25"), spared=1)
    record = await asked(served, family, "cor", budget={"seconds": 0.6})
    assert (record["stopped_by"], len(served.requests)) == ("seconds", 2)
    assert record["usage"]["seconds"] < 2
    tried(faults=1, questions=1, records=1)


async def test_what_cannot_be_connected_to_is_an_outage(family: Any, tried: Tried) -> None:
    addresses = ("http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1")
    async with providing() as server:
        for url in (*addresses, server.url.replace("http:", "https:")):
            away = model(server, base_url=url)
            record = await kgqa.aask("Who?", topics=["Ada"], method="cor", kg=family, model=away)
            assert is_outage(record), url
            assert "cannot reach" in str(record["trace"])
    tried(faults=3, questions=3, records=3)


async def test_of_two_addresses_the_one_is_asked_and_named_that_langchain_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from langchain_openai import ChatOpenAI

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/base")
    for name, there in (("OPENAI_BASE_URL", "base"), ("OPENAI_API_BASE", "api")):
        monkeypatch.setenv(name, f"http://127.0.0.1:9/{there}")
        away = ChatModel("openai:stub", retries=RetryPolicy(attempts=1))
        with pytest.raises(ModelError, match=rf"127.0.0.1:9/{there}.*\({name}\)"):
            await away.turn([])
        assert str(ChatOpenAI(model="stub").root_async_client.base_url) == f"http://127.0.0.1:9/{there}/"


async def test_a_redirect_is_not_followed_and_sends_the_key_nowhere(
    served: Provider, family: Any, tried: Tried
) -> None:
    async with providing() as other:
        for code in (301, 302, 303, 307, 308):
            for there in (f"{other.url}/chat/completions", "/v1/chat/completions", "file:///etc/passwd"):
                served.fail(status(code, f"Location: {there}"))
                assert is_outage(await asked(served, family, "cor"))
                assert (len(served.requests), len(other.requests)) == (1, 0)
    tried(faults=15, questions=15, records=15)


async def test_numbers_of_tokens_that_lie_do_not_give_tokens_back(
    served: Provider, family: Any, tried: Tried
) -> None:
    lies = [b"-5", b"1e400", b'"x"', b"null", b"1" * 400, b"[]"]
    for lie in lies:
        usage = b'"usage":{"prompt_tokens":%s,"completion_tokens":%s,"total_tokens":%s}' % (lie, lie, lie)
        served.fail(body(b'{"choices":[{"message":{"role":"assistant","content":"{}"}}],%s}' % usage))
        with suppress(ModelError):
            spent = (await model(served).ask(Pick())).usage
            assert spent.input_tokens >= 0 and spent.output_tokens >= 0
        record = await asked(served, family, "io")
        assert record["usage"]["input_tokens"] >= 0
    tried(inputs=len(lies), questions=len(lies), records=len(lies))
