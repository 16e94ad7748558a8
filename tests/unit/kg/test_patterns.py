"""The algebra of a query becomes one set of triple patterns for each alternative."""

from types import SimpleNamespace

import pytest
from rdflib import URIRef, Variable

from kgqa.kg.sparql.parsing import parse_query
from kgqa.kg.sparql.path_extraction import (
    MAX_ALTERNATIVES,
    Edge,
    PatternSet,
    TooManyAlternatives,
    triple_patterns,
)

Shown = set[tuple[str, str, str]]

X, Y, Z = map(Variable, "xyz")
A, B = URIRef("http://x/a"), URIRef("http://x/b")


def alternatives(query: str) -> list[Shown]:
    """Read the alternatives of a query, each as its triples with values put in, IRIs without namespace."""
    _, root = parse_query(f"PREFIX : <http://x/> {query}")
    return [{shown(edge) for edge in pattern.filled} for pattern in triple_patterns(root.p)]


def shown(edge: Edge) -> tuple[str, str, str]:
    start, relation, end = (term.removeprefix("http://x/") for term in edge)
    return start, relation, end


def test_for_what_values_leave_undefined_nothing_is_put_in() -> None:
    query = "SELECT ?x ?a ?b { VALUES (?a ?b) { (:a UNDEF) (UNDEF :b) } ?a :r ?x . ?x :s ?b }"
    assert alternatives(query) == [
        {("a", "r", "x"), ("x", "s", "b")},
        {("a", "r", "x"), ("x", "s", "b")},
    ]
    (first, second) = triple_patterns(parse_query(f"PREFIX : <http://x/> {query}")[1].p)
    assert (first.values, second.values) == ({Variable("a"): A}, {Variable("b"): B})


def test_hidden_variables_of_two_subselects_are_two_variables() -> None:
    query = "SELECT ?x { { SELECT ?x { :a :r ?y . ?y :s ?x } } { SELECT ?x { :b :t ?y . ?y :u ?x } } }"
    (found,) = alternatives(query)
    (first,) = (end for start, _, end in found if start == "a")
    (second,) = (end for start, _, end in found if start == "b")
    assert first != second
    assert {(start, relation) for start, relation, _ in found} == {
        ("a", "r"),
        (first, "s"),
        ("b", "t"),
        (second, "u"),
    }


@pytest.mark.parametrize(
    "group", ["{ ?p :on ?y BIND(YEAR(?y) AS ?x) } ?q :r ?p", "?q :r ?p { ?p :on ?y BIND(YEAR(?y) AS ?x) }"]
)
def test_what_is_computed_on_either_side_of_a_join_is_what_it_is_computed_from(group: str) -> None:
    (found,) = alternatives(f"SELECT ?x ?p ?q {{ {group} }}")
    assert found == {("p", "on", "x"), ("q", "r", "p")}


def test_the_source_of_a_variable_is_its_value_or_the_node_it_is_computed_from() -> None:
    edges = (Edge(A, A, Z),)
    assert PatternSet(edges, names={X: Y, Y: Z}).source(X) == Z
    assert PatternSet(edges, values={Z: A}, names={X: Z}).source(X) == A
    assert PatternSet(edges, values={Z: A}).source(X) == X
    assert PatternSet(edges, names={X: Y, Y: X}).source(X) in {X, Y}


@pytest.mark.parametrize(("choices", "taken"), [(8, True), (9, False)])
def test_as_many_alternatives_as_are_followed_are_read_and_more_are_refused(
    choices: int, taken: bool
) -> None:
    query = "SELECT ?x { :a " + "/".join("(:r|:s)" for _ in range(choices)) + " ?x }"
    halves = "SELECT ?x { " + " ".join("{ :a :r ?x } UNION { :a :s ?x }" for _ in range(choices)) + " }"
    for text in (query, halves):
        if taken:
            assert len(alternatives(text)) == MAX_ALTERNATIVES == 256
            continue
        with pytest.raises(TooManyAlternatives, match=r"^the query has more than 256 alternatives$"):
            alternatives(text)


def test_a_path_with_more_ways_than_could_be_listed_is_refused_at_once() -> None:
    with pytest.raises(TooManyAlternatives):
        alternatives("SELECT ?x { :a " + "/".join(["(:r|:s)"] * 40) + " ?x }")


def test_algebra_that_is_nested_too_deeply_is_refused() -> None:
    node = SimpleNamespace(name="BGP", triples=[])
    for _ in range(5_000):
        node = SimpleNamespace(name="Minus", p1=node)
    with pytest.raises(TooManyAlternatives, match=r"^the query is nested too deeply$"):
        triple_patterns(node)
