"""What a simulated model drafts: the gold query, or one with an error of some kind."""

from contextlib import suppress
from typing import Any

import pytest

import kgqa
from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.scoring.tables import is_exact
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.evaluation.simulation.draft_errors import wrong_queries
from kgqa.kg.drafts.schema import Schema
from kgqa.kg.errors import KGRejected
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.prompts.draft_query import DraftedQuery, DraftQuery
from kgqa.tests.support.workshop import E, R, open_workshop

PREFIXES = f"PREFIX r: <{R}> PREFIX e: <{E}> "
GROUPED = """SELECT ?m (COUNT(DISTINCT ?t) AS ?n) { ?t r:madeBy ?m ; r:state "used" ; r:weight ?w .
?m r:city "Ulm" FILTER(?w > 5) FILTER NOT EXISTS { ?t r:fits e:t2 } }
GROUP BY ?m HAVING(COUNT(DISTINCT ?t) > 0) ORDER BY ?n LIMIT 3"""

MADE = {
    "other property": 'r:madeBy ?m ; <http://t/r/kind> "used"',
    "foreign property": "?t <http://t/r/city> ?m",
    "other direction": "?t ^r:madeBy ?m",
    "misspelt name": "<http://t/r/weiht>",
    "lost condition": "?m r:city ?any",
    "lost negation": "FILTER(?w > 5)  }",
    "lost group": "SELECT  (COUNT(DISTINCT ?t) AS ?n)",
    "lost having": "GROUP BY ?m  ORDER BY",
    "lost distinct": "SELECT ?m (COUNT( ?t) AS ?n)",
    "lost limit": "ORDER BY ?n ",
    "other value": 'r:city "Bonn"',
    "miswritten value": 'r:city "ulm"',
}
"""A part of a wrong query of each kind."""


@pytest.fixture(scope="module")
def workshop() -> SparqlGraph:
    return open_workshop()


async def wrong(query: str, graph: SparqlGraph) -> dict[str, list[str]]:
    made = wrong_queries(query, Schema(await graph.profile(), graph.relations))
    return {kind: make() for kind, make in made.items()}


async def say(graph: SparqlGraph, question: Question, prompt: DraftQuery, **rates: Any) -> DraftedQuery:
    return (await SimulatedModel(question, graph, ErrorRates(**rates)).ask(prompt)).reply


async def test_every_kind_of_error_is_made(workshop: SparqlGraph) -> None:
    made = await wrong(PREFIXES + GROUPED, workshop)
    assert made.keys() == MADE.keys()
    for kind, part in MADE.items():
        assert any(part in text for text in made[kind]), (kind, made[kind])


async def test_each_group_is_lost_with_what_it_is_of(workshop: SparqlGraph) -> None:
    inner = "{ SELECT ?c (COUNT(?m) AS ?k) { ?m r:city ?c } GROUP BY ?c HAVING(COUNT(?m) > 1) }"
    outer = f"SELECT ?s (MAX(?k) AS ?n) {{ ?t r:state ?s {inner} }} GROUP BY ?s"
    of_all, within = sorted((await wrong(PREFIXES + outer, workshop))["lost group"], key=len, reverse=True)
    assert of_all == f"{PREFIXES}SELECT  (MAX(?k) AS ?n) {{ ?t r:state ?s {inner} }} "
    assert within.endswith("{ SELECT  (COUNT(?m) AS ?k) { ?m r:city ?c }   } } GROUP BY ?s")


async def test_an_error_gives_other_rows(workshop: SparqlGraph) -> None:
    gold = f"{PREFIXES}SELECT DISTINCT ?m {{ ?m r:city ?c }}"
    assert (await wrong(gold, workshop))["lost distinct"]
    rows = {*(await workshop.select(gold)).rows}
    for seed in range(12):
        question = Question("q", "Who has a city?", sparql=gold)
        said = await say(workshop, question, DraftQuery(question.text), draft=0, seed=seed)
        with suppress(KGRejected):
            assert {*(await workshop.select(said.sparql)).rows} != rows, said.sparql


