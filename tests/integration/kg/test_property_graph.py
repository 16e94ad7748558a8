"""Property graphs over Bolt: what becomes of nodes and relationships, and one line for what fails.

The server here speaks Bolt and is told what to answer; `tests/integration/graphs/test_property_graphs.py`
has a real one.
"""

import asyncio
import builtins
import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from typer.testing import CliRunner

import kgqa
from kgqa.cli.main import app
from kgqa.kg.bolt import NAME_PROPERTIES, BoltAddress
from kgqa.kg.errors import KGError, KGMalformed, KGSilent, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.property_graph import (
    COUNT_NODES,
    COUNT_RELATIONSHIPS,
    LABELS,
    NODES,
    PROBE,
    RELATIONSHIPS,
    TYPES,
    PropertyGraphReader,
)
from kgqa.kg.store import file_cache, loading
from kgqa.kg.store.directory import build_store
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.tests.support.servers.bolt import BoltServer, bolt_server, date

NODE, RELATION = "https://kgqa.example/node/", "https://kgqa.example/relation/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
PASSWORD = "s3cr3t-word"

NODES_BY_ID, RELATIONSHIPS_BY_ID = (q.replace("elementId", "id") for q in (NODES, RELATIONSHIPS))

ADA = [
    "1",
    ["Person"],
    {"name": "Ada", "born": date(-56_270), "tall": 1.6, "alive": False, "tags": ["a", "b"], "code": "ada"},
]
M = [
    "2",
    ["Film", "Work"],
    {"title": "M", "name": "", "blob": b"\0", "vector": [0.5] * 101, "none": None, "code": "m"},
]
ULM = [
    "3",
    [],
    {"uri": "http://x/Ulm", "name": 'U"> <lm', "odd `key` }) DETACH DELETE (n) //": 1},
]
ACTED, BORN = ["4:x:1", "ACTED_IN", {"role": "Eve", "year": 1931}], ["4:x:2", "BORN `IN`", {}]

GRAPH: dict[str, list[Any]] = {
    COUNT_NODES: [3],
    COUNT_RELATIONSHIPS: [2],
    LABELS: [[["Person"], 1, 6], [["Work", "Film"], 1, 5], [[], 1, 3.0]],
    TYPES: [["ACTED_IN", 1, 2], ["BORN `IN`", 1, 0.0]],
    NODES: [ADA, M, ULM],
    PROBE: ["1"],
    RELATIONSHIPS: [
        [*ACTED, "1", None, None, "2", None, None],
        [*BORN, "1", None, None, "3", "http://x/Ulm", None],
    ],
}
BY_CODE = {
    **GRAPH,
    RELATIONSHIPS: [
        [*ACTED, "1", None, "ada", "2", None, "m"],
        [*BORN, "1", None, "ada", "3", "http://x/Ulm", None],
    ],
}


BY_NUMBER = list(enumerate(GRAPH[RELATIONSHIPS], 2))  # the number of its end is that of a relationship, too


def told(query: str) -> Iterator[Any]:
    yield from GRAPH[query]


def told_codes(query: str) -> Iterator[Any]:
    yield from BY_CODE[query]


@pytest.fixture
def server() -> Iterator[BoltServer]:
    with bolt_server(told) as serving:
        yield serving


def facts(address: str) -> set[tuple[str, str, str]]:
    quads = PropertyGraphReader(address, deadline=5).quads()
    return {(q.subject.value, q.predicate.value, str(getattr(q.object, "value", q.object))) for q in quads}


