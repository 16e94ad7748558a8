"""Public endpoints by name, with a local server in the place of one."""

import asyncio
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kgqa.cli.main import app
from kgqa.kg import public_endpoints
from kgqa.kg.dialects import DIALECTS
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.linking.search import search_names
from kgqa.kg.opening import open_graph
from kgqa.kg.public_endpoints import ENDPOINTS
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.tests.support import films
from kgqa.tests.support.servers.faults import Answer, Exchange
from kgqa.tests.support.servers.fixtures import Serve
from kgqa.tests.support.servers.proxy import Proxy


@pytest.fixture
def rdf(tmp_path: Path) -> Path:
    path = films.triples_as_rdf(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace('" .', '"@en .'), encoding="utf-8")
    return path


async def test_a_name_is_the_endpoint_with_all_that_is_known_of_it(
    rdf: Path, oxigraph_server: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(oxigraph_server([rdf])) as server:
        monkeypatch.setitem(ENDPOINTS, "dbpedia", replace(ENDPOINTS["dbpedia"], url=server.url))
        graph = await asyncio.to_thread(open_graph, ["dbpedia"])
        assert len(server.requests) == 0  # nothing is counted
        [mention] = await graph.link("Who directed Metropolis?")
        assert [match.entity.name for match in mention.matches] == ["Metropolis"]
        chain = Chain(Entity(films.node("Metropolis")), (Hop(f"{films.RELATION}directed_by"),))
        assert [str(end.term) for end in await graph.follow_chain(chain)] == ["Fritz Lang"]
        assert graph.dialect == "plain"
        assert graph.relations == ()


async def test_a_public_endpoint_is_asked_a_few_things_at_a_time(
    rdf: Path, oxigraph_server: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way = most = 0
    with Proxy(oxigraph_server([rdf])) as server:

        def counted(exchange: Exchange) -> Answer:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            exchange.wait(0.02)
            under_way -= 1
            return exchange.fetch()

        server.faults = lambda request: counted
        monkeypatch.setitem(ENDPOINTS, "wikidata", replace(ENDPOINTS["wikidata"], url=server.url))
        graph = await asyncio.to_thread(open_graph, ["wikidata"])
        await asyncio.gather(*(graph.describe(f"http://x/{number}") for number in range(12)))
    assert most == ENDPOINTS["wikidata"].requests


def test_a_file_of_that_name_is_no_surprise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wikidata").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        KGUnavailable, match=r"say \./wikidata for that, or https://query\.wikidata\.org/sparql"
    ):
        open_graph(["wikidata"])
    with pytest.raises(KGUnavailable, match="is a folder, but not one"):
        open_graph(["./wikidata"])


def test_they_are_listed_a_line_each_with_the_limits_below() -> None:
    ended = CliRunner().invoke(app, ["kg", "list"])
    lines = ended.output.splitlines()
    assert [line.partition(":")[0] for line in lines[::2]] == list(ENDPOINTS)
    assert lines[1::2] == [f"  {each.limits}" for each in ENDPOINTS.values()]


@pytest.mark.parametrize("name", ENDPOINTS)
def test_without_a_network_one_line_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_no_host(*args: object, **more: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", find_no_host)
    ended = CliRunner().invoke(app, ["ask", "Who directed Metropolis?", "--kg", name])
    assert ended.exit_code == 3
    assert "no host of this name is found; is it written right, and is there a network?" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_misspelt_name_is_told_where_names_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KGUnavailable, match=r"^no such file: wikidta; kgqa kg list has"):
        open_graph(["wikidta"])


def test_an_endpoint_goes_alone() -> None:
    with pytest.raises(KGUnavailable, match="is a whole graph and goes alone"):
        open_graph(["dbpedia", "more.nt"])


@pytest.mark.parametrize("name", ENDPOINTS)
def test_what_is_known_of_each(name: str) -> None:
    known = ENDPOINTS[name]
    assert known.name == name
    assert public_endpoints.known_endpoint(known.url) is known
    assert known.dialect.name in DIALECTS
    assert known.search in known.dialect.searches
    assert search_names(known.search, [["ada"]], known.dialect.labels, known.dialect.labels, "en")
