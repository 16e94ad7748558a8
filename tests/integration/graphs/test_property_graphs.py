"""Every method that asks a graph leaves the same record of a property graph as of RDF with the same facts.

The property graphs are FalkorDB's and ArcadeDB's: each has a parser of Cypher, and a port for Bolt, of its
own; ArcadeDB has users and databases, too.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import kgqa
from kgqa.evaluation.runs.records import topic_refs
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.kg.property_graph import PropertyGraphReader
from kgqa.kg.store import file_cache
from kgqa.kg.store.directory import open_store
from kgqa.kg.store.loading import QuadReader
from kgqa.tests.integration.graphs.test_on_endpoints import ASKING, differing, needed, quietly, told
from kgqa.tests.support import films
from kgqa.tests.support.servers import arcadedb, falkordb


@pytest.fixture(scope="module")
def falkordb_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if reason := falkordb.missing():
        pytest.skip(reason)
    with falkordb.serving(tmp_path_factory.mktemp("falkordb")) as url:
        falkordb.write(url, films.graph_queries())
        yield f"{url}?id=key"


@pytest.fixture(scope="module")
def arcade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The host and port of an ArcadeDB."""
    if reason := arcadedb.missing():
        pytest.skip(reason)
    with arcadedb.serving(tmp_path_factory.mktemp("arcadedb")) as at:
        arcadedb.write(at, films.graph_queries())
        yield at


@pytest.fixture(scope="module")
def arcadedb_address(arcade: str) -> str:
    return arcadedb.address(arcade)


@pytest.fixture(scope="module", params=["falkordb", "arcadedb"])
def address(request: pytest.FixtureRequest) -> str:
    """The address of the films, as each server has them."""
    found: str = request.getfixturevalue(f"{request.param}_address")
    return found


@pytest.fixture(scope="module")
def rdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return films.graph_as_rdf(tmp_path_factory.mktemp("rdf"))


@pytest.fixture(scope="module")
def both(address: str, rdf: Path) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """The graph as RDF, and as it is read from the property graph."""
    return open_graph([rdf]), open_graph([address], deadline=6)


def test_the_facts_are_the_same(address: str, rdf: Path) -> None:
    assert set(PropertyGraphReader(address, deadline=6).quads()) == set(QuadReader([rdf]).quads())


def test_a_kept_copy_has_the_same_facts(
    address: str, rdf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGQA_HOME", str(tmp_path))
    monkeypatch.setattr(file_cache, "MIN_SIZE_KEPT", 1)
    first, second = (open_graph([address], deadline=6) for _ in range(2))
    assert first.fingerprint == second.fingerprint
    (state,) = tmp_path.glob("graphs/*/state")
    kept = open_store(state.parent)
    assert {quad.triple for quad in kept.store} == {quad.triple for quad in QuadReader([rdf]).quads()}
    assert kept.facts.fingerprint == first.fingerprint


@quietly
@pytest.mark.parametrize("method", ASKING)
async def test_a_simulated_model_leaves_the_same_records(both, method: str) -> None:
    needed(method)
    assert await differing(films.ABOUT_NODES, method, *both) == []


@pytest.mark.parametrize("method", ["compose", "cor", "pog"])
async def test_a_perfect_model_is_right(both, method: str) -> None:
    for question in films.ABOUT_NODES:
        model = SimulatedModel(question, both[1], ErrorRates())
        topics = topic_refs(question)
        record = await kgqa.aask(question.text, kg=both[1], topics=topics, method=method, model=model)
        assert {each["id"] for each in record["answers"]} == {gold.id for gold in question.gold}
        assert record["outcome"] == "grounded"


@pytest.mark.parametrize("method", ["compose", "cor", "cog", "vog", "pog", "pog_egp", "tog"])
async def test_the_offline_model_leaves_the_same_records(both, method: str) -> None:
    for question in films.ABOUT_NODES:
        here, there = await asyncio.gather(
            *(kgqa.aask(question.text, kg=graph, method=method) for graph in both)
        )
        assert told(here) == told(there)
        assert here["answers"]


def refusal(address: str) -> str:
    """What a server says of who asks: one line without a password."""
    with pytest.raises(KGUnavailable) as caught:
        open_graph([address], deadline=6)
    said = str(caught.value)
    assert arcadedb.PASSWORD not in said
    assert "\n" not in said
    return said


def test_a_database_without_nodes(arcade: str) -> None:
    said = refusal(arcadedb.address(arcade, database=arcadedb.EMPTY))
    assert said == f"neo4j://{arcade}/{arcadedb.EMPTY} has no nodes, or none that this user may read"


def test_who_may_not_read(arcade: str) -> None:
    said = refusal(arcadedb.address(arcade, arcadedb.STRANGER))
    assert said.startswith(f"neo4j://{arcade}/movies does not let this user read: ")


def test_a_wrong_password(arcade: str) -> None:
    said = refusal(f"bolt://{arcadedb.READER}:wrong@{arcade}/movies")
    assert said == f"bolt://{arcade}/movies refuses user and password: Authentication failed"


def test_no_such_database(arcade: str) -> None:
    said = refusal(arcadedb.address(arcade, "root", "none"))
    assert said.startswith(f"neo4j://{arcade}/none cannot be asked: ")
    assert "does not exist" in said
