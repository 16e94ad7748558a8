"""What is looked for where a drafted query gives nothing, or lets only some of its rows through."""

from collections.abc import Callable

import pytest

from kgqa.kg.dialects import XSD
from kgqa.kg.drafts.names import Names
from kgqa.kg.drafts.probes import MAX_QUESTIONS, cut_query, find_empty, fits_instead
from kgqa.kg.drafts.reading import read_draft
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Literal
from kgqa.tests.support.workshop import E, R, open_workshop

NAMES = Names({"r": R, "e": E})


@pytest.fixture(scope="module")
def workshop() -> SparqlGraph:
    return open_workshop()


async def is_true(query: str, graph: SparqlGraph) -> bool:
    return (await graph.select(query)).rows == ((Literal("true", f"{XSD}boolean"),),)


@pytest.mark.parametrize(
    ("body", "ends"),
    [
        ("?t r:madeBy ?m . ?m r:city 'Rome' . ?t r:weight ?w", {"Rome"}),
        ("?t r:weight 3 ; r:kind ?k ; r:madeBy e:m1", {"3", f"{E}m1"}),
        ("?t a r:Saw ; r:weight ?w FILTER(?w > 100)", set()),
        ("VALUES ?c { 'Rome' } ?t r:madeBy/r:city ?c", {"c"}),
        ("?t r:price/r:amount ?n . ?t r:fits+ e:t1", {f"{E}t1"}),
    ],
)
async def test_the_smallest_empty_part_is_found(body: str, ends: set[str], workshop: SparqlGraph) -> None:
    asked: list[str] = []

    async def ask(query: str) -> bool:
        asked.append(query)
        return await is_true(query, workshop)

    found = await find_empty(NAMES.declare(f"SELECT ?t {{ {body} }}"), ask)
    assert {str(each.end) for each in found} == ends
    assert len(asked) <= MAX_QUESTIONS


@pytest.mark.parametrize(
    ("query", "clear"),
    [
        ("SELECT ?t { ?t r:weight ?w } ORDER BY DESC(?w) LIMIT 1", False),
        ("SELECT ?t ?w { ?t r:weight ?w } ORDER BY DESC(?w) LIMIT 2", True),
        ("SELECT DISTINCT ?t { ?t r:weight ?w } ORDER BY ?w LIMIT 1", True),
        ("SELECT ?t { ?t r:weight ?w } ORDER BY DESC(?w) LIMIT 1 OFFSET 1", False),
        ("SELECT ?t { ?t r:weight ?w } ORDER BY DESC(?w) OFFSET 2 LIMIT 1", True),
        ("SELECT ?m (COUNT(?t) AS ?n) { ?t r:madeBy ?m } GROUP BY ?m ORDER BY DESC(?n) LIMIT 1", True),
        ("SELECT ?m { ?t r:madeBy ?m } GROUP BY ?m ORDER BY DESC(COUNT(?t)) ?m LIMIT 1", True),
        ("SELECT ?t { ?t r:weight ?w ; r:price/r:amount ?p } ORDER BY (?p * 2) LIMIT 3", False),
    ],
)
async def test_a_limit_between_equals_is_seen(query: str, clear: bool, workshop: SparqlGraph) -> None:
    cut = cut_query(NAMES.declare(query))
    assert cut is not None
    table = await workshop.select(cut.text)
    assert cut.is_clear(table) is clear


async def test_of_equal_rows_the_first_is_compared(graph: Callable[[str], SparqlGraph]) -> None:
    kg = graph("e:a r:won 9, 8 . e:b r:won 7 . e:c r:won 7 .")
    query = "PREFIX r: <http://t/r/> SELECT DISTINCT ?x { ?x r:won ?w } ORDER BY DESC(?w) LIMIT"
    for limit, clear in ((1, True), (2, False), (3, True)):
        cut = cut_query(f"{query} {limit}")
        assert cut is not None and cut.is_clear(await kg.select(cut.text)) is clear


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?t r:weight ?w } ORDER BY DESC(?w + 1) LIMIT 1",
        "SELECT ?t { ?t r:weight ?w } LIMIT 1",
        "ASK { ?t r:weight 3 }",
    ],
)
def test_without_an_order_or_a_limit_there_is_nothing_to_compare(query: str) -> None:
    assert cut_query(NAMES.declare(query)) is None


def test_prefixes_are_declared_once_and_where_they_are_used() -> None:
    query = "PREFIX r: <http://other/> SELECT ?x { ?x r:kg '<e:1>' ; rdfs:label ?l FILTER(?l = 'xsd:') }"
    assert NAMES.declare(query) == f"PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n{query}"


def test_prefixes_of_a_graph_differ_and_leave_well_known_ones() -> None:
    names = Names.of(["http://a/my-vocab/x", "http://b/my-vocab/y", "http://www.w3.org/2001/XMLSchema#int"])
    assert len(names.prefixes) == len({*names.prefixes.values()}) == 3
    assert {names.write("http://a/my-vocab/x"), names.write("http://b/my-vocab/y")} == {"mv:x", "mv1:y"}


@pytest.mark.parametrize(("instead", "fits"), [("fits", True), ("madeBy", False), ("weight", False)])
async def test_another_relation_fits_where_the_patterns_have_rows(
    instead: str, fits: bool, workshop: SparqlGraph
) -> None:
    query = NAMES.declare("SELECT ?t { ?t r:price ?p . ?p r:amount ?n } ORDER BY ?n")
    swapped = NAMES.declare("SELECT ?t { ?t r:fits ?o . ?o r:weight ?n } ORDER BY ?n")

    async def ask(text: str) -> bool:
        return await is_true(text, workshop)

    assert await fits_instead(query, f"{R}price", f"{R}{instead}", ask) is False
    assert await fits_instead(swapped, f"{R}fits", f"{R}{instead}", ask) is fits


@pytest.mark.parametrize(
    ("query", "free", "factors"),
    [
        ("SELECT ?t { ?t r:weight ?w ; r:state ?s }", ["state", "weight"], []),
        ("SELECT ?t { ?t r:weight ?w ; r:state 'new' FILTER(?w > 5) }", [], []),
        (
            "SELECT (?w / ?n * 100 AS ?share) { ?t r:weight ?w ; r:stock ?n ; r:fits ?o }",
            ["fits"],
            ["1.0", "100"],
        ),
    ],
)
def test_what_a_query_leaves_free_and_computes_with(query: str, free: list[str], factors: list[str]) -> None:
    draft = read_draft(NAMES.declare(query))
    assert sorted(str(each.relation) for each in draft.patterns if draft.is_free(each)) == [
        R + n for n in free
    ]
    assert [each.value for each in draft.factors] == factors
