"""The process for queries from outside: begun once, with one copy, of the graph that was opened."""

import asyncio
import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from kgqa.kg.errors import KGError, KGRejected, KGTimeout, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.store import sandbox
from kgqa.kg.store.directory import build_store
from kgqa.kg.store.loading import QuadReader
from kgqa.kg.store.sandbox import ChildProcess, start_module
from kgqa.tests.hostile.conftest import Tried

ASK = "ASK { ?s ?p ?o }"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def triples(path: Path, object_: str = "b", n: int = 100) -> Path:
    lines = (f'<http://x/e{i}> <http://x/r> "{object_}" .\n' for i in range(n))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def opened(path: Path) -> SparqlGraph:
    return open_graph([triples(path / "g.nt")])


def process(graph: SparqlGraph) -> int:
    """Return the number of the process that has just answered."""
    number = graph._executor._sandbox._process._popen.pid  # type: ignore[attr-defined]
    assert isinstance(number, int)
    return number


def is_emptied(folder: Path) -> bool:
    """Return whether nothing is left there within seconds."""
    until = time.monotonic() + 5
    while any(folder.iterdir()) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(folder.iterdir())


async def objects(graph: SparqlGraph) -> set[str]:
    return {row[0].value for row in (await graph.select("SELECT ?o { ?s ?p ?o }")).rows}  # type: ignore[union-attr]


