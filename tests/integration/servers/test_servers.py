"""The servers hold what the embedded store holds, and end with the block they are for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from kgqa.kg.opening import open_graph
from kgqa.kg.sparql import patterns, queries
from kgqa.tests.support.servers import oxigraph, virtuoso
from kgqa.tests.support.servers.processes import running

TRIPLES = """
e:ada r:knows [ r:named "a blank node", "zwei \\"Zeilen\\"\\n"@de ] , e:bob .
e:bob r:knows e:ada ; r:age 41 ; rdfs:label "Bob"@en, "B\u00f6b\U0001f600"@de .
"""

EACH = pytest.mark.parametrize("serving", [virtuoso, oxigraph], ids=["virtuoso", "oxigraph"])
SHARED = pytest.mark.parametrize("shared", ["virtuoso", "oxigraph_server"])


def ask(url: str, query: str) -> list[dict[str, Any]]:
    answer = httpx.get(url, params={**httpx.URL(url).params, "query": query}, headers={"Accept": JSON})
    return answer.raise_for_status().json()["results"]["bindings"]


JSON = "application/sparql-results+json"


@SHARED
def test_a_server_holds_the_triples_of_the_embedded_store(request, turtle, shared):
    path = turtle(TRIPLES)
    url = request.getfixturevalue(shared)([path])
    served = {(row["relation"]["value"], int(row["n"]["value"])) for row in ask(url, queries.predicates())}
    assert served == set(open_graph([path])._facts.predicates.items())


@SHARED
def test_blank_nodes_can_be_asked_for_by_the_ids_of_the_embedded_store(request, turtle, shared):
    url = request.getfixturevalue(shared)([turtle(TRIPLES)])
    rows = ask(url, f"SELECT ?name {{ {patterns.write_iri('_:b1')} <http://t/r/named> ?name }}")
    assert {row["name"]["value"] for row in rows} == {"a blank node", 'zwei "Zeilen"\n'}


@SHARED
def test_equal_files_are_served_once_and_others_apart(request, turtle, shared):
    serve: Callable[[list[Path]], str] = request.getfixturevalue(shared)
    one, two = turtle("e:a r:r e:b .", "one.ttl"), turtle("e:a r:s e:b .", "two.ttl")
    assert serve([one]) == serve([one]) != serve([two])
    assert [ask(serve([path]), "SELECT ?p { ?s ?p ?o }")[0]["p"]["value"][-1] for path in (one, two)] == [
        "r",
        "s",
    ]


@EACH
def test_a_server_ends_when_the_test_fails(serving, tmp_path, turtle):
    if reason := serving.missing():
        pytest.skip(reason)
    with pytest.raises(ZeroDivisionError), serving.serving(tmp_path, [turtle("e:a r:r e:b .")]) as url:
        assert len(ask(url, "SELECT * { ?s ?p ?o }")) == 1
        raise ZeroDivisionError
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)
    assert not list(tmp_path.glob("*.db"))


def test_a_process_is_gone_when_its_block_fails(tmp_path):
    url = "http://127.0.0.1:1/"
    with pytest.raises(RuntimeError, match=r"did not start:\nof no use"):
        running(["sh", "-c", "echo of no use; exit 1"], tmp_path, url).__enter__()


def test_virtuoso_cuts_answers_to_the_rows_of_its_ini_without_a_word(tmp_path, turtle):
    if reason := virtuoso.missing():
        pytest.skip(reason)
    path = turtle("\n".join(f"e:a r:r e:b{n} ." for n in range(20)))
    with virtuoso.serving(tmp_path, [path], rows=7) as url:
        assert len(ask(url, "SELECT * { ?s ?p ?o }")) == 7
