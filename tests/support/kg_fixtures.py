from collections.abc import Callable
from pathlib import Path

import pytest

from kgqa.kg.opening import open_graph
from kgqa.kg.profile.building import build_profile
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.tests.support.perfect import DATA

PREFIXES = """
@prefix : <http://x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix fb: <http://rdf.freebase.com/ns/> .
"""

MakeGraph = Callable[..., SparqlGraph]


@pytest.fixture
def make_graph(tmp_path: Path) -> MakeGraph:
    """A function from Turtle text (prefixes given) to an open graph."""

    def make(turtle: str, **options: object) -> SparqlGraph:
        path = tmp_path / "graph.ttl"
        path.write_text(PREFIXES + turtle, encoding="utf-8")
        return open_graph([path], **options)

    return make


@pytest.fixture(scope="session")
def data() -> Path:
    if not (DATA / "README.md").is_file():
        pytest.skip(f"no data at {DATA}; set KGQA_DATA to the folder that holds it")
    return DATA


@pytest.fixture(scope="session")
def metaqa(data: Path) -> SparqlGraph:
    return open_graph([data / "metaqa" / "metaqa.nt.gz"], rows=100_000)


@pytest.fixture
def whole_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read all members of all classes, however long it takes: of some, stores give different ones first."""
    every = 10**6
    monkeypatch.setattr("kgqa.kg.profile.profile.MAX_SECONDS_WAITED", 240.0)
    monkeypatch.setattr("kgqa.kg.profile.building.MAX_MEMBERS_OF_CLASS", every)
    monkeypatch.setattr("kgqa.kg.opening.MAX_MEMBERS_READ_NOW", every)
    monkeypatch.setattr(build_profile, "__defaults__", (every,))
