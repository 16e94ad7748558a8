"""Drafts that say less than the question, more than the graph, or take too much of it."""

from typing import Any

import pytest

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.models.scripted import ScriptedModel
from kgqa.tests.support.workshop import open_workshop


@pytest.fixture(scope="module")
def workshop() -> SparqlGraph:
    return open_workshop()


async def stubborn(question: str, query: str, kg: Any, **said: Any) -> kgqa.Record:
    """Ask a model that drafts the same, whatever it is told."""
    reply = {"sparql": query, "reading": question, **said}
    model = ScriptedModel(lambda prompt: reply if prompt.name == "draft_query" else {"answers": []})
    return await kgqa.aask(question, kg=kg, model=model, method="draft", claims=False)


RUNS = [
    ("ignores a value", "Which saws are new?", "SELECT ?t { ?t a r:Saw }"),
    ("ignores an entity", "Which tools has Acme made?", "SELECT ?t { ?t r:madeBy ?m }"),
    ("ignores a negation", "Which tools are not made by Bolt?", "SELECT ?t { ?t r:madeBy e:m2 }"),
    ("ignores a comparison", "Which tools weigh more than 8?", "SELECT ?t { ?t r:weight ?w }"),
    ("ignores an average", "What is the average weight of saws?", "SELECT ?w { ?t a r:Saw ; r:weight ?w }"),
    ("does not count", "How many makers are in Ulm?", "SELECT ?m { ?m r:city 'Ulm' }"),
    ("remembers a bound", "Which tools are heavy?", "SELECT ?t { ?t r:weight ?w FILTER(?w > 8) }"),
    ("remembers an entity", "Who is the best maker?", "SELECT ?m { VALUES ?m { e:m1 } ?m a r:Maker }"),
    (
        "multiplies rows in a sum",
        "What do tools weigh?",
        "SELECT (SUM(?w) AS ?n) { ?t r:weight ?w ; r:madeBy ?m }",
    ),
    (
        "multiplies rows in a count",
        "How many makers make tools?",
        "SELECT (COUNT(?m) AS ?n) { ?t r:madeBy ?m }",
    ),
    (
        "orders texts as numbers",
        "Of which tool is most in stock?",
        "SELECT ?t { ?t r:stock ?s } ORDER BY DESC(?s) LIMIT 1",
    ),
    ("hides a LIMIT", "Which tools are there?", "SELECT ?t { ?t r:weight ?w } LIMIT 2"),
    (
        "hides a LIMIT in an order",
        "Which tools are there?",
        "SELECT ?t { ?t r:weight ?w } ORDER BY ?w LIMIT 2",
    ),
    (
        "hides a LIMIT within",
        "How many tools are there?",
        "SELECT (COUNT(?t) AS ?n) { { SELECT ?t { ?t r:weight ?w } LIMIT 2 } }",
    ),
    (
        "cuts between equals",
        "What is the heaviest tool?",
        "SELECT ?t { ?t r:weight ?w } ORDER BY DESC(?w) LIMIT 1",
    ),
    ("leaves it to chance", "Which tool is new?", "SELECT ?t { ?t r:state 'new' } ORDER BY RAND() LIMIT 1"),
    (
        "pairs everything",
        "Which tools and makers are there?",
        "SELECT ?t ?m { ?t r:weight ?w . ?m a r:Maker }",
    ),
]


@pytest.mark.parametrize(("question", "query"), [each[1:] for each in RUNS], ids=[each[0] for each in RUNS])
async def test_a_draft_that_says_something_else_is_not_grounded(
    question: str, query: str, workshop: SparqlGraph
) -> None:
    record = await stubborn(question, query, workshop)
    assert record["outcome"] != "grounded", record["conditions"]


REFUSED = [
    ("walks everything", "Which saws are new?", "SELECT ?s { ?s ?p ?o }"),
    (
        "walks everything for a text",
        "Where is Ulm?",
        "SELECT ?s { ?s ?p ?o FILTER(CONTAINS(STR(?o), 'Ulm')) }",
    ),
    ("walks all pairs", "What fits?", "SELECT ?a { ?a (r:fits|!r:fits)* ?b }"),
    ("answers by itself", "Who owns Acme?", "SELECT ('Road Runner' AS ?owner) { e:m1 a r:Maker }"),
    (
        "answers by itself, from a list",
        "Who owns Acme?",
        "SELECT ?owner { VALUES ?owner { 'Wile' } e:m1 a r:Maker }",
    ),
    ("compares texts as numbers", "Which stock is over 8?", "SELECT ?t { ?t r:stock ?s FILTER(?s > 8) }"),
    ("adds texts", "How much is in stock?", "SELECT (SUM(?s) AS ?n) { ?t r:stock ?s }"),
    ("invents a property", "Which tools are for sale?", "SELECT ?t { ?t r:forSale true }"),
    ("asks someone else", "Which saws are new?", "SELECT ?s { SERVICE <http://evil.example/> { ?s ?p ?o } }"),
    ("writes", "Which saws are new?", "INSERT DATA { <http://x/a> <http://x/b> 3 }"),
]


@pytest.mark.parametrize(
    ("question", "query"), [each[1:] for each in REFUSED], ids=[each[0] for each in REFUSED]
)
async def test_a_draft_that_cannot_be_right_never_runs(
    question: str, query: str, workshop: SparqlGraph
) -> None:
    record = await stubborn(question, query, workshop)
    assert "run" not in [entry["node"] for entry in record["trace"]]
    assert (record["answers"], record["outcome"], record["query"]) == ([], "none", None)
