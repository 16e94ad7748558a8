"""Which columns of a query are numbers that it computes from facts."""

import pytest

from kgqa.kg.sparql.intent import computed_columns


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
        "SELECT (COUNT(DISTINCT ?o) AS ?n) { VALUES ?s { <http://x/a> } ?s ?p ?o }",
        "SELECT ?s (AVG(?o) AS ?n) { ?s ?p ?o } GROUP BY ?s HAVING(COUNT(?o) > 1) ORDER BY ?n LIMIT 3",
        "SELECT ?n { { SELECT (SUM(?o) AS ?n) { ?s <http://x/a>/<http://x/b> ?o } } }",
        "SELECT (COUNT(?o) AS ?n) (MAX(?o) AS ?m) { { ?s <http://x/a> ?o } UNION { ?o <http://x/b> ?s } }",
    ],
)
def test_counts_sums_and_averages_of_facts_are_computed(query: str) -> None:
    assert computed_columns(query) == {"n"}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?o { ?s ?p ?o }",
        "SELECT (5 AS ?n) { ?s ?p ?o }",
        "SELECT (SUM(?o) + 1 AS ?n) { ?s ?p ?o }",
        "SELECT (SUM(5) AS ?n) { ?s ?p ?o }",
        "SELECT (COUNT(?x) AS ?n) { BIND(1 AS ?x) ?s ?p ?o }",
        "SELECT (COUNT(?x) AS ?n) { VALUES ?x { 1 2 } }",
        "SELECT (COUNT(?x) AS ?n) { { VALUES ?x { 1 2 } } UNION { ?s ?p ?x } }",
        "SELECT (COUNT(*) AS ?n) { VALUES ?x { 1 2 } }",
        "SELECT (COUNT(*) AS ?n) { "
        + " ".join(f"{{ ?s{n} ?p ?o }} UNION {{ ?o ?p ?s{n} }}" for n in range(9))
        + " }",
        "ASK { ?s ?p ?o }",
        "no query",
    ],
)
def test_nothing_else_is(query: str) -> None:
    assert computed_columns(query) == set()