async def test_a_start_that_takes_longer_than_the_deadline_costs_one_query(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(ChildProcess):
        def __init__(self, *given: object) -> None:
            time.sleep(0.8)
            super().__init__(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(sandbox, "ChildProcess", Slow)
    graph = open_graph([triples(tmp_path / "g.nt")], deadline=0.6)
    with pytest.raises(KGTimeout):
        await graph.select(ASK)
    try:
        answer = await graph.select(ASK)
    except KGTimeout:  # what was left of its time the start took
        answer = await graph.select(ASK)
    assert answer.rows[0][0]


def test_nobody_waiting_any_more_ends_a_query_and_not_the_process_for_the_next(
    tried: Tried, temporary: Path
) -> None:
    store = ox.Store()
    store.load(b"<a:a> <a:a> <a:a> .", ox.RdfFormat.N_TRIPLES)
    process = sandbox.QuerySandbox(store, None)

    def late() -> None:
        raise KGTimeout("late")

    with pytest.raises(KGTimeout):
        process.ask(ASK, union=False, limit=None, stop=late)
    begun = process._process
    assert begun is not None
    assert b"true" in process.ask(ASK, union=False, limit=None, stop=lambda: None)
    assert process._process is begun
    tried(inputs=1)


async def test_a_copy_is_made_once_and_goes_with_its_graph(
    tmp_path: Path, temporary: Path, tried: Tried
) -> None:
    graph = opened(tmp_path)
    assert list(temporary.iterdir()) == []
    assert await objects(graph) == {"b"}
    (copy,) = temporary.iterdir()
    made = (copy / "IDENTITY").read_bytes()
    for _ in range(2):
        os.kill(process(graph), signal.SIGKILL)
        with pytest.raises(KGRejected, match="gave the query up"):
            await graph.select(ASK)
        assert await objects(graph) == {"b"}
    assert [*temporary.iterdir()] == [copy]
    assert (copy / "IDENTITY").read_bytes() == made
    del graph
    gc.collect()
    assert is_emptied(temporary)  # by the thread that asked
    tried(faults=2)


async def test_a_copy_that_somebody_removed_is_made_anew(
    tmp_path: Path, temporary: Path, tried: Tried
) -> None:
    graph = opened(tmp_path)
    await graph.select(ASK)
    (copy,) = temporary.iterdir()
    copy.rename(tmp_path / "elsewhere")
    os.kill(process(graph), signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(KGError):
            await graph.select(ASK)
    assert await objects(graph) == {"b"}
    tried(faults=1)


ENDED = """
import asyncio, os, shutil, sys, threading, time
from kgqa.kg.opening import open_graph

rmtree = shutil.rmtree

def slow(*given, **named):
    if threading.current_thread() is not threading.main_thread():
        time.sleep(60)
    rmtree(*given, **named)

shutil.rmtree = slow
graphs = [open_graph([sys.argv[1]])]
asyncio.run(graphs[0].select("ASK { ?s ?p ?o }"))
print(len(os.listdir(os.environ["TMPDIR"])), flush=True)
if sys.argv[2] == "dropped":
    threading.Thread(target=graphs.clear, daemon=True).start()
    time.sleep(0.3)
elif sys.argv[2] != "0":
    os.kill(os.getpid(), int(sys.argv[2]))
"""


def test_no_copy_is_left_however_kgqa_ends(tmp_path: Path, temporary: Path, tried: Tried) -> None:
    triples(tmp_path / "g.nt")
    paths = os.pathsep.join(filter(None, sys.path))
    ways = {"0": 0, "dropped": 0, "15": -signal.SIGTERM, "9": -signal.SIGKILL}
    for way, code in ways.items():
        ended = subprocess.run(
            (sys.executable, "-c", ENDED, str(tmp_path / "g.nt"), way),
            env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": paths},
            capture_output=True,
            check=False,
        )
        assert (ended.returncode, ended.stdout) == (code, b"1\n"), ended.stderr
        assert is_emptied(temporary), way
    tried(faults=len(ways))


async def test_no_room_for_a_copy_is_told_in_a_line_of_its_own(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    graph = open_graph([triples(tmp_path / "g.nt", n=20_000)])
    own = await graph.names(["http://x/e1"])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (100, 3_000, 20_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            with pytest.raises(KGUnavailable, match="kgqa kg load") as caught:
                await graph.select(ASK)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert len(str(caught.value).splitlines()) == 1
        assert str(temporary) not in str(caught.value)
        assert list(temporary.iterdir()) == []
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
        with pytest.raises(KGUnavailable, match="TMPDIR"):
            await graph.select(ASK)
    assert await graph.names(["http://x/e1"]) == own
    assert await objects(graph) == {"b"}
    tried(faults=4)


async def test_a_store_that_was_replaced_is_asked_by_those_who_opened_it(
    tmp_path: Path, tried: Tried
) -> None:
    folder = tmp_path / "store"
    build_store([triples(tmp_path / "a.nt", "old")], folder)
    never, asked = open_graph([folder]), open_graph([folder])
    assert await objects(asked) == {"old"}
    for _ in range(3):
        build_store([triples(tmp_path / "a.nt", "new")], folder)
    assert await objects(never) == await objects(asked) == {"old"}
    os.kill(process(asked), signal.SIGKILL)
    with pytest.raises(KGRejected):
        await objects(asked)
    assert await objects(asked) == {"old"}
    new = open_graph([folder])
    folder.rename(tmp_path / "gone")
    with pytest.raises(KGUnavailable, match="was removed since it was opened"):
        await objects(new)
    tried(faults=5)


def test_no_process_apart_sees_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried) -> None:
    begun: list[tuple[Any, object]] = []
    popen = subprocess.Popen

    class Noted(popen):  # type: ignore[valid-type,misc]
        def __init__(self, *given: object, **named: object) -> None:
            begun.append((given, named["env"]))
            super().__init__(*given, **named)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    (tmp_path / "deep.ttl").write_text("#" + "<<(" * 1_000 + "\n<a:a> <a:b> <a:c> .", encoding="utf-8")
    assert len([*QuadReader([tmp_path / "deep.ttl"]).quads()]) == 1
    asyncio.run(open_graph([triples(tmp_path / "g.nt")]).select(ASK))
    modules = [given[0][-1] for given, _ in begun]
    assert modules == ["kgqa.kg.store.input_guards", "kgqa.kg.store.sandbox"]
    assert not any("sk-planted" in str(env) or "OPENAI_API_KEY" in str(env) for _, env in begun)
    waiting = start_module("kgqa.kg.store.input_guards")
    try:
        assert b"sk-planted" not in Path(f"/proc/{waiting.pid}/environ").read_bytes()
    finally:
        waiting.communicate(b"/none.nt")
    tried(inputs=2)
