"""select and its guard: SPARQL from outside may only read."""

import logging
from threading import Thread

import pytest
from hypothesis import example, given, settings, strategies as st

from kgqa.kg.errors import KGRejected
from kgqa.kg.sparql.guard import guard_query, mute_logger
from kgqa.kg.terms import Entity, Literal

XSD = "http://www.w3.org/2001/XMLSchema#"


async def test_select(make_graph):
    table = await make_graph(":a :r :b ; :age 5 .").select(
        "PREFIX : <http://x/> SELECT ?o ?n { :a :r ?o . OPTIONAL { ?o :age ?n } }"
    )
    assert (table.columns, table.rows, table.truncated) == (
        ("o", "n"),
        ((Entity("http://x/b"), None),),
        False,
    )


async def test_ask(make_graph):
    table = await make_graph(":a :r :b .").select("ASK { ?s ?p ?o }")
    assert table.rows == ((Literal("true", f"{XSD}boolean"),),)


async def test_known_prefixes_need_no_declaration(make_graph):
    table = await make_graph(':a rdfs:label "A" .').select("SELECT ?n { ?s rdfs:label ?n }")
    assert table.rows == ((Literal("A"),),)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?s ?p ?o }",
        "SELECT * { ?s ?p ?o } LIMIT 1000000",
        "SELECT * { ?s ?p ?o } ORDER BY ?o # trailing comment",
        "SELECT ?s { ?s ?p ?o } VALUES ?p { <http://x/r> }",
    ],
)
async def test_rows_are_limited(make_graph, query):
    graph = make_graph(" ".join(f":a :r :e{i} ." for i in range(9)), rows=3)
    table = await graph.select(query)
    assert (len(table.rows), table.truncated) == (3, True)


async def test_a_limit_of_the_query_holds(make_graph):
    table = await make_graph(":a :r :b, :c, :d .").select("SELECT * { ?s ?p ?o } LIMIT 2")
    assert (len(table.rows), table.truncated) == (2, False)


@pytest.mark.parametrize(
    "query",
    [
        "INSERT DATA { <http://x/a> <http://x/b> <http://x/c> }",
        "DELETE WHERE { ?s ?p ?o }",
        "SELECT * { ?s ?p ?o } ; DROP ALL",
        "DROP ALL",
        "LOAD <http://x/y>",
        "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "DESCRIBE <http://x/a>",
        "SELECT * { SERVICE <http://x/sparql> { ?s ?p ?o } }",
        "SELECT * { service silent ?x { ?s ?p ?o } }",
        "SELECT * { ?s ?p ?o FILTER NOT EXISTS { SERVICE <http://x/y> { ?s ?p ?o } } }",
        "SELECT * { { SELECT * { SERVICE <http://x/y> { ?s ?p ?o } } } }",
        "SELECT * { S\\u0045RVICE <http://x/y> { ?s ?p ?o } }",
        "SELECT * FROM <http://x/g> { ?s ?p ?o }",
        "ASK FROM NAMED <http://x/g> { ?s ?p ?o }",
        "SELECT * { ?s unknown:p ?o }",
        "SELECT * { ?s ?p ",
        "what is this?",
        "",
        "\ud800",
        "(" * 5_000,
        "SELECT * {" + "{" * 41 + "}" * 42,
        "SELECT * { ?s ?p ?o } #" + "x" * 20_000,
    ],
)
def test_refused(query):
    with pytest.raises(KGRejected) as caught:
        guard_query(query, 10)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s HAVING (?n > 1)",
        "SELECT * { ?s <http://x/r>+/^<http://x/q>* ?o }",
        "SELECT * { GRAPH ?g { ?s ?p ?o } }",
        "BASE <http://x/> PREFIX : <y> SELECT * { <a> :b 'SERVICE <x> {}', \"FROM\" }",
        "SELECT * { ?s ?p ?o } OFFSET 2",
        "SELECT * { { SELECT ?s { ?s ?p ?o } LIMIT 3 } MINUS { ?s a ?t } }",
        "SELECT * { VALUES ?x { 1 2 } BIND(?x + 1 AS ?y) }",
    ],
)
async def test_accepted(make_graph, query):
    await make_graph(":a :r :b .").select(query)


