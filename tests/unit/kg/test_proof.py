"""Answer queries: what they refuse, how they are written, and what they give on random graphs."""

import json
import warnings

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given, settings
from pydantic import TypeAdapter

from kgqa.kg.dialects import FREEBASE
from kgqa.kg.meter import metered
from kgqa.kg.proof.compilation import write_query
from kgqa.kg.proof.query import (
    MAX_HOPS_IN_ALL,
    MAX_TERMS_PICKED,
    Aggregate,
    AnswerQuery,
    Branch,
    Condition,
    Pick,
)
from kgqa.kg.proof.values import kind_of, year_of
from kgqa.kg.terms import XSD_STRING, Chain, Entity, Hop, Literal
from kgqa.tests.support import proofs
from kgqa.tests.support.proofs import chain, hop, typed, x

R, S = hop("r"), hop("s")
ENDS = Branch(chain("t", "r"), (1,))
TWO = Branch(chain("t", "r", "s"), (1, 2))
TOPIC = Branch(chain("t"), (1,))
SEVEN = Literal("7")
NO_VALUE = "a topic has no value of its own"


# What makes no sense.


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Branch(chain("t", "r"), (1, 2)), "a branch of 1 nodes with 2 places"),
        (lambda: Branch(chain("t"), ()), "a branch of 1 nodes with 0 places"),
        (lambda: Branch(chain("t", "r"), (-1,)), "a place is a number from 0"),
        (lambda: Branch(chain("t"), (1,), (chain("t", "r"),)), "a topic is no alternative to a chain"),
        (lambda: Condition(1, (R, R, R), "exists"), "more than 2 hops to a value"),
        (lambda: Condition(1, (), "exists"), '"exists" without an attribute'),
        (lambda: Condition(1, (), "not exists", x("a")), '"not exists" without an attribute'),
        (lambda: Condition(1, (R,), "="), '"=" without a value'),
        (lambda: Condition(1, (), "=", SEVEN, unknown=True), '"=" without an attribute'),
        (lambda: Condition(1, (R,), "exists", unknown=True), '"exists" is of what is known'),
        (lambda: Condition(1, (R,), "exists", x("a")), "\"exists\" goes with no value: 'http://x/a'"),
        (lambda: Condition(1, (R,), "like", SEVEN), "\"like\" goes with no value: '7'"),
        (lambda: Condition(1, (R,), "<", Literal("x")), "\"<\" goes with number or date: 'x'"),
        (lambda: Condition(1, (R,), ">=", Literal("7", language="en")), '">=" goes with number or date'),
        (lambda: Condition(1, (R,), "<", Literal("-0427-3-05")), '"<" goes with number or date'),
        (lambda: Condition(1, (R,), "contains", x("a")), '"contains" goes with number or date or text'),
        (lambda: Condition(1, (R,), "contains", Literal("")), '"contains" without text'),
        (lambda: Condition(1, (), "type", SEVEN), '"type" goes with entity'),
        (lambda: Condition(1, (R,), "year", Literal("7.5")), "no year: '7.5'"),
        (lambda: Aggregate("sum"), 'no function "sum"'),
        (lambda: Aggregate("min", (R,)), '"min" is of the answers themselves'),
        (lambda: Aggregate("count", rank=2), "no rank 2"),
        (lambda: Aggregate("max", rank=0), "no rank 0"),
        (lambda: Aggregate("count", place=1), '"count" is of the answers themselves'),
        (lambda: Aggregate("argmax"), '"argmax" without an attribute'),
        (lambda: Aggregate("argmin", (R, R, R)), "more than 2 hops to a value"),
        (lambda: Pick(1, ()), "nothing is picked"),
        (lambda: Pick(1, (x("a"),) * (MAX_TERMS_PICKED + 1)), "more than 1000 terms are picked"),
        (lambda: AnswerQuery((), 1), "no branch binds place 1"),
        (lambda: AnswerQuery((ENDS,), 2), "no branch binds place 2"),
        (lambda: AnswerQuery((ENDS,), 1, (Condition(3, (R,), "exists"),)), "no branch binds place 3"),
        (lambda: AnswerQuery((ENDS,), 1, picked=(Pick(4, (SEVEN,)),)), "no branch binds place 4"),
        (
            lambda: AnswerQuery((ENDS,), 1, aggregate=Aggregate("argmax", (R,), 5)),
            "no branch binds place 5",
        ),
        (
            lambda: AnswerQuery((ENDS, Branch(chain("u", "r"), (2,))), 1),
            r"not connected with the answer: places \[2\]",
        ),
        (
            lambda: AnswerQuery((Branch(chain("t", "r", "s"), (1, 2), (chain("t", "r"),)),), 1),
            r"only one alternative of a branch has place \[1\]",
        ),
        (
            lambda: AnswerQuery((Branch(chain("t", "r", "s"), (1, 2), (chain("t", "r"),)), ENDS), 2),
            r"only one alternative of a branch has place \[1\]",
        ),
        (
            lambda: AnswerQuery((ENDS,) * (MAX_HOPS_IN_ALL // 2 + 1), 1),
            "more than 100 hops, chains and conditions",
        ),
        (
            lambda: AnswerQuery((ENDS,), 1, aggregate=Aggregate("count"), ask=True),
            "a question of yes or no has no aggregate",
        ),
        (lambda: AnswerQuery((TOPIC, TOPIC), 1), "the topics of one place are alternatives of one branch"),
        (lambda: AnswerQuery((TOPIC,), 1, aggregate=Aggregate("max")), NO_VALUE),
        (lambda: AnswerQuery((TOPIC,), 1, (Condition(1, (), "=", SEVEN),)), NO_VALUE),
        (lambda: AnswerQuery((TOPIC,), 1, picked=(Pick(1, (SEVEN,)),)), NO_VALUE),
    ],
)
def test_what_makes_no_sense_is_refused(make, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        make()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (x("a"), "entity"),
        (typed("7", "integer"), "number"),
        (Literal("-.5e3"), "number"),
        (Literal("1961"), "number"),
        (typed("1961", "gYear"), "date"),
        (Literal("1961-05"), "date"),
        (typed("1961-05-03+02:00", "date"), "date"),
        (Literal("1961-05-03T20:00Z"), "date"),
        (typed("-0427", "gYear"), "date"),
        (typed("-0427-03", "gYearMonth"), "date"),
        (Literal("-0044-03-15"), "date"),
        (typed("-0044-03-15T10:00:00Z", "dateTime"), "date"),
        (typed("-0044-02-30T10:00:00Z", "dateTime"), "text"),
        (typed("476", "gYear"), "date"),
        (typed("-13000", "gYear"), "date"),
        (Literal("47-03"), "text"),
        (Literal("1961-02-30T20:00:00Z"), "text"),
        (Literal("1961", language="en"), "text"),
        (Literal("1961-05", language="en"), "text"),
        (typed("12:30:00", "time"), "text"),
        (typed("INF", "double"), "text"),
        (Literal("7 "), "text"),
        (Literal("7\n"), "text"),
        (Literal("1961-05\n"), "text"),
        (Literal(""), "text"),
    ],
)
def test_a_value_has_a_kind(value, kind):
    assert kind_of(value) == kind