def test_nodes_and_relationships_are_facts(server: BoltServer) -> None:
    kind = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    one, two, ulm = f"{NODE}1", f"{NODE}2", "http://x/Ulm"
    between = "urn:kgqa:blank:b4_x_1"
    classes = {(f"https://kgqa.example/class/{name}", LABEL, name) for name in ("Person", "Film", "Work")}
    types = {
        (who, kind, f"https://kgqa.example/class/{name}")
        for who, name in [(one, "Person"), (two, "Film"), (two, "Work")]
    }
    assert facts(f"bolt://127.0.0.1:{server.port}") == classes | types | {
        (one, LABEL, "Ada"),
        (two, LABEL, "M"),
        (ulm, LABEL, 'U"> <lm'),
        (one, f"{RELATION}born", "1815-12-10"),
        (one, f"{RELATION}tall", "1.6"),
        (one, f"{RELATION}alive", "false"),
        (one, f"{RELATION}tags", "a"),
        (one, f"{RELATION}tags", "b"),
        (one, f"{RELATION}code", "ada"),
        (two, f"{RELATION}code", "m"),
        (two, f"{RELATION}name", ""),
        (ulm, f"{RELATION}odd_%60key%60_%7D)_DETACH_DELETE_(n)_%2F%2F", "1"),
        (one, f"{RELATION}ACTED_IN", two),
        (one, f"{RELATION}ACTED_IN_(details)", between),
        (between, f"{RELATION}ACTED_IN_(to)", two),
        (between, f"{RELATION}role", "Eve"),
        (between, f"{RELATION}year", "1931"),
        (one, f"{RELATION}BORN_%60IN%60", ulm),
    }
    counted = [COUNT_NODES, COUNT_RELATIONSHIPS]
    assert server.queries == [
        *counted,
        PROBE,
        NODES,
        RELATIONSHIPS,
        *counted,
    ]  # constants


def test_properties_that_tell_nodes_apart_and_name_them() -> None:
    with bolt_server(told_codes) as server:
        found = facts(f"bolt://127.0.0.1:{server.port}?id=code&name=code,title")
        asked = next(said for said in server.said if RELATIONSHIPS.encode() in said)
    assert asked.endswith(b"\xa2\x83web\x83uri\x82id\x84code\xa0")
    assert (f"{NODE}ada", LABEL, "ada") in found
    assert (f"{NODE}ada", f"{RELATION}ACTED_IN", f"{NODE}m") in found
    assert (f"{NODE}ada", f"{RELATION}name", "Ada") in found


def test_a_server_without_element_ids_is_asked_by_ids() -> None:
    by_id = {
        NODES_BY_ID: [[int(id), *rest] for id, *rest in GRAPH[NODES]],
        RELATIONSHIPS_BY_ID: [[n, *row[1:3], 1, None, None, n, *row[7:]] for n, row in BY_NUMBER],
    }

    def older(query: str) -> Iterator[Any]:
        if "elementId" in query:
            raise NotImplementedError("Unknown function 'elementId'")
        yield from {**GRAPH, **by_id}[query]

    with bolt_server(older) as server:
        found = facts(f"bolt://127.0.0.1:{server.port}")
    assert (f"{NODE}1", f"{RELATION}ACTED_IN", f"{NODE}2") in found
    assert ("urn:kgqa:blank:b2", f"{RELATION}role", "Eve") in found


def test_a_cluster_is_asked_to_read(server: BoltServer) -> None:
    assert facts(f"neo4j://ann:{PASSWORD}@127.0.0.1:{server.port}/movies")
    run = next(said for said in server.said if NODES.encode() in said)
    assert b"\x84mode\x81r" in run
    assert b"\x82db\x86movies" in run


async def test_it_is_asked_as_a_graph(server: BoltServer) -> None:
    graph = await asyncio.to_thread(open_graph, [f"bolt://ann:{PASSWORD}@127.0.0.1:{server.port}/movies"])
    chain = Chain(Entity(f"{NODE}1"), (Hop(f"{RELATION}ACTED_IN"),))
    assert [str(end.term) for end in await graph.follow_chain(chain)] == ["M"]
    info = await graph.info()
    assert info.source == f"bolt://127.0.0.1:{server.port}/movies"
    assert graph.fingerprint == open_graph([f"bolt://127.0.0.1:{server.port}"]).fingerprint


