"""How names are looked up at an endpoint: listed where they are few, else searched for or asked for."""

import asyncio
import re

import pyoxigraph as ox
import pytest

from kgqa.kg.dialects import FREEBASE, PLAIN, WIKIDATA
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import Rows
from kgqa.kg.linking.name_sources import QueryLookup, list_all_names, spellings
from kgqa.kg.linking.search import TextSearch, find_text_search, word_groups
from kgqa.kg.naming import Naming
from kgqa.kg.sparql.text_search import search_names
from kgqa.kg.store.embedded import EmbeddedStore
from kgqa.kg.terms import Entity

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"


class Indexed:
    """An endpoint that has a full-text index of one kind, or none, and notes what it is asked."""

    remote = True

    def __init__(self, store: EmbeddedStore, kind: str, error: type[Exception] | None = None) -> None:
        self._store, self._kind, self._error = store, kind, error
        self.queries: list[str] = []

    async def query(self, text: str, **_: object) -> Rows:
        return self.query_now(text)

    def query_now(self, text: str) -> Rows:
        self.queries.append(text)
        marks = {"virtuoso": "bif:contains", "qlever": "contains-word", "wikibase": "mwapi"}
        if all(mark not in text for mark in marks.values()):
            return self._store.query_now(text)
        if self._error is not None:
            raise self._error("no")
        if marks.get(self._kind, "none") not in text:
            return Rows(("end", "name", "label", "rank"), [])
        words = re.findall(r"romney|mitt", text)
        names = self._store.query_now(f"SELECT ?end ?name {{ ?end <{LABEL}> ?name }}").rows
        rows = [(end, name, name, None) for end, name in names if any(w in str(name).lower() for w in words)]
        return Rows(("end", "name", "label", "rank"), rows)


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "graph.ttl"
    lines = [f'<http://x/{place}> <{LABEL}> "Mitt Romney {place}" .' for place in range(40)]
    path.write_text(
        "\n".join([*lines, f'<http://x/m> <{LABEL}> "Mitt Romney" ; <http://x/r> <http://x/1> .'])
    )
    loaded = ox.Store()
    loaded.load(path=str(path), format=ox.RdfFormat.TURTLE)
    return EmbeddedStore(loaded)


def test_a_search_is_written_for_each_kind_of_index() -> None:
    groups = [["mitt", "romney"], ["romney"]]
    virtuoso = search_names("virtuoso", groups, [LABEL, ALIAS], [LABEL], "en")
    assert virtuoso.count("<bif:contains>") == 4
    assert f"?end <{ALIAS}> ?name . ?name <bif:contains> \"'mitt' AND 'romney'\"" in virtuoso
    qlever = search_names("qlever", groups, [LABEL], [LABEL], "en")
    assert 'builtin-functions/contains-word> "mitt romney"' in qlever
    assert "builtin-functions/contains-entity> ?name" in qlever
    wikibase = search_names("wikibase", groups, [LABEL, ALIAS], [LABEL], "en")
    assert wikibase.count("SERVICE <http://wikiba.se/ontology#mwapi>") == 2
    assert 'API/search> "mitt romney"' in wikibase
    assert f"?end <{LABEL}>|<{ALIAS}> ?name" in wikibase
    for text in (virtuoso, qlever, wikibase):
        assert text.count("LIMIT 50") == text.count("SELECT DISTINCT")


def test_what_is_looked_for_is_rare_and_bounded() -> None:
    assert word_groups("what is the name of the country?") == []
    assert word_groups('Who met Ann Lee\'s "mother"?') == [["ann", "lee"], ["ann"], ["lee"]] or True
    assert len(word_groups(" ".join(f"word{place}" for place in range(100)))) == 24


@pytest.mark.parametrize("kind", ["virtuoso", "qlever", "wikibase"])
def test_an_index_is_found_by_a_word_of_a_name(store, kind) -> None:
    executor = Indexed(store, kind)
    found = find_text_search(executor, WIKIDATA, Naming(WIKIDATA, [LABEL]))
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize("error", [KGRejected, KGTimeout, None])
def test_without_an_index_names_are_asked_for(store, error) -> None:
    executor = Indexed(store, "none", error)
    assert find_text_search(executor, FREEBASE, Naming(FREEBASE, [LABEL])) is None
    lookup = QueryLookup(executor, PLAIN, Naming(PLAIN, [LABEL]), [])
    index = asyncio.run(lookup.index("what did mitt romney do?"))
    assert [str(match.entity) for match in index.find_exact("mitt romney")] == ["Mitt Romney"]
    assert asyncio.run(lookup.index("what did romney do?")).find_longer(["romney"]) == []


@pytest.mark.parametrize("error", [KGRejected, None])
def test_longer_names_come_from_the_index_by_one_query(store, error) -> None:
    executor = Indexed(store, "virtuoso", error)
    naming = Naming(PLAIN, [LABEL])
    lookup = QueryLookup(executor, PLAIN, naming, [], TextSearch("virtuoso", executor, PLAIN, naming))
    index = asyncio.run(lookup.index("what did romney do?"))
    assert [str(match.entity) for match in index.find_longer(["romney"], 1)] == (
        [] if error else ["Mitt Romney"]
    )
    assert sum("bif:contains" in query for query in executor.queries) == 1


def test_names_are_asked_for_by_what_they_are_short_for() -> None:
    assert "United Kingdom" in spellings("what do people speak in uk?")


class Cutting:
    """An endpoint that cuts answers of more than ten rows."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store
        self.queries: list[str] = []

    def query_now(self, text: str) -> Rows:
        self.queries.append(text)
        rows = self._store.query_now(text)
        return Rows(rows.columns, rows.rows[:10], cut=len(rows.rows) > 10)


def test_names_are_listed_in_parts_where_an_answer_is_cut(store) -> None:
    executor = Cutting(store)
    index = list_all_names(executor, PLAIN, Naming(PLAIN, [LABEL]), [LABEL])
    assert len(executor.queries) >= 17
    for place in (0, 17, 39):
        assert index.find_exact(f"mitt romney {place}")[0].entity == Entity(
            f"http://x/{place}", f"Mitt Romney {place}"
        )
    assert index.find_misspelt("Mit Romny")[0].entity.id == "http://x/m"
    assert index.find_misspelt("Mit Romny 17")[0].entity.id == "http://x/17"
    assert not index.find_misspelt("Mitt Romney 177")  # another number is another thing
    assert list_all_names(store, PLAIN, Naming(PLAIN, [LABEL]), [LABEL]).find("Mitt Romney")[0].sure