@pytest.mark.parametrize(
    ("text", "year"),
    [("1961", 1961), ("-0427-03", -427), ("1961Z", 1961), ("61", 61), ("61-03", None), ("19615", None)],
)
def test_a_date_has_a_year(text, year):
    assert year_of(Literal(text)) == year


# As JSON and as SPARQL.


def whole() -> AnswerQuery:
    """Return a query with every part."""
    return AnswerQuery(
        (TWO, Branch(chain("u", "^s"), (1,), (chain("u", "s"), chain("u", "r", "r")), fresh=True)),
        2,
        (
            Condition(2, (R,), ">", typed("7", "integer"), "of more than 7 } #"),
            Condition(1, (), "type", x("Town"), "towns"),
            Condition(1, (R, S), "not exists", x("a")),
        ),
        Aggregate("argmax", (S,), 1),
        (Pick(2, (x("a"), Entity("_:b"))),),
    )


def test_a_query_is_hashed_and_comes_back_from_json():
    adapter = TypeAdapter(AnswerQuery)
    query = whole()
    assert len({query, whole()}) == 1
    text = adapter.dump_json(query)
    assert json.loads(text)["returned"] == 2
    assert adapter.validate_json(text) == query


def test_a_query_is_written_line_by_line():
    assert write_query(whole(), ["http://x/type"]) == (
        """\
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
SELECT DISTINCT ?answer WHERE {
  { SELECT (MAX(?key) AS ?best) WHERE {
BODY
  } }
  { SELECT ?answer ?key WHERE {
BODY
  } }
  FILTER(?key = ?best)
}""".replace(
            "BODY",
            """\
    { SELECT DISTINCT ?answer ?v WHERE {
      <http://x/t> <http://x/r> ?n1 .
      ?n1 <http://x/s> ?answer .
      {
        ?n1 <http://x/s> <http://x/u> .
        FILTER(?n1 != <http://x/u>)
      }
      UNION {
        <http://x/u> <http://x/s> ?n1 .
        FILTER(?n1 != <http://x/u>)
      }
      UNION {
        <http://x/u> <http://x/r> ?b2_2_1 .
        ?b2_2_1 <http://x/r> ?n1 .
        FILTER(?b2_2_1 != <http://x/u> && ?n1 != <http://x/u>)
      }
      ?answer <http://x/r> ?v1 .
      VALUES ?t2 { <http://x/type> } ?n1 ?t2 <http://x/Town> .
      VALUES ?answer { <http://x/a> <urn:kgqa:blank:b> }
      ?n1 <http://x/s> ?v .
      FILTER(IF(REGEX(STR(?v1), "NUMBER"), xsd:double(STR(?v1)) > xsd:double("7"), false))
      FILTER NOT EXISTS {
        ?n1 <http://x/r> ?m3 .
        ?m3 <http://x/s> <http://x/a> .
      }
      FILTER(REGEX(STR(?v), "NUMBER"))
    } }
    BIND(IF(REGEX(STR(?v), "NUMBER"), xsd:double(STR(?v)), 0) AS ?key)""".replace(
                "NUMBER", "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$"
            ),
        )
    )


