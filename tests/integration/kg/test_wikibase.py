"""A Wikibase of one's own, in a file and at an endpoint: names of relations, and ranks of statements."""

import asyncio
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pyoxigraph as ox
import pytest

import kgqa
from kgqa.kg.dialects import RDFS, WIKIBASE
from kgqa.kg.opening import open_graph
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition
from kgqa.kg.sparql.attributes import attribute_values
from kgqa.kg.sparql.chain_queries import Limits
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.tests.support.cases import server_missing, tried
from kgqa.tests.support.servers.fixtures import Serve

USUAL = {"directClaim": "prop/direct/", "claim": "prop/", "statementProperty": "prop/statement/"}
USUAL["qualifier"] = "prop/qualifier/"
OWN = {"directClaim": "fact/", "claim": "stated/", "statementProperty": "value/", "qualifier": "more/"}
WEB = "http://archive.test/"
NAMES = {"Q1": "Harbour Museum", "Q2": "Lena Brook", "Q3": "Paul Stern", "Q4": "Vera Moss", "Q5": "Old Mint"}
STATEMENTS = [("Q1", "Q2", "Preferred", 2015), ("Q1", "Q3", "Normal", 2001), ("Q1", "Q4", "Deprecated", 1999)]
STATEMENTS += [("Q5", "Q4", "Deprecated", 1980), ("Q5", "Q3", "Normal", 1990)]
STORES = ("embedded", "oxigraph_server", "virtuoso")


def written(spaces: dict[str, str]) -> str:
    """Return the triples of a Wikibase whose relations have these namespaces."""
    lines = [f'<{WEB}entity/{id}> <{RDFS}label> "{name}"@en .' for id, name in NAMES.items()]
    for id, name in (("P2", "curator"), ("P4", "start time")):
        lines.append(f'<{WEB}entity/{id}> <{RDFS}label> "{name}"@en .')
        lines += [f"<{WEB}entity/{id}> <{WIKIBASE}{of}> <{WEB}{at}{id}> ." for of, at in spaces.items()]
    for number, (subject, value, rank, year) in enumerate(STATEMENTS):
        node = f"<{WEB}entity/statement/{subject}-0000000{number}-aa11-bb22-cc33-dd4455667788>"
        lines.append(f"<{WEB}entity/{subject}> <{WEB}{spaces['claim']}P2> {node} .")
        lines.append(f"{node} <{WEB}{spaces['statementProperty']}P2> <{WEB}entity/{value}> .")
        lines.append(f"{node} <{WIKIBASE}rank> <{WIKIBASE}{rank}Rank> .")
        lines.append(f'{node} <{WEB}{spaces["qualifier"]}P4> "{year}" .')
    lines.append(f"<{WEB}entity/Q1> <{WEB}{spaces['directClaim']}P2> <{WEB}entity/Q2> .")
    return "\n".join(lines)


@pytest.fixture(scope="module", params=["usual", "own"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("wikibase") / f"{request.param}.nt"
    path.write_text(written(USUAL if request.param == "usual" else OWN), encoding="utf-8")
    yield path


def untried(store: str) -> str | None:
    return None if store == "embedded" else server_missing(store)


def source(store: str, path: Path, request: pytest.FixtureRequest) -> str:
    if store == "embedded":
        return str(path)
    serve: Serve = request.getfixturevalue(store)
    return serve([path])


@pytest.mark.parametrize("store", tried(product(STORES), untried))
def test_relations_have_the_names_of_their_properties(
    path: Path, store: str, request: pytest.FixtureRequest
) -> None:
    record = kgqa.ask(
        "Who is the curator of Harbour Museum?", kg=source(store, path, request), model="offline"
    )
    assert [answer["name"] for answer in record["answers"]] == ["Lena Brook"]
    assert record["outcome"] == "grounded"
    graph = open_graph([source(store, path, request)])
    spaces = USUAL if path.stem == "usual" else OWN
    ids = ("P2", "P2", "P2", "P4")
    shown = [graph.relation_label(WEB + at + id) for at, id in zip(spaces.values(), ids, strict=True)]
    assert shown == ["curator", "curator (statement)", "curator (value)", "start time (qualifier)"]


def test_an_endpoint_too_large_to_count_is_seen_to_be_a_wikibase(
    tmp_path: Path, oxigraph_server: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgqa.kg.opening.MAX_COUNTED_TRIPLES", 1)
    (path := tmp_path / "usual.nt").write_text(written(USUAL), encoding="utf-8")
    kg = oxigraph_server([path])
    record = kgqa.ask("Who is the curator of Harbour Museum?", kg=kg, model="offline")
    assert [answer["name"] for answer in record["answers"]] == ["Lena Brook"]


STATED = (Hop(f"{WEB}prop/P2"), Hop(f"{WEB}prop/statement/P2"))
SINCE = (Hop(f"{WEB}prop/qualifier/P4"),)


def of(subject: str, hops: tuple[Hop, ...] = STATED, **more: object) -> AnswerQuery:
    branch = Branch(Chain(Entity(f"{WEB}entity/{subject}"), hops), (1, 2))
    return AnswerQuery((branch,), 2, **more)


BACK = tuple(hop.inverse for hop in reversed(STATED))
RANKED = {
    "preferred before normal": (of("Q1"), {"Q2"}),
    "normal where none is preferred": (of("Q5"), {"Q3"}),
    "of any rank under a condition": (
        of("Q1", conditions=(Condition(1, SINCE, "<", Literal("2010")),)),
        {"Q3"},
    ),
    "all that are not deprecated count": (of("Q1", aggregate=Aggregate("count")), {"2"}),
    "back from a value that is not preferred": (of("Q3", BACK), {"Q5"}),
    "back from one that is deprecated": (of("Q4", BACK), set()),
}


@pytest.mark.parametrize(("store", "case"), tried(product(STORES, RANKED), lambda store, _: untried(store)))
async def test_a_statement_counts_by_its_rank(
    store: str, case: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    path = tmp_path_factory.mktemp("ranked") / "ranked.nt"
    path.write_text(written(USUAL), encoding="utf-8")
    graph = await asyncio.to_thread(open_graph, [source(store, path, request)])
    query, wanted = RANKED[case]
    proof = await graph.prove(query)
    assert {term.id.removeprefix(f"{WEB}entity/") for term in proof.answers} == wanted


@pytest.mark.parametrize("store", tried(product(STORES), untried))
async def test_a_deprecated_statement_leads_nowhere(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "ranked.nt"
    path.write_text(written(USUAL), encoding="utf-8")
    graph = await asyncio.to_thread(open_graph, [source(store, path, request)])
    page = await graph.follow_chain(Chain(Entity(f"{WEB}entity/Q1"), STATED))
    assert {each.term.name for each in page} == {"Lena Brook", "Paul Stern"}


def test_an_attribute_is_by_no_deprecated_statement() -> None:
    store, subject = ox.Store(), Chain(Entity(f"{WEB}entity/P2"), (Hop(f"{RDFS}seeAlso"),))
    about = "".join(f"\n<{WEB}entity/P2> <{RDFS}seeAlso> <{WEB}entity/{id}> ." for id in ("Q1", "Q5"))
    store.load((written(USUAL) + about).encode(), ox.RdfFormat.N_TRIPLES)
    text = attribute_values([(subject, {1: [STATED[0]]})], (), (), [f"{RDFS}label"], Limits.of(100))
    found = {str(row["value"]) for row in store.query(text) if row["further"] or row["relation"]}
    assert any("Q3" in each for each in found)
    assert not any("Q4" in each or "00000002" in each for each in found)
