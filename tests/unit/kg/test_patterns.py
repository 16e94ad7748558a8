"""The algebra of a query becomes one set of triple patterns for each alternative."""

import re
from types import SimpleNamespace

import pytest
from rdflib import URIRef, Variable

from kgqa.kg.errors import KGRejected
from kgqa.kg.sparql import parsing
from kgqa.kg.sparql.parsing import parse_query
from kgqa.kg.sparql.path_extraction import (
    MAX_ALTERNATIVES,
    Edge,
    PatternSet,
    TooManyAlternatives,
    triple_patterns,
)

BNODES = re.compile(r"BNode\([^)]*\)")

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


NAMED = [
    "SELECT ?x { :a :r ?x }",
    "SELECT ?x { :r :r ?x . ?x <http://y/b#c> <http://y/b> }",
    "SELECT ?x { ?x :on \"2004-01-02\"^^<http://www.w3.org/2001/XMLSchema#dateTime> ; :says 'it is: so'@en }",
    'SELECT ?x { ?y ^:r/:s*|!(:t|:u) ?x . VALUES ?y { :a \'b:c\' "d\\"e" } # not :f }\n }',
    "SELECT (MAX(?n) AS ?m) { ?x :n ?n FILTER(?n<5&&?n>:z) } GROUP BY ?x",
    'SELECT ?x { :Mask0_ :r "Mask1_", ?x }',
]


@pytest.mark.parametrize("query", NAMED)
def test_a_query_of_a_known_shape_is_read_as_if_it_were_the_first(query: str) -> None:
    parsing._parse_shape.cache_clear()
    whole = parsing.normalise_query(f"PREFIX : <http://x/> {query}")
    _, wanted = parsing._parse_shape(whole)
    for other in (query, query.replace(":r", ":other"), query):
        found = parse_query(f"PREFIX : <http://x/> {other}")[1]
    assert BNODES.sub("", repr(found)) == BNODES.sub("", repr(wanted))


def test_only_the_names_of_a_query_may_differ_for_it_to_be_parsed_once() -> None:
    parsing._parse_shape.cache_clear()
    for name in ("a", "b.c-d", "e_1"):
        parse_query(f'PREFIX : <http://x/> SELECT ?x {{ :{name} <http://y/{name}> ?x ; :s "{name} {name}" }}')
    assert parsing._parse_shape.cache_info().misses == 1


def test_an_error_tells_of_the_query_as_it_is() -> None:
    query = "SELECT ?x { :a_long_name :r ?x } } :more"
    with pytest.raises(Exception, match="Expected end of text") as wanted:
        parsing._parse_shape(parsing.normalise_query(query))
    with pytest.raises(KGRejected) as found:
        parse_query(query)
    assert str(found.value) == f"not a SPARQL query: {' '.join(str(wanted.value).split())}"