def test_words_are_no_part_of_the_text():
    said = Condition(1, (R,), "exists", words="} DROP ALL #")
    assert "DROP" not in write_query(
        AnswerQuery((ENDS,), 1, (said,), picked=(Pick(1, (SEVEN,), "DROP"),)), ()
    )


def test_a_type_is_looked_for_by_each_predicate_of_the_dialect():
    query = AnswerQuery((ENDS,), 1, (Condition(1, (), "type", x("Town")),))
    kinds = " ".join(f"<{predicate}>" for predicate in FREEBASE.types)
    assert f"VALUES ?t1 {{ {kinds} }} ?answer ?t1 <http://x/Town> ." in write_query(query, FREEBASE.types)


# On random graphs: as three stores and a plain evaluation have it. (Servers: tests/integration/kg.)


def read(term: object) -> object:
    if isinstance(term, ox.NamedNode | rdflib.URIRef):
        return Entity(str(getattr(term, "value", term)))
    language = term.language or ""
    datatype = str(getattr(term.datatype, "value", term.datatype) or XSD_STRING)
    text = term.value if isinstance(term, ox.Literal) else str(term)
    return Literal(text, XSD_STRING if language else datatype, language)


def answers_of_oxigraph(text: str, triples: str) -> object:
    store = ox.Store()
    store.load(triples.encode(), format=ox.RdfFormat.N_TRIPLES)
    found = store.query(text)
    return bool(found) if isinstance(found, ox.QueryBoolean) else {read(row[0]) for row in found}


def answers_of_rdflib(text: str, triples: str) -> object:
    graph = rdflib.Graph()
    with warnings.catch_warnings(action="ignore"):
        graph.parse(data=triples, format="nt")
        found = graph.query(text)
        return found.askAnswer if found.type == "ASK" else {read(row[0]) for row in found}


@pytest.mark.parametrize(("ask", "examples"), [(answers_of_oxigraph, 150), (answers_of_rdflib, 15)])
def test_random_queries_give_what_triples_give(monkeypatch, ask, examples):
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)

    @settings(proofs.SETTINGS, max_examples=examples)
    @given(proofs.triples(), proofs.queries())
    def check(triples, query):
        found = ask(write_query(query, [proofs.TYPE]), proofs.write(triples))
        if query.aggregate and query.aggregate.function == "count":
            (number,) = found
            found = int(number.value)
        assert found == proofs.answers(query, triples)

    check()


# Run on a graph.


async def test_answers_have_names_and_are_sorted_and_blank_nodes_are_none(make_graph):
    graph = make_graph(
        ':a rdfs:label "Zoe" . :b rdfs:label "Abe" . :c rdfs:label "Kit" .'
        ':t :r :b, :a, :c, [ :s 1 ], 7, "x"@en .'
    )
    with metered() as meter:
        proof = await graph.prove(AnswerQuery((ENDS,), 1))
    page = proof.answers
    assert [term.name for term in page] == ["7", "Abe", "Kit", "Zoe", "x"]
    assert (page.truncated, meter.queries) == (False, 1)
    assert {end.term for end in await graph.follow_chain(ENDS.chain) if end.term.name} == {*page}
    assert {row[0] for row in (await graph.select(proof.sparql)).rows} == {*page}


