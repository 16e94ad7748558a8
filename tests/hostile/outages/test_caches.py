"""A cache of replies that is locked, damaged, away or read-only costs calls, and no question."""

import os
import shutil
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration
from tenacity import stop_after_delay

import kgqa
from kgqa.kg.opening import open_graph
from kgqa.models import cache as caches
from kgqa.models.cache import SqliteCache
from kgqa.models.chat import ChatModel
from kgqa.models.errors import UnknownModel
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.outages.provider import providing
from kgqa.tests.support.doubles import FAMILY


@pytest.fixture
def family(tmp_path: Path) -> Any:
    path = tmp_path / "family.ttl"
    path.write_text(PREFIXES + FAMILY, encoding="utf-8")
    return open_graph([path])


async def test_whatever_befalls_the_file_a_question_is_answered(
    family: Any, tmp_path: Path, tried: Tried, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "cache" / "replies"

    def zeros() -> None:
        path.write_bytes(bytes(path.stat().st_size))

    def middle() -> None:
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(os.urandom(8192))

    def noise() -> None:
        path.write_bytes(os.urandom(50_000))

    def other() -> None:
        path.unlink()
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE replies (other INTEGER)")
        database.close()

    faults = [middle, zeros, noise, other, path.unlink, lambda: shutil.rmtree(path.parent)]
    async with providing() as server:
        for fault in faults:
            shutil.rmtree(path.parent, ignore_errors=True)
            model = ChatModel("openai:stub", base_url=server.url, cache=path)
            first = await ask(model, family)
            for side in path.parent.glob("*-*"):
                side.unlink()
            fault()
            again = await ask(model, family)
            for key in ("answers", "outcome", "paths"):
                assert again[key] == first[key]
            assert again["usage"]["llm_calls"] + again["usage"]["cached_calls"] >= 4
    assert caplog.records and all("\n" not in record.getMessage() for record in caplog.records)
    tried(faults=len(faults), questions=2 * len(faults), records=2 * len(faults))


async def ask(model: ChatModel, graph: Any) -> kgqa.Record:
    return await kgqa.aask("Who?", topics=["Ada"], method="cor", kg=graph, model=model)


async def test_a_cache_that_another_process_keeps_locked_is_waited_for_once(
    family: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    monkeypatch.setattr(caches, "_LOCK_WAIT_SECONDS", 1.0)
    monkeypatch.setattr(caches, "_SHORT_LOCK_WAIT_SECONDS", 0.02)
    async with providing() as server:
        model = ChatModel("openai:stub", base_url=server.url, cache=tmp_path / "cache")
        lock = sqlite3.connect(tmp_path / "cache", isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        lock.execute("DELETE FROM replies")
        began = time.perf_counter()
        for _ in range(2):
            assert (await ask(model, family))["usage"]["llm_calls"] == 4
        assert time.perf_counter() - began < 8
        lock.execute("ROLLBACK")
        lock.close()
        await ask(model, family)
        assert (await ask(model, family))["usage"]["cached_calls"] > 0
    tried(faults=1, questions=4, records=4)


def test_who_finds_a_cache_locked_once_waits_a_little_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "_LOCK_WAIT_SECONDS", 0.01)
    cache = caches.SqliteCache(tmp_path / "cache")
    replies = [ChatGeneration(message=AIMessage("Ulm"))]
    with closing(sqlite3.connect(tmp_path / "cache", isolation_level=None, check_same_thread=False)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        cache.update("lost", "m", replies)
        threading.Timer(0.05, lock.execute, ["ROLLBACK"]).start()
        cache.update("kept", "m", replies)
    assert cache.lookup("lost", "m") is None and cache.lookup("kept", "m")


def test_a_cache_that_cannot_be_opened_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    monkeypatch.setattr(caches, "_OPEN_WAIT_SECONDS", 0.2)
    monkeypatch.setattr(caches, "_retry_locked", caches._retry_locked.copy(stop=stop_after_delay(0.2)))
    (tmp_path / "noise").write_bytes(os.urandom(50_000))
    (tmp_path / "folder").mkdir()
    locked = tmp_path / "locked"
    lock = sqlite3.connect(locked, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    places = [tmp_path / "noise", tmp_path / "folder", locked, Path("/dev/full"), Path("/proc/none/cache")]
    for place in places:
        with pytest.raises(UnknownModel, match=r"cannot use .* as a cache") as raised:
            ChatModel("openai:stub", base_url="http://127.0.0.1:9", cache=place)
        assert "\n" not in str(raised.value)
    lock.close()
    tried(faults=len(places))


WITHOUT_END = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n, n FROM r"


@pytest.mark.parametrize(
    "tampered",
    [
        f"DROP TABLE replies; CREATE VIEW replies(key, reply) AS {WITHOUT_END}",
        f"CREATE TRIGGER more AFTER INSERT ON replies BEGIN INSERT INTO replies {WITHOUT_END}; END",
    ],
    ids=["a view", "a trigger"],
)
def test_a_cache_that_works_without_end_is_a_miss(
    tampered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    monkeypatch.setattr(caches, "_LOCK_WAIT_SECONDS", 0.1)
    cache = SqliteCache(tmp_path / "cache")
    with closing(sqlite3.connect(tmp_path / "cache")) as database:
        database.executescript(tampered)
    start = time.monotonic()
    assert cache.lookup("a question", "a model") is None
    cache.update("a question", "a model", [])
    assert time.monotonic() - start < 8
    tried(faults=1)
