"""Each limit of each method, at few numbers: never passed by more than one call; time ends whatever hangs."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgqa.graphs import METHODS
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.priors.encoder import Vectors
from kgqa.runtime import node, resources
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.model.answers import call, calling
from kgqa.tests.hostile.model.asking import FAMILY, PROMPTED, SEARCHING, ask, simulated, spent
from kgqa.tests.support.agents import chat
from kgqa.tests.support.doubles import Flaky
from kgqa.tests.support.model_stub import Answer, Stub, said

NUMBERS = (0, 1, 2, 3, 5, 8)

ONE_CALL = {"llm_calls": 1, "tokens": 10_000, "kg_queries": 1}
"""What one call may cost more than a limit; a malformed reply of the simulated model costs two calls."""

SLOW = 0.4
"""Seconds that a question has where something hangs."""

LEEWAY = 2.5  # seconds that a busy machine may take beyond that; what hangs does so for longer

OPERATIONS = (
    "find_entities link names describe extend_chain follow_chain visit_chains trace_chain list_relations "
    "follow_relation follow_relations info"
)


@pytest.fixture
def hanging() -> Iterator[threading.Event]:
    """What hangs waits for this, which is set at the end."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("method", [*PROMPTED, "agent"])
async def test_no_limit_is_passed_by_more_than_one_call(
    family: SparqlGraph, method: str, tried: Tried
) -> None:
    number = 0
    for errors in ({}, {"accuracy": 0.3, "judge": 0.5, "entity": 0.3, "format": 0.3}):
        whole = spent(await ask(method, family, simulated(family, **errors)))
        for limit, over in ONE_CALL.items():
            for most in NUMBERS[:: 2 if errors else 1]:
                budget = {limit: most * 300 if limit == "tokens" else most}
                record = await ask(method, family, simulated(family, **errors), budget=budget)
                assert spent(record)[limit] <= budget[limit] + over
                cut = whole[limit] > budget[limit]
                assert not cut or record["stopped_by"] == limit or record["outcome"] in ("grounded", "none")
                number += 1
    tried(inputs=number, questions=number, records=number)


@pytest.mark.parametrize("method", SEARCHING)
async def test_no_depth_is_passed(family: SparqlGraph, method: str) -> None:
    for depth in (1, 2, 3):
        record = await ask(method, family, simulated(family), depth=depth)
        assert all(len(path) <= depth * 3 for path in record["paths"])
        assert record["outcome"] != "grounded" or record["stopped_by"] is None


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_relations", {"entities": ["Ann"] * 300}),
        ("follow_relation", {"entities": ["Ann"] * 300, "relation": "parent"}),
        ("follow_chain", {"topic": "Ann", "hops": ["parent"], "held": {"1": ["Eve", "Max"] * 100}}),
        ("extend_chain", {"topic": "Ann", "hops": ["parent"], "held": {"1": ["Eve", "Max"] * 100}}),
    ],
)
async def test_one_call_of_a_tool_makes_no_more_queries_than_are_left(
    family: SparqlGraph, stub: Stub, name: str, arguments: dict[str, Any]
) -> None:
    stub.say(Answer(body=calling(call(json.dumps(arguments), name))))
    for limit in (0, 1, 3, 5, 50):
        record = await ask("agent", family, chat(stub), budget={"kg_queries": limit})
        assert record["usage"]["kg_queries"] <= limit + 1
        assert record["stopped_by"] == "kg_queries"


@pytest.mark.parametrize("method", METHODS)
async def test_a_model_that_hangs_is_left_when_the_time_is_up(
    family: SparqlGraph, stub: Stub, method: str
) -> None:
    stub.say(Answer(delay=3, body={}))
    started = time.perf_counter()
    record = await ask(method, family, chat(stub), budget={"seconds": SLOW})
    assert record["stopped_by"] == "seconds" and record["answers"] == []
    assert SLOW <= time.perf_counter() - started < SLOW + LEEWAY


@pytest.mark.parametrize("method", [*SEARCHING, "agent", "sparql_qa"])
async def test_a_graph_that_hangs_is_left_when_the_time_is_up(
    family: SparqlGraph, stub: Stub, method: str
) -> None:
    stub.say(said("SELECT ?x WHERE { ?x ?p ?o }"))
    model = chat(stub) if method in ("agent", "sparql_qa") else simulated(family)
    started = time.perf_counter()
    record = await ask(method, Flaky(family, OPERATIONS, delay=9), model, budget={"seconds": SLOW})  # type: ignore[arg-type]
    assert record["stopped_by"] == "seconds" and record["answers"] == []
    assert time.perf_counter() - started < SLOW + LEEWAY


@pytest.mark.parametrize("method", METHODS)
async def test_what_hangs_while_it_is_opened_is_left_when_the_time_is_up(
    tmp_path: Path, family: SparqlGraph, stub: Stub, method: str, hanging: threading.Event, monkeypatch: Any
) -> None:
    path = tmp_path / "family.ttl"
    path.write_text(PREFIXES + FAMILY, encoding="utf-8")
    real = resources._open_all
    monkeypatch.setattr(resources, "_open_all", lambda context: hanging.wait(9) and real(context))
    stub.say(said("no"))
    started = time.perf_counter()
    record = await ask(
        method, family, chat(stub), encoder=str(path), budget={"seconds": SLOW}, **THRESHOLD.get(method, {})
    )
    assert record["stopped_by"] == "seconds" and record["answers"] == []
    assert time.perf_counter() - started < SLOW + LEEWAY
    hanging.set()


THRESHOLD = {"vog": {"threshold": 0.5}}
"""VoG wants one for an encoder that it does not know."""


@pytest.mark.parametrize("method", ["cog", "vog"])
async def test_an_encoder_that_hangs_is_left_when_the_time_is_up(
    family: SparqlGraph, method: str, hanging: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def encode(context: Any, texts: Any, encoder: str | None = None) -> Vectors:
        await asyncio.to_thread(hanging.wait, 9)
        raise AssertionError

    monkeypatch.setattr(node, "encode", encode)
    started = time.perf_counter()
    record = await ask(method, family, simulated(family), budget={"seconds": SLOW})
    assert record["stopped_by"] == "seconds"
    assert time.perf_counter() - started < SLOW + LEEWAY
    hanging.set()