async def test_a_page_that_is_full_is_cut_and_says_so_and_a_count_is_not(make_graph):
    graph = make_graph(f":t :r {', '.join(f':n{number:03}' for number in range(250))} .", rows=100)
    page = (await graph.prove(AnswerQuery((ENDS,), 1))).answers
    assert (len(page), page.truncated) == (100, True)
    count = (await graph.prove(AnswerQuery((ENDS,), 1, aggregate=Aggregate("count")))).answers
    assert ([term.id for term in count], count.truncated) == (["250"], False)
    exact = (await make_graph(":t :r :a, :b .", rows=2).prove(AnswerQuery((ENDS,), 1))).answers
    assert (len(exact), exact.truncated) == (2, False)


async def test_long_numbers_are_compared_by_all_their_digits(make_graph):
    graph = make_graph(
        ':t :r :a, :b, :c . :a :n "1234567890123456788" .'
        ':b :n "1234567890123456789" . :c :n 01234567890123456789 .'
    )
    for operator, names in (("=", "bc"), ("!=", "a")):
        condition = Condition(1, (Hop("http://x/n"),), operator, Literal("1234567890123456789"))
        found = (await graph.prove(AnswerQuery((ENDS,), 1, (condition,)))).answers
        assert {*found} == {x(name) for name in names}


async def test_yes_and_no(make_graph):
    graph = make_graph(":t :r :a .")
    for name, said in (("a", "true"), ("b", "false")):
        query = AnswerQuery((ENDS,), 1, (Condition(1, (), "=", x(name)),), ask=True)
        (answer,) = (await graph.prove(query)).answers
        assert answer == typed(said, "boolean")


async def test_what_does_not_return_is_fresh(make_graph):
    graph = make_graph(":t :r :a, :t . :a :r :t, :c . :c :r :d .")
    for depth in (1, 2, 3):
        walk = Chain(x("t"), (R,) * depth)
        found = await graph.follow_chain(walk)
        branch = Branch(walk, tuple(range(depth)), fresh=True)
        fresh = (await graph.prove(AnswerQuery((branch,), depth - 1))).answers
        assert {*fresh} == {end.term for end in found if not end.returning}


@pytest.mark.parametrize(
    "text", ["a\\u0022 } #", 'quote"', "back\\slash", "line\nbreak", "'''", "$1", "é😀", "\\"]
)
async def test_text_cannot_break_out(make_graph, text):
    graph = make_graph(f":t :r :a . :a :says {json.dumps(text, ensure_ascii=False)} . :t :r :b .")
    for operator in ("=", "contains"):
        query = AnswerQuery((ENDS,), 1, (Condition(1, (hop("says"),), operator, Literal(text)),))
        assert [term.id for term in (await graph.prove(query)).answers] == ["http://x/a"]
    picked = AnswerQuery((Branch(chain("a", "says"), (1,)),), 1, picked=(Pick(1, (Literal(text),)),))
    assert [term.id for term in (await graph.prove(picked)).answers] == [text]


async def test_a_value_of_any_length_ends_no_query(make_graph):
    long = [f'"{"9" * 100_000}"', f'"{"1961-05-03 " * 9_000}"', '"1e999"', f'"{"é" * 30_000}"']
    graph = make_graph(f":t :r {', '.join(long)} .")
    for operator, value, count in (
        (">", SEVEN, 2),
        ("<", Literal("1961-05-04"), 0),
        ("contains", Literal("É"), 1),
    ):
        proof = await graph.prove(AnswerQuery((ENDS,), 1, (Condition(1, (), operator, value),)))
        assert len(proof.answers) == count


async def test_freebase_types_are_found_by_any_of_its_predicates(make_graph):
    graph = make_graph(
        ":t fb:a.b.c :a, :b, :d . :a fb:type.object.type :Town . :b fb:common.topic.notable_types :Town ."
    )
    branch = Branch(Chain(x("t"), (Hop("http://rdf.freebase.com/ns/a.b.c"),)), (1,))
    found = (await graph.prove(AnswerQuery((branch,), 1, (Condition(1, (), "type", x("Town")),)))).answers
    assert [term.id for term in found] == ["http://x/a", "http://x/b"]
