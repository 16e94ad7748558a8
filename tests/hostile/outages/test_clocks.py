"""Clocks that jump by years change no wait, no budget and no record."""

import itertools
import time
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa import retries
from kgqa.kg.endpoint.client import Endpoint
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.store import file_cache
from kgqa.models.chat import ChatModel
from kgqa.retries import RetryPolicy
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.outages.provider import body, completion, providing, silent, status
from kgqa.tests.support.doubles import FAMILY, Costly, children
from kgqa.tests.support.servers.faults import Status
from kgqa.tests.support.servers.scripted import answer, saying, told

YEARS = 10 * 365 * 86_400.0


class Jumping:
    """A wall clock that is ten years ahead, then ten years behind, at every look."""

    def __init__(self) -> None:
        self.looks = 0
        self._real = time.time
        self._jumps = itertools.cycle((YEARS, -YEARS))

    def __call__(self) -> float:
        self.looks += 1
        return self._real() + next(self._jumps)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Jumping:
    """Let the wall clock jump, for all that look at it."""
    jumping = Jumping()

    class Date(datetime):
        """A date of that clock."""

        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.fromtimestamp(jumping(), tz or UTC)

    monkeypatch.setattr(time, "time", jumping)
    monkeypatch.setattr(retries, "datetime", Date)
    return jumping


@pytest.fixture
def family(tmp_path: Path) -> Any:
    path = tmp_path / "family.ttl"
    path.write_text(PREFIXES + FAMILY, encoding="utf-8")
    return open_graph([path])


async def test_a_budget_of_seconds_is_held(clock: Jumping, family: Any, tried: Tried) -> None:
    slow = Costly(children(), delay=0.3)
    for seconds, stopped_by in ((0.2, "seconds"), (30, None)):
        began = time.perf_counter()
        record = await kgqa.aask(
            "Who?", topics=["Ada"], method="cor", kg=family, model=slow, budget={"seconds": seconds}
        )
        assert record["stopped_by"] == stopped_by
        assert 0 <= record["usage"]["seconds"] <= time.perf_counter() - began
    tried(faults=2, questions=2, records=2)


async def test_a_call_of_the_model_ends_in_time(clock: Jumping, family: Any, tried: Tried) -> None:
    async with providing() as server:
        server.fail(silent)
        away = ChatModel("openai:stub", base_url=server.url, timeout=0.1, retries=RetryPolicy(pause=0.01))
        began = time.perf_counter()
        record = await kgqa.aask("Who?", topics=["Ada"], method="cor", kg=family, model=away)
    assert record["outcome"] == "model_unavailable"
    assert time.perf_counter() - began < 3
    tried(faults=3, questions=1, records=1)


async def test_a_wait_until_a_date_is_reckoned_by_the_clock_of_who_asks_for_it(
    clock: Jumping, tried: Tried
) -> None:
    there = 1_000_000_000
    dates = (f"Date: {formatdate(there, usegmt=True)}", f"Retry-After: {formatdate(there + 1, usegmt=True)}")
    async with providing() as server:
        server.fail(status(429, *dates), times=1)
        again = ChatModel("openai:stub", base_url=server.url, retries=RetryPolicy(pause=0.01))
        began = time.perf_counter()
        message = await again.turn([])
        assert message.message.text and 0.9 < time.perf_counter() - began < 5
    headers = [tuple(line.split(": ", 1)) for line in dates]
    with saying(told(b"no", *headers, status=429), then=answer("one")) as endpoint:  # type: ignore[arg-type]
        began = time.perf_counter()
        assert len((await Endpoint(endpoint.url).query("SELECT ?x { ?x ?y ?z }")).rows) == 1
        assert 0.9 < time.perf_counter() - began < 5
    tried(faults=2)


async def test_what_is_kept_stays_and_who_is_left_alone_is_asked_again(clock: Jumping, tried: Tried) -> None:
    with saying(Status(429, "0.2"), then=answer("one")) as server:
        asked = Endpoint(server.url)
        began = time.perf_counter()
        for _ in range(20):
            assert len((await asked.query("SELECT ?x { ?x ?y ?z }")).rows) == 1
        assert 0.19 < time.perf_counter() - began < 5
    assert len(server.requests) == 2
    tried(faults=1)


async def test_a_price_of_no_year_and_a_run_of_any_are_recorded(clock: Jumping) -> None:
    async with providing() as server:
        server.fail(body(completion({"content": "yes"})))
        assert (await ChatModel("openai:stub", base_url=server.url).turn([])).usage.seconds >= 0


async def test_files_that_are_kept_by_date_are_answered_from_whatever_the_date(
    clock: Jumping, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    """Old ones are removed at each new one; what is open stays, and what is gone is read again."""
    monkeypatch.setenv("KGQA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(file_cache, "MIN_BYTES_KEPT", 1)
    monkeypatch.setattr(file_cache, "MAX_GRAPHS_KEPT", 2)
    graphs, folders = dict[Path, SparqlGraph](), list[Path]()
    for name in ("Ulm", "Bonn", "Kiel", "Jena", "Trier"):
        path = tmp_path / f"{name}.ttl"
        path.write_text(PREFIXES + FAMILY.replace("Ada", name), encoding="utf-8")
        graphs[path] = open_graph([path])
        kept = {each for each in (tmp_path / "home" / "graphs").iterdir() if each.is_dir()}
        folders += kept - set(folders)
        if name == "Ulm":  # whoever had it open has it no more
            del graphs[path]
    assert clock.looks and [folder.exists() for folder in folders] == [False, True, True, True, True]
    for path in tmp_path.glob("*.ttl"):
        for graph in (graphs.get(path), open_graph([path])):
            if graph:
                record = await kgqa.aask("Who?", topics=[path.stem], method="cor", kg=graph, model=children())
                assert [answer["name"] for answer in record["answers"]] == ["Ben", "Cleo"]
    tried(faults=clock.looks, questions=9, records=9)