@pytest.mark.parametrize("hidden", ["# PREFIX m: <bif:>", '"""\nPREFIX m: <bif:>"""', "'PREFIX m: <bif:>'"])
def test_what_is_sent_is_what_was_checked(hidden: str) -> None:
    """Names are made whole before they are checked, by declarations alone."""
    text = f"PREFIX m: <http://m/> SELECT ?x {{ ?x m:p ?o FILTER(?o != {hidden if hidden[0] != '#' else 1}\n"
    guarded = guard_query(f"{text} {hidden if hidden[0] == '#' else ''}\n) ?x m:a.b.c ?y }}", 10)
    assert "<http://m/a.b.c>" in guarded
    with pytest.raises(KGRejected):
        guard_query("PREFIX m: <bif:> SELECT ?x { ?x ?p ?o FILTER(m:sys\\_stat(?o)) }", 10)


WORDS = (
    "SELECT ASK * ?s { } ( ) SERVICE FROM <http://x/y> LIMIT 1 . ; FILTER UNION DROP ^ GRAPH VALUES @en ^^"
)
PIECES = st.sampled_from([*WORDS.split(), '"', "'", "\\", "#", "\n"])


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=15).map(" ".join)))
@example("SELECT * { ?s ?p ?o }")
@example("SELECT*{?s ?p?o}LIMIT")
def test_any_text_passes_or_is_refused(text):
    try:
        guarded = guard_query(text, 10)
    except KGRejected:
        return
    assert text in guarded


OWN_FUNCTIONS = [
    "SELECT (<bif:exec>('create table T (a int)') AS ?x) {}",
    "PREFIX b: <bif:> SELECT ?s { ?s ?p ?o FILTER(b:delay(3) > 0) }",
    "BASE <bif:> SELECT (<exec>('x') AS ?x) {}",
    "SELECT ?s { ?s <bif:contains> 'x' }",
    "SELECT ?s { ?s (<urn:a>|<SQL:b>)/<urn:c> ?o }",
    "SELECT ?s { { SELECT ?s { ?s ?p ?o BIND(<sql:x>(?o) AS ?z) } } }",
    "SELECT (SUM(<bif:x>(?o)) AS ?n) { ?s ?p ?o }",
    "SELECT ?s { ?s ?p ?o } ORDER BY <bif:x>(?s)",
    "SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING(<bif:x>(?s) > 1)",
    "ASK { FILTER EXISTS { ?s ?p ?o FILTER(<bif:http_get>('http://x')) } }",
    "ASK { FILTER EXISTS { ?s ?p ?o FILTER(bif:http_get('http://x')) } }",
    "SELECT ?s { ?s ?p ?o FILTER(<urn:custom>(?o)) }",
    "SELECT ?s { VALUES ?s { <bif:x> } }",
]


@pytest.mark.parametrize("query", OWN_FUNCTIONS)
def test_what_is_a_servers_own_is_refused(query: str) -> None:
    with pytest.raises(KGRejected):
        guard_query(query, 5)


def test_casts_are_functions_of_sparql() -> None:
    assert guard_query("SELECT (xsd:integer(?o) AS ?n) { ?s ?p ?o }", 5).endswith("LIMIT 5")


@pytest.mark.parametrize("query", ["SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "ASK { ?s ?p ?o }"])
def test_what_has_one_row_gets_no_limit(query: str) -> None:
    assert guard_query(query, 5).endswith(query)


def test_only_what_one_thread_logs_is_muted(caplog: pytest.LogCaptureFixture) -> None:
    """Two threads that overlap leave the logger as it was."""
    noisy = logging.getLogger("kgqa.tests.noisy")
    first, second = mute_logger(noisy.name), mute_logger(noisy.name)
    first.__enter__()
    second.__enter__()
    noisy.warning("muted")
    Thread(target=noisy.warning, args=("of another",)).start()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    noisy.warning("after")
    assert {record.message for record in caplog.records} == {"of another", "after"}