async def test_a_wrong_query_is_another_query(workshop: SparqlGraph) -> None:
    gold = PREFIXES + GROUPED
    made = await wrong(gold, workshop)
    every = [text for texts in made.values() for text in texts]
    assert gold not in every
    assert len(every) == len({*every})


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT ?m { ?m a r:Maker ; r:city 'Ulm' }", [[f"{E}m1"], [f"{E}m3"]]),
        ("SELECT ?m (COUNT(?t) AS ?n) { ?t r:madeBy ?m } GROUP BY ?m", [[f"{E}m1", "2"], [f"{E}m2", "3"]]),
        ("ASK { ?t r:state 'broken' }", [["false"]]),
    ],
)
async def test_a_model_that_never_errs_drafts_the_gold_query(
    query: str, rows: list[list[str | None]], workshop: SparqlGraph
) -> None:
    question = Question("q", "Which makers are in Ulm?", sparql=PREFIXES + query)
    model = SimulatedModel(question, workshop, ErrorRates())
    record = await kgqa.aask(question.text, kg=workshop, model=model, method="draft", claims=False)
    table = await workshop.select(record["query"] or "")
    given = [[cell and cell.id for cell in row] for row in table.rows]
    assert is_exact(given, rows, ordered=False)


async def test_gold_paths_are_drafted_where_there_is_no_query(workshop: SparqlGraph) -> None:
    topic = EntityRef(f"{E}m1", "Acme")
    answers = (EntityRef(f"{E}t1", None), EntityRef(f"{E}t2", None))
    question = Question("q", "What does Acme make?", (topic,), (answers,), (GoldPath(None, ("^madeBy",)),))
    said = await say(workshop, question, DraftQuery(question.text))
    assert said.sparql == f"SELECT DISTINCT ?answer WHERE {{ ?answer <{R}madeBy> <{E}m1> . }}"


async def test_without_gold_it_says_that_something_is_missing(workshop: SparqlGraph) -> None:
    said = await say(workshop, Question("q", "Why?"), DraftQuery("Why?"))
    assert (said.sparql, bool(said.missing)) == ("", True)


async def test_errors_are_drawn_by_seed_and_question(workshop: SparqlGraph) -> None:
    every = [text for texts in (await wrong(PREFIXES + GROUPED, workshop)).values() for text in texts]
    prompt = DraftQuery("Which makers?")

    async def drawn(id: str) -> list[str]:
        question = Question(id, prompt.question, sparql=PREFIXES + GROUPED)
        return [(await say(workshop, question, prompt, draft=0, seed=seed)).sparql for seed in range(5)]

    first = await drawn("one")
    assert first == await drawn("one") != await drawn("two")
    assert len({*first}) > 2
    assert {text.partition("PREFIX r:")[2] for text in first} <= {
        text.partition("PREFIX r:")[2] for text in every
    }


@pytest.mark.parametrize(("accuracy", "mends"), [(1.0, True), (0.0, False)])
async def test_what_is_refused_is_mended_or_said_again(
    accuracy: float, mends: bool, workshop: SparqlGraph
) -> None:
    question = Question("q", "Which makers are in Ulm?", sparql=f"{PREFIXES}SELECT ?m {{ ?m r:city 'Ulm' }}")
    refused = "SELECT ?m { ?m r:town 'Ulm' }"
    prompt = DraftQuery(question.text, refused=refused, objections=("r:town is not known",))
    said = await say(workshop, question, prompt, accuracy=accuracy)
    assert (said.sparql == refused) is not mends
    assert ("r:city" in said.sparql) is mends


async def test_first_drafts_err_by_a_rate_of_their_own(workshop: SparqlGraph) -> None:
    question = Question("q", "Which makers are in Ulm?", sparql=f"{PREFIXES}SELECT ?m {{ ?m r:city 'Ulm' }}")
    wrong, right = [
        await say(workshop, question, DraftQuery(question.text), accuracy=1 - rate, draft=rate)
        for rate in (0, 1)
    ]
    assert right.sparql.endswith("SELECT ?m { ?m r:city 'Ulm' }") and wrong.sparql != right.sparql
