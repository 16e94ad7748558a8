"""Questions for sets over five graphs: a perfect model's drafts are right, and give the same everywhere.

It drafts the SPARQL of a question, whose gold is what pyoxigraph gives for it.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
import rdflib

import kgqa
from kgqa.benchmarks.drafts import rows_of
from kgqa.data import SAMPLE_GRAPH
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import Question, Rows
from kgqa.evaluation.scoring.tables import is_exact
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.kg.terms import local_name
from kgqa.runtime.record import Record
from kgqa.tests.support.cases import NO_DATA, server_missing, tried
from kgqa.tests.support.perfect import DATA
from kgqa.tests.support.servers import triples

GRAPHS = {
    "sample": SAMPLE_GRAPH,
    "music": DATA / "own" / "music.ttl.gz",
    "northwind": DATA / "own" / "northwind",
    "worldcup": DATA / "worldcup" / "wc2014.nt.gz",
    "wikidata": DATA / "wikidata" / "wikidata_slice.nt.gz",
}
METHODS = ("compose", "draft")
SERVED = [("northwind", "oxigraph_server"), ("music", "virtuoso")]
"""What is drafted for over a server, which takes a minute to say what is in a graph."""

FEW = slice(None, None, 3)
"""Questions that are asked of a method, a server or a library that does the same as another."""

LEFT_OUT = {"virtuoso": {"music-23"}, "oxigraph_server": set[str]()}
"""What a server is not asked: Virtuoso finds too few integers above an average of a SELECT within, late."""

Run = Callable[[str], Rows]


def absent(graph: str) -> str | None:
    return None if GRAPHS[graph].exists() else NO_DATA


@cache
def read(graph: str) -> Sequence[Question]:
    return load(Path(__file__).parent / "draft_sets" / f"{graph}.jsonl").questions


@cache
def opened(graph: str) -> KnowledgeGraph:
    return open_graph([GRAPHS[graph]])


async def ask_all(
    asked: Sequence[Question], graph: str, method: str, kg: KnowledgeGraph
) -> list[tuple[Question, Record]]:
    """Ask questions about a graph; the model looks into the embedded one."""
    given: dict[str, Any] = {"kg": kg, "method": method, "allow_parametric": False}
    return [
        (each, await kgqa.aask(each.text, model=SimulatedModel(each, opened(graph), ErrorRates()), **given))
        for each in asked
    ]


DRAFTED: dict[str, list[tuple[Question, Record]]] = {}


async def drafted(graph: str) -> list[tuple[Question, Record]]:
    """Ask for drafts about a graph, once."""
    if graph not in DRAFTED:
        DRAFTED[graph] = await ask_all(read(graph), graph, "draft", opened(graph))
    return DRAFTED[graph]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Write a graph as N-Triples, once."""
    return cache(lambda graph: triples.write([GRAPHS[graph]], tmp_path_factory.mktemp(graph) / "graph.nt"))


@pytest.fixture(scope="module")
def by_pyoxigraph(written: Callable[[str], Path]) -> Callable[[str], Run]:
    @cache
    def over(graph: str) -> Run:
        store = pyoxigraph.Store()
        store.bulk_load(path=written(graph), format=pyoxigraph.RdfFormat.N_TRIPLES)

        @cache
        def run(query: str) -> Rows:
            found: Any = store.query(query)
            if isinstance(found, pyoxigraph.QueryBoolean):
                return bool(found)
            return [[cell and cell.value for cell in row] for row in found]

        return run

    return over


@pytest.fixture(scope="module")
def by_rdflib(written: Callable[[str], Path]) -> Iterator[Callable[[str], Run]]:
    """Query the facts that a few questions about a graph may need, by the names of their relations.

    Values stay as they are written.
    """

    @cache
    def over(graph: str) -> Run:
        needed = {"type", *re.findall(r"\w+", " ".join(each.sparql or "" for each in read(graph)[FEW]))}
        with written(graph).open(encoding="utf-8") as lines:
            facts = [line for line in lines if local_name(line.split(" ", 2)[1].strip("<>")) in needed]
        plain = rdflib.Graph().parse(data="".join(facts), format="nt")

        @cache
        def run(query: str) -> Rows:
            found: Any = plain.query(query)
            return (
                found.askAnswer
                if found.type == "ASK"
                else [[None if cell is None else str(cell) for cell in row] for row in found]
            )

        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rdflib, "NORMALIZE_LITERALS", False)
        yield over


