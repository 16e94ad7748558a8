"""What a question mentions is the same at an endpoint: names are listed, searched for, or asked for."""

import asyncio
from pathlib import Path

import pytest

from kgqa.kg.opening import open_graph
from kgqa.tests.support.servers import virtuoso as virtuosos
from kgqa.tests.support.servers.fixtures import Serve

NAMES = {
    "us": "United States of America",
    "romney": "Mitt Romney",
    "lee": "Ann LEE",
    "hunt": "Helen Hunt",
    "germany": "Germany",
    "language": "German Language",
    "country": "Country",
}
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

QUESTIONS = {
    "what degrees does romney have?": [["romney"]],
    "who does ann lee know in germany?": [["lee"], ["germany"]],
    "where is german spoken?": [["language", "germany"]],
    "what country is the united states in?": [["us"]],
    "who knows Hellen Hunt?": [["hunt"]],
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [f'<http://x/{id}> <{LABEL}> "{name}" .' for id, name in NAMES.items()]
    lines += [f"<http://x/{id}> <http://x/knows> <http://x/romney> ." for id in NAMES if id != "country"]
    lines += [f"<http://x/{id}> <{TYPE}> <http://x/country> ." for id in ("us", "germany")]
    path = tmp_path_factory.mktemp("names") / "names.nt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


async def linked(source: str | Path, question: str) -> list[list[str]]:
    graph = await asyncio.to_thread(open_graph, [source])
    mentions = await graph.link(question)
    named = [mention.matches for mention in mentions if not mention.is_class]
    return [[match.entity.id.rpartition("/")[2] for match in matches] for matches in named]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("server", ["oxigraph_server", "virtuoso"])
async def test_a_few_names_are_listed(path, server, question, request) -> None:
    serve: Serve = request.getfixturevalue(server)
    assert await linked(serve([path]), question) == await linked(path, question) == QUESTIONS[question]


@pytest.mark.parametrize("server", ["oxigraph_server", "virtuoso"])
async def test_of_many_names_those_at_hand_are_asked_for(path, server, request, monkeypatch) -> None:
    monkeypatch.setattr("kgqa.kg.opening.MAX_LISTED_NAMES", 0)
    url = request.getfixturevalue(server)([path])
    assert await linked(url, "who does Ann LEE know in Germany?") == [["lee"], ["germany"]]
    assert await linked(url, "where do people speak german?") == [["germany"]]
    assert await linked(url, "what degrees does romney have?") == []


async def test_longer_names_are_found_in_the_full_text_index_of_virtuoso(path, tmp_path, monkeypatch) -> None:
    if reason := virtuosos.missing():
        pytest.skip(reason)
    monkeypatch.setattr("kgqa.kg.opening.MAX_LISTED_NAMES", 0)
    with virtuosos.started(tmp_path) as server:
        server.run("DB.DBA.RDF_OBJ_FT_RULE_ADD (null, null, 'All');")
        url = await asyncio.to_thread(server.load, [path], "http://kgqa.test/names/")
        server.run("DB.DBA.VT_INC_INDEX_DB_DBA_RDF_OBJ ();")
        for question, expected in QUESTIONS.items():
            if "Hellen" not in question:  # words of names alone are indexed, not what is like them
                assert await linked(url, question) == expected