async def test_a_record_does_not_show_the_password(server: BoltServer) -> None:
    address = f"bolt://ann:{PASSWORD}@127.0.0.1:{server.port}"
    record = await kgqa.aask("What did Ada act in?", kg=address, method="cor", depth=2)
    assert "M" in [each["name"] for each in record["answers"]]
    assert PASSWORD not in str(record)
    assert "ann" not in str(record["config"])


def test_it_is_loaded_into_a_folder(server: BoltServer, tmp_path: Path) -> None:
    address = f"bolt://ann:{PASSWORD}@127.0.0.1:{server.port}/movies"
    ran = CliRunner().invoke(app, ["kg", "load", address, "--out", str(tmp_path / "films")])
    assert ran.exit_code == 0, ran.output
    assert PASSWORD not in (tmp_path / "films" / "kgqa.json").read_text(encoding="utf-8")
    graph = open_graph([tmp_path / "films"])
    assert graph.fingerprint == open_graph([address]).fingerprint
    assert f"{RELATION}ACTED_IN" in graph.relations


def test_a_large_one_is_loaded_once(
    server: BoltServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(file_cache, "MAX_SIZE_KEPT", 4)
    address = f"bolt://127.0.0.1:{server.port}"
    with pytest.raises(KGUnavailable, match="has 5 nodes and relationships; load it once: kgqa kg load"):
        open_graph([address])
    assert NODES not in server.queries
    told_shares: list[float] = []
    build_store(PropertyGraphReader(address, told_shares.append), tmp_path / "all")
    assert open_graph([tmp_path / "all"]).relations
    assert told_shares[-1] == 1.0


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where graphs are kept, of any size."""
    monkeypatch.setenv("KGQA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(file_cache, "MIN_SIZE_KEPT", 1)
    return tmp_path / "home" / "graphs"


def copies(kept: Path) -> list[Path]:
    return sorted(kept.glob("*/state"))


class TestCopies:
    """A property graph of some size is kept, until it changes or its copy is old."""

    def test_it_is_read_once(self, server: BoltServer, kept: Path, caplog: pytest.LogCaptureFixture) -> None:
        address = f"bolt://ann:{PASSWORD}@127.0.0.1:{server.port}/movies"
        opened = [open_graph([address]) for _ in range(3)]
        assert server.queries.count(NODES) == 1
        assert server.queries.count(LABELS) == 3  # the server is asked each time, whoever it lets in
        assert {each.fingerprint for each in opened} == {opened[0].fingerprint}
        assert caplog.messages == [
            f"bolt://127.0.0.1:{server.port}/movies: reading 5 nodes and relationships; "
            "a copy is kept until they change"
        ]
        assert kept.stat().st_mode & 0o077 == 0

    @pytest.mark.parametrize(
        "now",
        [
            {COUNT_NODES: [2], NODES: [ADA, M], LABELS: [[["Person"], 1, 6], [["Work", "Film"], 1, 5]]},
            {LABELS: [[["Person"], 1, 7], [["Work", "Film"], 1, 5], [[], 1, 3]]},
            {TYPES: [["ACTED_IN", 1, 2], ["LIVED_IN", 1, 0]]},
        ],
        ids=["a node less", "a property more", "a relationship of another type"],
    )
    def test_it_is_read_again_when_it_changed(self, kept: Path, now: dict[str, Any]) -> None:
        answers = dict(GRAPH)
        with bolt_server(lambda query: iter(answers[query])) as server:
            for change in ({}, now, {}):
                answers.update(change)
                open_graph([f"bolt://127.0.0.1:{server.port}"])
            assert server.queries.count(NODES) == 2
        assert len(copies(kept)) == 1

    def test_one_that_is_not_to_be_kept_is_not(self, server: BoltServer, kept: Path) -> None:
        assert open_graph([f"bolt://127.0.0.1:{server.port}?keep=0"]).relations
        assert not kept.exists()

    @pytest.mark.parametrize(("keep", "reads"), [("", 2), ("?keep=25", 1), ("?keep=23", 2)])
    def test_a_copy_of_yesterday_is_made_anew(
        self, server: BoltServer, kept: Path, keep: str, reads: int
    ) -> None:
        for _ in range(2):
            open_graph([f"bolt://127.0.0.1:{server.port}{keep}"])
            for copy in copies(kept):
                os.utime(copy, times=(0, time.time() - 86_401))
        assert server.queries.count(NODES) == reads

    def test_a_copy_of_tomorrow_is_made_anew(self, server: BoltServer, kept: Path) -> None:
        for _ in range(2):
            open_graph([f"bolt://127.0.0.1:{server.port}"])
            for copy in copies(kept):
                os.utime(copy, times=(0, time.time() + 86_401))  # by a clock that was wrong
        assert server.queries.count(NODES) == 2

    def test_others_who_ask_have_copies_of_their_own(self, server: BoltServer, kept: Path) -> None:
        for user, parameters in [("ann", ""), ("bob", ""), ("ann", "?name=title")]:
            open_graph([f"bolt://{user}:{PASSWORD}@127.0.0.1:{server.port}{parameters}"])
        assert server.queries.count(NODES) == len(copies(kept)) == 3

    def test_who_is_not_let_in_has_no_copy(self, kept: Path) -> None:
        with bolt_server(told) as server:
            address = f"bolt://ann:{PASSWORD}@127.0.0.1:{server.port}"
            open_graph([address])
            server.refuses = True
            with pytest.raises(KGUnavailable, match="refuses user and password"):
                open_graph([address])

    def test_a_damaged_copy_is_read_anew(self, server: BoltServer, kept: Path) -> None:
        for _ in range(2):
            graph = open_graph([f"bolt://127.0.0.1:{server.port}"])
            (copies(kept)[0].parent / "kgqa.json").write_text("{}") if copies(kept) else None
        assert f"{RELATION}ACTED_IN" in graph.relations
        assert server.queries.count(NODES) == 2

    def test_where_no_folder_can_be_written_it_is_read(self, server: BoltServer, kept: Path) -> None:
        kept.parent.write_text("no folder")
        assert f"{RELATION}ACTED_IN" in open_graph([f"bolt://127.0.0.1:{server.port}"]).relations

    def test_where_there_is_no_room_it_is_read(
        self, server: BoltServer, kept: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> object:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(PropertyGraphReader, "load", full)
        with closing(PropertyGraphReader(f"bolt://127.0.0.1:{server.port}")) as reader:
            assert file_cache.store_of_property_graph(reader) is None
        assert not copies(kept)

    def test_an_outage_while_it_is_read_leaves_the_copy_that_there_was(self, kept: Path) -> None:
        answers: dict[str, list[Any]] = dict(GRAPH)

        def changed(query: str) -> Iterator[Any]:
            if query not in answers:
                raise ConnectionAbortedError
            yield from answers[query]

        with bolt_server(changed) as server:
            address = f"bolt://127.0.0.1:{server.port}"
            before = open_graph([address]).fingerprint
            answers[TYPES] = [["ACTED_IN", 1, 3]]
            del answers[RELATIONSHIPS]
            with pytest.raises(KGUnavailable, match="cannot be asked"):
                open_graph([address], deadline=2)
            answers[TYPES] = GRAPH[TYPES]
            assert open_graph([address]).fingerprint == before
            assert server.queries.count(NODES) == 2


def test_a_store_is_filled_a_part_at_a_time(server: BoltServer, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"bolt://127.0.0.1:{server.port}"
    whole = set(PropertyGraphReader(address).quads())
    monkeypatch.setattr(loading, "_QUADS_AT_ONCE", 4)
    parts: list[int] = []

    class Parts:
        """A store that is told of parts."""

        store = ox.Store()

        def bulk_extend(self, quads: list[ox.Quad]) -> None:
            parts.append(len(quads))
            self.store.bulk_extend(quads)

    PropertyGraphReader(address).load(Parts())  # type: ignore[arg-type]
    assert set(Parts.store) == whole
    assert max(parts) == 4
    assert sum(parts) == len(whole)


def test_the_same_relationships_in_another_order_are_the_same_graph(server: BoltServer) -> None:
    acted = [*ACTED, "1", None, None, "2", None, None]
    shown = ["4:x:7", "SHOWN_IN", {"year": 1932}, "2", None, None, "3", "http://x/Ulm", None]
    rows = [acted, shown]
    prints = set()
    for each in (rows, rows[::-1]):
        answers = {**GRAPH, RELATIONSHIPS: each}
        with bolt_server(lambda query, answers=answers: iter(answers[query])) as other:
            prints.add(open_graph([f"bolt://127.0.0.1:{other.port}"]).fingerprint)
    assert len(prints) == 1


def test_a_refused_user_gets_one_line() -> None:
    with bolt_server(told, refuses=True) as server, pytest.raises(KGUnavailable) as caught:
        open_graph([f"bolt://ann:{PASSWORD}@127.0.0.1:{server.port}"])
    assert str(caught.value).startswith(f"bolt://127.0.0.1:{server.port} refuses user and password: ")
    assert PASSWORD not in str(caught.value)


def hang_up(query: str) -> Iterator[Any]:
    yield GRAPH[query][0]
    if query == NODES:
        raise ConnectionAbortedError


def hang_up_when_ids_are_asked_for(query: str) -> Iterator[Any]:
    if query == PROBE:
        raise ConnectionAbortedError
    yield from GRAPH[query]


def wrong(query: str) -> Iterator[Any]:
    yield from ["not a node"] if query == NODES else GRAPH[query]


def bare(query: str) -> Iterator[Any]:
    yield from [ACTED, BORN] if query == RELATIONSHIPS else GRAPH[query]


def uncounted(query: str) -> Iterator[Any]:
    yield from ["many"] if query == COUNT_NODES else GRAPH[query]


def cut_short(query: str) -> Iterator[Any]:
    yield from GRAPH[query][:1]


def forbid(query: str) -> Iterator[Any]:
    yield from GRAPH[query] if query != NODES else ()
    if query == NODES:
        raise PermissionError("user may not read")


@pytest.mark.parametrize(
    "answers", [hang_up, hang_up_when_ids_are_asked_for, wrong, bare, uncounted, cut_short, forbid]
)
def test_a_broken_answer_is_an_outage_not_a_smaller_graph(answers: Any, tmp_path: Path) -> None:
    with bolt_server(answers) as server, pytest.raises(KGError) as caught:
        build_store(PropertyGraphReader(f"bolt://127.0.0.1:{server.port}", deadline=2), tmp_path / "out")
    assert str(caught.value).startswith(f"bolt://127.0.0.1:{server.port}")
    assert "\n" not in str(caught.value)
    assert "no answer" not in str(caught.value)  # it is told at once
    assert not (tmp_path / "out").exists()


def test_a_server_that_falls_silent_is_not_waited_for_for_ever() -> None:
    released = threading.Event()

    def stall(query: str) -> Iterator[Any]:
        released.wait(30)
        yield from ()

    with bolt_server(stall) as server:
        try:
            with pytest.raises(KGSilent, match=r"no answer within 0\.6 s"):
                list(PropertyGraphReader(f"bolt://127.0.0.1:{server.port}", deadline=0.3).quads())
        finally:
            released.set()


def test_what_is_cut_by_the_server_is_said() -> None:
    with bolt_server(cut_short) as server, pytest.raises(KGMalformed, match="gave 2 of 5 nodes and relat"):
        facts(f"bolt://127.0.0.1:{server.port}")


def test_what_is_removed_meanwhile_is_not_missed() -> None:
    asked: list[str] = []

    def fewer(query: str) -> Iterator[Any]:
        asked.append(query)
        yield from [1] if query == COUNT_RELATIONSHIPS and RELATIONSHIPS in asked else cut(query)

    def cut(query: str) -> Iterator[Any]:
        yield from GRAPH[query][:1] if query == RELATIONSHIPS else GRAPH[query]

    with bolt_server(fewer) as server:
        assert facts(f"bolt://127.0.0.1:{server.port}")


def test_who_may_not_read_gets_one_line() -> None:
    with bolt_server(forbid) as server, pytest.raises(KGUnavailable) as caught:
        facts(f"bolt://127.0.0.1:{server.port}")
    assert (
        str(caught.value) == f"bolt://127.0.0.1:{server.port} does not let this user read: user may not read"
    )


def test_an_empty_database_gets_one_line(tmp_path: Path) -> None:
    with bolt_server(lambda query: iter([0])) as server:
        ran = CliRunner().invoke(
            app, ["kg", "load", f"bolt://127.0.0.1:{server.port}", "--out", str(tmp_path / "out")]
        )
    assert ran.exit_code == 3
    assert f"bolt://127.0.0.1:{server.port} has no nodes, or none that this user may read" in ran.output
    assert not (tmp_path / "out").exists()


def test_nobody_there() -> None:
    with pytest.raises(KGUnavailable, match=r"^bolt://127\.0\.0\.1:1 cannot be asked: "):
        list(PropertyGraphReader("bolt://127.0.0.1:1", deadline=1).quads())


def test_nobody_there_is_one_line_on_the_command_line() -> None:
    command = [sys.executable, "-P", "-m", "kgqa.cli.main", "kg", "info", "neo4j://127.0.0.1:1/movies"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 3
    assert ran.stderr.startswith("kgqa: neo4j://127.0.0.1:1/movies cannot be asked: ")
    assert ran.stderr.count("\n") == 1


WRONG_ADDRESSES = {
    "bolt://": "write it as neo4j://user:password@host:7687/database",
    "neo4j://host/a/b": "write it as neo4j://user:password@host:7687/database",
    "neo4j://host:seven": "Port could not be cast",
    "neo4j://host/db?nme=x": "unknown parameter 'nme'; id, name, keep",
    "neo4j://host/db?keep=long": "keep is a number of hours, 0 or more, not 'long'",
    "neo4j://host/db?keep=-1": "keep is a number of hours, 0 or more, not '-1'",
    "neo4j://host/db?keep=nan": "keep is a number of hours, 0 or more, not 'nan'",
    f"neo4j://ann:{PASSWORD}/x@host": "write %40, %2F, %3F and %23",
    f"postgres://ann:{PASSWORD}@host": "an address begins with http:// or https://, or with neo4j:// or bolt://",
}


@pytest.mark.parametrize("address", WRONG_ADDRESSES)
def test_a_wrong_address_gets_one_line(address: str) -> None:
    with pytest.raises(KGUnavailable) as caught:
        open_graph([address])
    assert WRONG_ADDRESSES[address] in str(caught.value)
    assert PASSWORD not in str(caught.value)


def test_an_address_is_read() -> None:
    read = BoltAddress.read("Neo4j+S://a%40b:p%2Fw@[::1]:9/my%20db?name=a,b&id=k&keep=1.5")
    assert read == BoltAddress("neo4j+s://[::1]:9", ("a@b", "p/w"), "my db", "k", ("a", "b"), 1.5)
    assert BoltAddress.read("bolt://host") == BoltAddress(
        "bolt://host:7687", None, None, None, NAME_PROPERTIES
    )


def test_it_goes_alone(tmp_path: Path) -> None:
    with pytest.raises(KGUnavailable, match=r"^bolt://host is a whole graph and goes alone"):
        open_graph(["bolt://host", tmp_path / "g.nt"])


def test_without_the_driver_a_line_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "neo4j":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(KGUnavailable, match=r"pip install 'kgqa\[neo4j\]'"):
        open_graph(["bolt://127.0.0.1:1"])
