"""What is wrong with a drafted query is found before it runs, and what is right is let through."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.kg.drafts.checks import check_draft, unknown_ids
from kgqa.kg.drafts.names import Names
from kgqa.kg.drafts.property_checks import Finding
from kgqa.kg.drafts.reading import read_draft
from kgqa.kg.drafts.schema import Schema
from kgqa.kg.errors import KGRejected
from kgqa.kg.profile.profile import Profile
from kgqa.tests.support.workshop import E, R, open_workshop

NAMES = Names({"r": R, "e": E})


@pytest.fixture(scope="module")
def schema() -> Schema:
    graph = open_workshop()
    return Schema(asyncio.run(graph.profile()), graph.relations)


def check(query: str, schema: Schema) -> list[Finding]:
    draft = read_draft(NAMES.declare(query))
    missing = [id for id in unknown_ids(draft, schema) if not id.startswith(E)]
    return check_draft(draft, schema, NAMES, missing=missing)


RIGHT = [
    "SELECT ?t { ?t a r:Saw ; r:weight ?w FILTER(?w > 3) } ORDER BY DESC(?w) LIMIT 1",
    "SELECT ?t { ?t a/rdfs:subClassOf* r:Tool ; r:price/r:amount ?n }",
    "SELECT ?t { ?class rdfs:subClassOf* r:Tool . ?t a ?class ; r:madeBy ?m . ?m r:city 'Ulm' }",
    "SELECT ?m (COUNT(?t) AS ?n) { ?t r:madeBy ?m } GROUP BY ?m HAVING(COUNT(?t) > 1) ORDER BY DESC(?n)",
    "SELECT ?m { ?m a r:Maker FILTER NOT EXISTS { ?t r:madeBy ?m ; r:weight 3 } }",
    "SELECT ?t { { ?t r:weight ?w } UNION { ?t r:stock ?w } MINUS { ?t r:madeBy e:m1 } }",
    "SELECT ?t { ?t r:stock ?s FILTER(xsd:decimal(?s) > 5) } ORDER BY xsd:decimal(?s)",
    "SELECT (SUM(xsd:integer(?s)) AS ?all) { ?t a r:Saw ; r:stock ?s }",
    "SELECT ?m (SUM(?w) AS ?all) { ?t r:madeBy ?m ; r:weight ?w } GROUP BY ?m",
    "SELECT ?a ?b { ?a r:weight ?v . ?b r:weight ?w FILTER(?v < ?w) }",
    "SELECT ?t { { SELECT (MAX(?w) AS ?most) { ?s a r:Saw ; r:weight ?w } } ?t a r:Saw ; r:weight ?most }",
    "SELECT ?m ?share { { SELECT ?m (COUNT(*) AS ?n) { ?t r:madeBy ?m } GROUP BY ?m } "
    "{ SELECT (COUNT(*) AS ?all) { ?t r:madeBy ?m } } BIND(?n / ?all AS ?share) }",
    "SELECT ?p ?o { e:t1 ?p ?o }",
    "SELECT ?t ?label { ?t a r:Saw OPTIONAL { ?t rdfs:label|r:kind ?label } }",
    "SELECT ?t { VALUES ?m { e:m1 e:m2 } ?t r:madeBy ?m }",
    "SELECT ?t { ?t r:fits+ e:t3 }",
    "SELECT ?t { ?t r:fits* e:t3 }",
    "SELECT ?t { ?t ^r:fits/r:madeBy ?m . ?m r:city ?c FILTER(CONTAINS(LCASE(?c), 'ul') || ?c > 'a') }",
    "SELECT ?t { ?t r:tested ?d FILTER(?d > '2020-01-01'^^xsd:date || YEAR(?d) = 2019) }",
    "SELECT ?t { ?t r:state 'new' }",
    "ASK { ?m a r:Maker FILTER NOT EXISTS { ?t r:madeBy ?m } }",
    "SELECT (COUNT(DISTINCT ?m) AS ?n) { ?t r:madeBy ?m }",
    "SELECT ?t { ?t a r:Saw ; r:fits ?other . ?other r:state 'new' }",
    "SELECT ?t { ?t a r:Saw ; r:weight ?w ; r:madeBy ?m , ?n FILTER(?m != ?n && ?w > 1) }",
]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT ?t { ?t a r:Saw ; r:weight ?w }", "?w is used nowhere, and all have a r:weight"),
        (
            "SELECT ?t ?v { ?t r:weight ?v , ?w ; r:stock ?s FILTER(?w > 1 && ?s > '1') }",
            "?v and ?w are the same",
        ),
    ],
)
def test_a_pattern_that_says_nothing_is_doubted(query: str, said: str, schema: Schema) -> None:
    found = [each for each in check(query, schema) if each.check == "left_over"]
    assert [(each.level, each.text.startswith(said)) for each in found] == [("doubtful", True)]


def test_a_prefix_that_only_a_comment_declares_is_declared() -> None:
    query = "# PREFIX r: <http://x/>\nSELECT ?t { ?t a r:Saw }"
    assert NAMES.declare(query) == f"PREFIX r: <{R}>\n{query}"


@pytest.mark.parametrize("query", RIGHT)
def test_a_query_that_the_graph_can_answer_is_let_through(query: str, schema: Schema) -> None:
    assert check(query, schema) == []


WRONG = [
    ("SELECT ?m { ?t r:made ?m }", "wrong", "r:made is not known; r:madeBy is, from r:"),
    ("SELECT ?m { ?t r:maker ?m }", "wrong", "r:maker is not known; nearest: r:"),
    ("SELECT ?t { ?t r:title 'saw' }", "wrong", "r:title is not known"),
    ("SELECT ?t { ?t a r:Saws }", "wrong", "r:Saws is not known; r:Saw is"),
    ("SELECT ?t { ?t a r:Saw OPTIONAL { ?t r:made ?m } }", "doubtful", "r:made is not known"),
    ("SELECT ?m { { ?m r:city 'Ulm' } UNION { ?m a r:Makers } }", "doubtful", "r:Makers is not known"),
    ("SELECT ?t { ?t a ?c FILTER(?c != r:Saws) }", "doubtful", "r:Saws is not known"),
    ("SELECT ?w { ?m a r:Maker ; r:weight ?w }", "wrong", "?m is r:Maker, which has no r:weight"),
    ("SELECT ?t { ?m a r:Maker ; r:madeBy ?t }", "wrong", "perhaps ?t r:madeBy ?m"),
    ("SELECT ?m { ?t r:madeBy ?m . ?m r:weight ?w }", "wrong", "?m is r:Maker, which has no r:weight"),
    ("SELECT ?t { ?t r:madeBy ?m . ?m a r:Saw }", "wrong", "r:madeBy does not lead to r:Saw"),
    ("SELECT ?t { ?t a r:Tool }", "wrong", "nothing is stated to be r:Tool itself; its kinds have: "),
    ("SELECT ?c { ?m r:city ?c . ?c r:weight ?w }", "wrong", "?c is a value"),
    ("SELECT ?t { ?t r:price 3 }", "wrong", "not to a value such as 3"),
    ("SELECT ?t { ?t r:price ?p FILTER(?p > 3) }", "wrong", "?p is a node, and 3 a value"),
    ("SELECT ?t { ?t r:weight '7' }", "wrong", "write 7 without quotes"),
    ("SELECT ?m { ?m r:city e:ulm }", "wrong", "not to a node such as e:ulm"),
    ("SELECT ?t { ?t r:stock ?s FILTER(?s > 5) }", "wrong", "write xsd:decimal(?s)"),
    ("SELECT (SUM(?s) AS ?n) { ?t r:stock ?s }", "wrong", "write xsd:decimal(?s)"),
    ("SELECT ?t { ?t r:stock ?s } ORDER BY DESC(?s) LIMIT 1", "doubtful", "write xsd:decimal(?s)"),
    ("SELECT (AVG(?c) AS ?n) { ?m r:city ?c }", "wrong", "AVG adds numbers, and ?c is none"),
    ("SELECT ?t { ?t r:tested ?d FILTER(?d > 2020) }", "wrong", "or compare YEAR of it"),
    ("SELECT ?t { ?t r:state 'New' }", "doubtful", 'r:state has no value "New"; nearest: "new"'),
    ("SELECT ?t { ?t r:kind 'axe' }", "doubtful", 'r:kind has "axe"@en, and not "axe"'),
    ("SELECT ?s { ?s ?p ?o }", "wrong", "goes through all of the graph"),
    ("SELECT ?s { ?s ?p ?o FILTER(CONTAINS(STR(?o), 'saw')) }", "wrong", "goes through all of the graph"),
    ("SELECT ?a { ?a r:fits* ?b }", "wrong", "goes through all of the graph"),
    ("SELECT ?a { ?a !r:fits ?b }", "wrong", "goes through all of the graph"),
    ("SELECT ?t ?m { ?t a r:Saw . ?m a r:Maker }", "doubtful", "nothing joins ?m and ?t"),
    ("SELECT ('Ulm' AS ?city) { ?m a r:Maker }", "wrong", "?city is found by none of the patterns"),
    ("SELECT ?x { VALUES ?x { 1 2 } }", "wrong", "the query has no pattern"),
    ("SELECT (SUM(?w) AS ?n) { ?t r:weight ?w ; r:madeBy ?m }", "doubtful", "takes ?w once for each ?m"),
    ("SELECT (COUNT(?m) AS ?n) { ?t r:madeBy ?m }", "doubtful", "COUNT(DISTINCT ?m)"),
    ("SELECT ?m { ?m a r:Maker FILTER NOT EXISTS { ?m r:weight ?w } }", "doubtful", "which has no r:weight"),
    ("SELECT ?m { ?m a r:Maker OPTIONAL { ?m r:weight ?w } }", "doubtful", "which has no r:weight"),
]


@pytest.mark.parametrize(("query", "level", "said"), WRONG)
def test_what_the_graph_cannot_give_is_said_with_what_it_has(
    query: str, level: str, said: str, schema: Schema
) -> None:
    found = check(query, schema)
    assert [each.level for each in found if said in each.text] == [level], found


def test_of_members_that_were_read_in_part_nothing_is_sure(schema: Schema) -> None:
    classes = tuple(replace(each, members=10 * each.members) for each in schema.profile.classes)
    known = Schema(Profile(classes, schema.profile.relations), schema.relations)
    for query, _, _ in WRONG:
        if "which has no" in str(found := check(query, known)):
            assert {each.level for each in found if "which has no" in each.text} == {"hint"}


def test_without_a_profile_only_the_form_of_a_query_is_judged() -> None:
    def said(query: str) -> list[str]:
        draft = read_draft(NAMES.declare(query))
        return [each.text for each in check_draft(draft, Schema(Profile()), NAMES)]

    assert said("SELECT ?s { ?s ?p ?o }") != []
    assert said("SELECT ?w { ?m a r:Maker ; r:weight ?w FILTER(?w > 'x') }") == []


_NODES = st.sampled_from(["?a", "?b", "?c", "e:t1", "[]", "'x'", "7", "'x'@en", "'2'^^xsd:date"])
_PATHS = st.sampled_from(
    [
        "a",
        "r:weight",
        "r:madeBy",
        "?p",
        "r:fits+",
        "^r:fits/r:price",
        "!(r:fits|^r:kind)",
        "r:nope",
        "(r:fits?)*",
    ]
)
_TRIPLES = st.builds(
    lambda start, path, end: f"{start} {path} {end} .",
    _NODES.filter(lambda node: node[0] in "?e["),
    _PATHS,
    _NODES,
)
_TESTS = st.sampled_from(
    [
        "?a > 3",
        "?a = ?b",
        "?a IN (3, 'x')",
        "!BOUND(?c)",
        "EXISTS { ?a r:kind ?k }",
        "REGEX(?b, 'a')",
        "xsd:decimal(?a) < ?b",
        "NOT EXISTS { ?a r:fits ?z OPTIONAL { ?z r:nope 3 } }",
        "LANG(?a) = 'en'",
    ]
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{} {}".format, inner, inner),
        st.builds("OPTIONAL {{ {} }}".format, inner),
        st.builds("{{ {} }} UNION {{ {} }}".format, inner, inner),
        st.builds("{} MINUS {{ {} }}".format, inner, inner),
        st.builds("{} FILTER({})".format, inner, _TESTS),
        st.builds("{{ SELECT ?a (SUM(?b) AS ?s) {{ {} }} GROUP BY ?a }}".format, inner),
        st.builds("GRAPH ?g {{ {} }}".format, inner),
        st.builds("{} VALUES ?a {{ e:t1 3 UNDEF }}".format, inner),
    )


_BODIES = st.recursive(_TRIPLES, _grown, max_leaves=6)
_FORMS = st.sampled_from(
    [
        "ASK {{ {} }}",
        "SELECT * {{ {} }}",
        "SELECT ?a (3 AS ?x) {{ {} }} ORDER BY ?b LIMIT 2 OFFSET 1",
        "SELECT (COUNT(*) AS ?n) (AVG(?b + 1) AS ?m) {{ {} }} HAVING(MAX(?c) > 2)",
        "SELECT ?a (SAMPLE(?b) AS ?z) {{ {} BIND(STR(?a) AS ?t) }} GROUP BY ?a (STR(?b) AS ?k)",
    ]
)


@settings(max_examples=60, deadline=None)
@given(form=_FORMS, body=_BODIES)
def test_no_query_that_parses_brings_the_checks_down(form: str, body: str, schema: Schema) -> None:
    query = NAMES.declare(form.format(body))
    try:
        draft = read_draft(query)
    except KGRejected:
        raise
    except Exception as error:
        assert type(error).__module__.startswith(("pyparsing", "rdflib")) or type(error) is Exception
        return
    for each in check_draft(draft, schema, NAMES, missing=unknown_ids(draft, schema)):
        assert each.text
        assert "\n" not in each.text
