import asyncio
import json
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, Generation

from kgqa.models.cache import CACHED_FIELD, ROW_KEY_FIELD, SqliteCache
from kgqa.models.errors import UnknownModel


def message(text="héllo", **more):
    return [ChatGeneration(message=AIMessage(text, **more))]


@pytest.fixture
def cache(tmp_path):
    return SqliteCache(tmp_path / "new" / "cache.sqlite")


def test_gives_back_what_was_kept_and_marks_it(cache):
    used = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}
    fresh = message(usage_metadata=used, tool_calls=[{"name": "f", "args": {"a": 1}, "id": "1"}])
    cache.update("p", "m", fresh)
    [found] = cache.lookup("p", "m")
    assert found.message.content == "héllo"
    assert found.message.usage_metadata == used
    assert found.message.tool_calls == fresh[0].message.tool_calls
    assert found.message.response_metadata[CACHED_FIELD] is True
    assert CACHED_FIELD not in fresh[0].message.response_metadata
    assert found.message.response_metadata[ROW_KEY_FIELD] == fresh[0].message.response_metadata[ROW_KEY_FIELD]


def test_tells_prompts_models_and_scopes_apart(cache):
    cache.update("p", "m", message())
    other = cache.scoped("other")
    assert cache.lookup("q", "m") is cache.lookup("p", "n") is other.lookup("p", "m") is None
    other.update("p", "m", message("other"))
    assert cache.lookup("p", "m")[0].text == "héllo"
    assert cache.key("a", "bc") != cache.key("ab", "c")


def test_forgets(cache):
    for name in "pqr":
        cache.update(name, "m", message())
    cache.discard(cache.key("p", "m"), "unknown")
    assert cache.lookup("p", "m") is None and cache.lookup("q", "m")
    cache.clear()
    assert cache.lookup("q", "m") is None


def test_a_message_that_is_no_json_is_not_kept(cache, caplog):
    cache.update("p", "m", message(additional_kwargs={"parsed": object()}))
    assert cache.lookup("p", "m") is None
    assert "not kept" in caplog.text


@pytest.mark.parametrize(
    "row",
    [
        "",
        "{",
        "null",
        "[]",
        "7",
        '{"version": 2, "messages": []}',
        '{"version": 1}',
        '{"version": 1, "messages": []}',
        '{"version": 1, "messages": [{}]}',
        '{"version": 1, "messages": [{"type": "odd", "data": {}}]}',
        json.dumps({"version": 1, "messages": [{"type": "human", "data": HumanMessage("x").model_dump()}]}),
        '{"version": 1, "messages": 7}',
        '{"version": 1, "messages": [{"type": "ai", "data": {"content": 7}}]}',
    ],
)
def test_a_row_that_cannot_be_read_is_a_miss(cache, row):
    cache.update("p", "m", message())
    with closing(sqlite3.connect(cache.path)) as database, database:
        database.execute("UPDATE replies SET reply = ?", [row])
    assert cache.lookup("p", "m") is None


def test_a_plain_generation_is_not_kept(cache):
    cache.update("p", "m", [Generation(text="x")])
    assert cache.lookup("p", "m") is None


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "file").write_bytes(b"something else, and long enough for a header " * 100)
    for path in (tmp_path / "file", tmp_path, tmp_path / "file" / "below"):
        with pytest.raises(UnknownModel, match="as a cache"):
            SqliteCache(path)


async def test_async_is_the_same(cache):
    await cache.aupdate("p", "m", message())
    assert await cache.alookup("p", "m")
    await cache.adiscard(cache.key("p", "m"))
    assert await cache.alookup("p", "m") is None
    await cache.aupdate("p", "m", message())
    await cache.aclear()
    assert await cache.alookup("p", "m") is None
    await asyncio.gather(*(cache.aupdate(str(n), "m", message(str(n))) for n in range(50)))
    assert (await cache.alookup("49", "m"))[0].text == "49"


def test_threads_share_a_file(cache):
    def write(name):
        for number in range(20):
            cache.update(f"{name} {number}", "m", message(name))

    threads = [threading.Thread(target=write, args=[str(name)]) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(cache.lookup(f"{name} {number}", "m") for name in range(6) for number in range(20))


WRITER = """
import sys
from pathlib import Path
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration
from kgqa.models.cache import SqliteCache
cache = SqliteCache(Path(sys.argv[1]))
for number in range(40):
    cache.update(f"{sys.argv[2]} {number}", "m", [ChatGeneration(message=AIMessage("x" * 5000))])
"""


def test_processes_share_a_file(tmp_path):
    path = tmp_path / "cache"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    cache = SqliteCache(path)
    assert all(cache.lookup(f"{name} {number}", "m") for name in "abc" for number in range(40))
