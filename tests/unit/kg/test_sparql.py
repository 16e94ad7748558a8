"""Terms in, SPARQL out: no string can change the shape of a query."""

from functools import cache

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings, strategies as st
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

from kgqa.kg.dialects import PLAIN
from kgqa.kg.sparql import chain_queries, patterns, queries
from kgqa.kg.sparql.parsing import parse_query
from kgqa.kg.terms import Chain, Entity, Hop, Literal

HOSTILE = [
    'x" } ; DROP ALL #',
    'x\\" } #',
    "\\u0022 } #",
    "\\\\u0022 } #",
    "\\",
    "'''\"\"\"",
    "a\nb\r\tc\x00",
    "?x $y {} <> # comment",
    "\u2028 \U0001f600 \ufeff",
    "^^<http://x/y>",
    "@en",
    "_:b1",
]

anything = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))
R = Hop("http://x/r")


def shape(text):
    def walk(node):
        if isinstance(node, CompValue):
            return (node.name, *((key, walk(node[key])) for key in sorted(node) if key != "_vars"))
        if isinstance(node, list | tuple):
            return tuple(walk(part) for part in node)
        return type(node).__name__

    return walk(translateQuery(parseQuery(text)).algebra)


def all_queries(entity, literal):
    chain, limits = Chain(entity, (R,)).constrained_to([entity]).then(R.inverse), chain_queries.Limits.of(9)
    return [
        chain_queries.visit_chains([chain, Chain(entity)], PLAIN.labels, limits, ends=True, hops=True),
        chain_queries.relations_held([chain], {True: [R.relation], False: [R.relation]}, limits),
        chain_queries.relations_of(entity.id),
        chain_queries.reached_ends(chain, [entity], fresh=True),
        chain_queries.trace_chain(chain, [entity, literal], PLAIN.labels),
        chain_queries.trace_back(chain, [entity, literal], fresh=True),
        chain_queries.list_relations([entity.id]),
        queries.follow_relation([(entity.id, R)], PLAIN.labels, 10),
        queries.follow_relations({R: [entity.id]}, PLAIN.labels, 10),
        queries.names([entity.id], PLAIN.labels),
        queries.facts(entity.id, PLAIN, PLAIN.labels, 10),
        queries.objects(entity.id, PLAIN.types, PLAIN.labels),
    ]


@cache
def plain_shapes():
    return [shape(text) for text in all_queries(Entity("http://x/a"), Literal("a"))]


@settings(max_examples=1, deadline=None)
@given(anything, anything)
@example("> ?p ?o } #", "")
def test_no_text_changes_the_shape_of_a_query(id, value):
    try:
        entity = Entity(f"http://x/{id}")
    except ValueError:
        entity = Entity("http://x/a")
    assert [shape(text) for text in all_queries(entity, Literal(value))] == plain_shapes()


@settings(deadline=None)
@given(anything)
def test_literals_survive_the_store(value):
    text = f"SELECT ?x {{ VALUES ?x {{ {patterns.serialise(Literal(value))} }} }}"
    (row,) = ox.Store().query(text)
    assert row["x"].value == value


@pytest.mark.parametrize("value", HOSTILE)
async def test_hostile_literals_are_followed_and_traced(make_graph, value):
    graph = make_graph(f":a :r {ox.Literal(value)} .")
    (found,) = await graph.follow_chain(Chain(Entity("http://x/a"), (R,)))
    assert found.term == Literal(value)
    (path,) = await graph.trace_chain(Chain(Entity("http://x/a"), (R,)), [found.term])
    assert path[-1].tail == Literal(value)


@pytest.mark.parametrize(
    "id", ["m.0abc> ?p ?o } #", "http://x/a b", 'http://x/"', "http://x/\\u003e", "", "_:a b", "a"]
)
def test_hostile_ids_are_refused(id):
    with pytest.raises(ValueError, match="not an IRI"):
        Entity(id)


def test_terms():
    assert patterns.serialise(Entity("_:b1")) == "<urn:kgqa:blank:b1>"
    assert patterns.serialise(Literal("5", "http://www.w3.org/2001/XMLSchema#integer")).endswith("#integer>")
    assert patterns.serialise(Literal('"', language="en")) == '"\\""@en'


async def test_a_prefixed_name_with_several_dots_is_asked_for(graph) -> None:
    store = graph("e:x <http://t/r/people.person.parents> e:y .")
    table = await store.select("PREFIX ns: <http://t/r/> SELECT ?x { ?x ns:people.person.parents ?y }")
    assert [[cell.id for cell in row] for row in table.rows] == [["http://t/e/x"]]


@pytest.mark.parametrize("query", ["SELECT ?OR { ?OR :p :OR }", "SELECT ?x { ?x :AND ?AND . ?x :p-OR ?y }"])
def test_names_that_are_words_of_other_dialects_are_names(query: str) -> None:
    assert parse_query(f"PREFIX : <http://x/> {query}")[0]
