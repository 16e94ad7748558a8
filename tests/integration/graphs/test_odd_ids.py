"""Graphs at endpoints with nodes whose ids are no IRIs: every question has its record."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.tests.support.servers.faults import Answer, Exchange
from kgqa.tests.support.servers.proxy import Proxy

GRAPH = """
e:ada rdfs:label "Ada Berg" ; r:favourite_company e:acme .
e:acme rdfs:label "Acme Corp" ; r:headquarters e:ulm .
e:ulm rdfs:label "Ulm" .
"""

TRIPLE = b'{"type":"triple","value":{"subject":{},"predicate":{},"object":{}}}'

IRI = b'{"type":"uri","value":"http://t/e/acme"}'


@dataclass(frozen=True)
class Written:
    """The real answer, in which one node is written otherwise."""

    node: bytes

    def __call__(self, exchange: Exchange) -> Answer:
        answer = exchange.fetch()
        return replace(answer, body=answer.body.replace(IRI, self.node))


def uri(id: str) -> bytes:
    return IRI.replace(b"http://t/e/acme", id.encode())


@pytest.fixture
def served(
    oxigraph_server: Callable[[list[Path]], str], turtle: Callable[[str], Path]
) -> Iterator[Callable[[bytes], str]]:
    with Proxy(oxigraph_server([turtle(GRAPH)])) as proxy:

        def serve(node: bytes) -> str:
            proxy.faults = lambda request: Written(node)
            return proxy.url

        yield serve


def ask(url: str, question: str, method: str) -> Any:
    return kgqa.ask(question, kg=url, model="offline", method=method)


FAVOURITE = "What is the favourite company of Ada Berg?"

HEADQUARTERS = "Where is the headquarters of the favourite company of Ada Berg?"


@pytest.mark.parametrize("method", ["compose", "cor", "cog", "pog"])
@pytest.mark.parametrize("id", ["http://t/e/ac me", "http://t/e/<acme>", 'http://t/e/\\"acme\\"'])
def test_a_node_whose_iri_has_what_none_may_have_is_kept(
    served: Callable[[bytes], str], id: str, method: str
) -> None:
    url = served(uri(id))
    first, second = ask(url, FAVOURITE, method), ask(url, HEADQUARTERS, method)
    assert [answer["name"] for answer in first["answers"]] == ["Acme Corp"]
    assert [answer["name"] for answer in second["answers"]] == ["Ulm"]
    tails = [step["tail"]["name"] for step in second["paths"][0]]
    assert tails == ["Acme Corp", "Ulm"]
    assert {first["outcome"], second["outcome"]} == {"grounded"}


@pytest.mark.parametrize("method", ["compose", "cor", "cog", "pog", "vog"])
@pytest.mark.parametrize("node", [TRIPLE, uri("acme"), uri("")], ids=["triple", "relative", "none"])
def test_a_node_that_is_none_stays_a_variable_of_its_path(
    served: Callable[[bytes], str], node: bytes, method: str
) -> None:
    url = served(node)
    record = ask(url, HEADQUARTERS, method)
    assert record["trace"]
    assert [answer["name"] for answer in record["answers"]] == ([] if method in ("cog", "pog") else ["Ulm"])
    if method in ("compose", "cor"):
        assert record["outcome"] == "grounded"
        assert str(record).splitlines()[2].startswith("  Ada Berg -favourite_company-> ? -headquarters-> ")
    assert not any("acme" in str(answer["id"]) for answer in ask(url, FAVOURITE, method)["answers"])
