"""Property graphs over Bolt: what becomes of nodes and relationships, and one line for what fails.

The server here speaks Bolt and is told what to answer; `tests/integration/graphs/test_property_graphs.py`
has a real one.
"""

import asyncio
import builtins
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import kgqa
from kgqa.cli.main import app
from kgqa.kg import property_graph
from kgqa.kg.errors import KGError, KGSilent, KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.property_graph import NODES, RELATIONSHIPS, BoltAddress, PropertyGraphReader
from kgqa.kg.store.directory import build_store
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.tests.support.servers.bolt import BoltServer, bolt_server, date, node, relationship

NODE, RELATION = "https://kgqa.example/node/", "https://kgqa.example/relation/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
PASSWORD = "s3cr3t-word"

GRAPH = {
    NODES: [
        node(
            1, ["Person"], name="Ada", born=date(-56_270), tall=1.6, alive=False, tags=["a", "b"], code="ada"
        ),
        node(2, ["Film", "Work"], title="M", name="", blob=b"\0", vector=[0.5] * 101, none=None, code="m"),
        node(3, [], uri="http://x/Ulm", name='U"> <lm', **{"odd `key` }) DETACH DELETE (n) //": 1}),
    ],
    RELATIONSHIPS: [
        relationship(1, 1, "ACTED_IN", 2, role="Eve", year=1931),
        relationship(2, 1, "BORN `IN`", 3),
    ],
}


def told(query: str) -> Iterator[Any]:
    yield from GRAPH[query]


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
    between = "urn:kgqa:blank:b1"
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
    assert server.queries == [NODES, RELATIONSHIPS]  # constants: nothing of the graph is Cypher


def test_properties_that_tell_nodes_apart_and_name_them(server: BoltServer) -> None:
    found = facts(f"bolt://127.0.0.1:{server.port}?id=code&name=code,title")
    assert (f"{NODE}ada", LABEL, "ada") in found
    assert (f"{NODE}ada", f"{RELATION}ACTED_IN", f"{NODE}m") in found
    assert (f"{NODE}ada", f"{RELATION}name", "Ada") in found


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
    monkeypatch.setattr("kgqa.kg.opening.MAX_IN_MEMORY", 4)
    address = f"bolt://127.0.0.1:{server.port}"
    with pytest.raises(
        KGUnavailable, match="more than 4 nodes and relationships; load it once: kgqa kg load"
    ):
        open_graph([address])
    build_store(PropertyGraphReader(address), tmp_path / "all")
    assert open_graph([tmp_path / "all"]).relations


def test_a_refused_user_gets_one_line() -> None:
    with bolt_server(told, refuses=True) as server, pytest.raises(KGUnavailable) as caught:
        open_graph([f"bolt://ann:{PASSWORD}@127.0.0.1:{server.port}"])
    assert str(caught.value).startswith(f"bolt://127.0.0.1:{server.port} refuses user and password: ")
    assert PASSWORD not in str(caught.value)


def hang_up(query: str) -> Iterator[Any]:
    yield GRAPH[NODES][0]
    raise ConnectionAbortedError


def wrong(query: str) -> Iterator[Any]:
    yield "not a node"


@pytest.mark.parametrize("answers", [hang_up, wrong])
def test_a_broken_answer_is_an_outage_not_a_smaller_graph(answers: Any, tmp_path: Path) -> None:
    with bolt_server(answers) as server, pytest.raises(KGError) as caught:
        build_store(PropertyGraphReader(f"bolt://127.0.0.1:{server.port}", deadline=2), tmp_path / "out")
    assert str(caught.value).startswith(f"bolt://127.0.0.1:{server.port}")
    assert "\n" not in str(caught.value)
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


def test_nobody_there() -> None:
    with pytest.raises(KGUnavailable, match=r"^bolt://127\.0\.0\.1:1 cannot be asked: "):
        list(PropertyGraphReader("bolt://127.0.0.1:1", deadline=1).quads())


WRONG_ADDRESSES = {
    "bolt://": "write it as neo4j://user:password@host:7687/database",
    "neo4j://host/a/b": "write it as neo4j://user:password@host:7687/database",
    "neo4j://host:seven": "Port could not be cast",
    "neo4j://host/db?nme=x": "unknown parameter 'nme'; id, name",
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
    read = BoltAddress.read("Neo4j+S://a%40b:p%2Fw@[::1]:9/my%20db?name=a,b&id=k")
    assert read == BoltAddress("neo4j+s://[::1]:9", ("a@b", "p/w"), "my db", "k", ("a", "b"))
    assert BoltAddress.read("bolt://host") == BoltAddress(
        "bolt://host:7687", None, None, None, property_graph.NAME_PROPERTIES
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