def rounded(rows: Rows) -> Rows:
    """Return rows with numbers to nine digits: stores divide to different numbers of digits."""

    def short(cell: str | None) -> str | None:
        try:
            return cell and f"{float(cell):.9g}"
        except ValueError:
            return cell

    return rows if isinstance(rows, bool) else [list(map(short, row)) for row in rows]


def are_same(given: Rows, gold: Rows, question: Question) -> bool:
    return is_exact(rounded(given), rounded(gold), ordered=question.ordered)


@pytest.mark.parametrize(("graph",), tried(product(GRAPHS), absent))
def test_every_question_has_gold(graph: str, by_pyoxigraph: Callable[[str], Run]) -> None:
    assert len(read(graph)) == 24
    assert all(by_pyoxigraph(graph)(each.sparql or "") != [] for each in read(graph))


@pytest.mark.parametrize(("graph", "method"), tried(product(GRAPHS, METHODS), lambda graph, _: absent(graph)))
async def test_drafts_are_right_and_replayed(
    graph: str, method: str, by_pyoxigraph: Callable[[str], Run], by_rdflib: Callable[[str], Run]
) -> None:
    run, wrong = by_pyoxigraph(graph), []
    if method == "draft":
        asked, replayed = await drafted(graph), read(graph)[FEW]
    else:  # compose drafts the same queries, replayed already
        asked, replayed = await ask_all(read(graph)[FEW], graph, method, opened(graph)), []
    for question, record in asked:
        rows, query = rows_of(record), record["query"] or "ASK {}"
        all_rows = [run(question.sparql or ""), run(query)]
        if question in replayed:
            all_rows.append(by_rdflib(graph)(query))
        wrong += [question.id] * (not all(are_same(rows, each, question) for each in all_rows))
    assert wrong == []


def cannot_serve(graph: str, server: str) -> str | None:
    return absent(graph) or server_missing(server)


@pytest.mark.parametrize(("graph", "server"), tried(product(GRAPHS, ["virtuoso"]), cannot_serve))
async def test_servers_give_the_same_rows(
    graph: str, server: str, by_pyoxigraph: Callable[[str], Run], request: pytest.FixtureRequest
) -> None:
    served = open_graph([await asyncio.to_thread(request.getfixturevalue(server), [GRAPHS[graph]])])
    run, lost = by_pyoxigraph(graph), []
    for question, record in await drafted(graph):
        if question.id in LEFT_OUT[server]:
            continue
        gold = run(query := record["query"] or "ASK {}")
        rows = [[cell and cell.id for cell in row] for row in (await served.select(query)).rows]
        lost += [question.id] * (
            not are_same(rows == [["true"]] if isinstance(gold, bool) else rows, gold, question)
        )
    assert lost == []


@pytest.mark.timeout(600)  # the profile of a graph takes a busy server a minute
@pytest.mark.parametrize(("graph", "server"), tried(SERVED, cannot_serve))
async def test_drafts_over_a_server_give_the_same_rows(
    graph: str, server: str, by_pyoxigraph: Callable[[str], Run], request: pytest.FixtureRequest
) -> None:
    serve = request.getfixturevalue(server)
    served = open_graph([await asyncio.to_thread(serve, [GRAPHS[graph]])])
    run = by_pyoxigraph(graph)
    few = [each for each in read(graph)[FEW] if each.id not in LEFT_OUT[server]]
    asked = await ask_all(few, graph, "draft", served)
    assert [q.id for q, each in asked if not are_same(rows_of(each), run(q.sparql or ""), q)] == []
