"""Every method that asks a graph leaves the same record of a property graph as of RDF with the same facts.

The property graph is FalkorDB's: it has a parser of Cypher, and a port for Bolt, of its own.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import kgqa
from kgqa.evaluation.runs.records import topic_refs
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.kg.property_graph import PropertyGraphReader
from kgqa.kg.store.loading import QuadReader
from kgqa.tests.integration.graphs.test_on_endpoints import ASKING, differing, needed, quietly, told
from kgqa.tests.support import films
from kgqa.tests.support.servers import falkordb


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if reason := falkordb.missing():
        pytest.skip(reason)
    with falkordb.serving(tmp_path_factory.mktemp("falkordb")) as url:
        falkordb.write(url, films.graph_queries())
        yield f"{url}?id=key"


@pytest.fixture(scope="module")
def rdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return films.graph_as_rdf(tmp_path_factory.mktemp("rdf"))


@pytest.fixture(scope="module")
def both(address: str, rdf: Path) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """The graph as RDF, and as it is read from the property graph."""
    return open_graph([rdf]), open_graph([address], deadline=6)


def test_the_facts_are_the_same(address: str, rdf: Path) -> None:
    assert set(PropertyGraphReader(address, deadline=6).quads()) == set(QuadReader([rdf]).quads())


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
