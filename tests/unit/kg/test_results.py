"""Whatever a server sends is read as rows of terms, or is no answer."""

import json
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.kg.errors import KGMalformed
from kgqa.kg.graph import Rows
from kgqa.kg.sparql.decoding import read_rows, run_query, select_columns
from kgqa.kg.terms import Entity, Literal

XSD = "http://www.w3.org/2001/XMLSchema#"

WORDS = st.sampled_from(
    [
        "uri",
        "bnode",
        "literal",
        "typed-literal",
        "triple",
        "_:b",
        "nodeID://b1",
        "http://x/a",
        "true",
        "1",
        "en",
    ]
)
KEYS = st.sampled_from(
    [
        "head",
        "vars",
        "results",
        "bindings",
        "boolean",
        "x",
        "__ASK_RETVAL",
        "type",
        "value",
        "datatype",
        "xml:lang",
    ]
)
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=25,
)
TERMS = st.fixed_dictionaries(
    {"type": WORDS | JSONS, "value": WORDS | JSONS}, optional={"datatype": WORDS | JSONS, "xml:lang": JSONS}
)
ROWS = st.lists(st.dictionaries(st.sampled_from("xyz"), TERMS | JSONS, max_size=3) | JSONS, max_size=4)
ANSWERS = st.fixed_dictionaries(
    {
        "head": st.fixed_dictionaries({"vars": st.lists(st.sampled_from("xyz") | JSONS, max_size=3) | JSONS}),
        "results": st.fixed_dictionaries({"bindings": ROWS | JSONS}),
    }
)


def rows_or_malformed(answer: bytes) -> None:
    try:
        found = read_rows(answer)
    except KGMalformed as error:
        assert "\n" not in str(error)
        return
    assert isinstance(found, Rows)
    assert all(isinstance(column, str) for column in found.columns)
    for row in found.rows:
        assert len(row) == len(found.columns)
        for term in row:
            assert term is None or isinstance(term, Entity | Literal)
            if isinstance(term, Literal):
                assert all(isinstance(each, str) for each in (term.value, term.datatype, term.language))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_arbitrary_bytes(answer: bytes) -> None:
    rows_or_malformed(answer)


@settings(max_examples=400, deadline=None)
@given(JSONS | ANSWERS)
def test_arbitrary_json(answer: object) -> None:
    rows_or_malformed(json.dumps(answer).encode())


WHOLE = json.dumps(
    {
        "head": {"vars": ["x", "y"]},
        "results": {
            "bindings": [{"x": {"type": "literal", "value": f"ü{n}", "xml:lang": "de"}} for n in range(3)]
        },
    }
).encode()


def test_no_part_of_an_answer_is_one() -> None:
    for size in range(len(WHOLE)):
        with pytest.raises(KGMalformed):
            read_rows(WHOLE[:size])


@pytest.mark.parametrize(
    "answer", ['[{"x": "http://x/a"}]', '{"x": 1}', '{"head": {"vars": [1]}, "results": {}}']
)
def test_json_of_another_form_is_told_without_an_error_of_python(answer: str) -> None:
    with pytest.raises(KGMalformed, match=r"not all of it: it is JSON of another form$"):
        read_rows(answer.encode())


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("one\x01two\x0b", "one\x01two\x0b"),
        ("\\U0001F600 \\\\U0001F600 é", "\U0001f600 \\U0001F600 é"),
        (r"\U00000022 \U0000005C", '" \\'),
    ],
)
def test_texts_that_virtuoso_does_not_escape_are_read(written: str, read: str) -> None:
    cell = f'{{"type": "literal", "value": "{written}"}}'
    answer = f'{{"head": {{"vars": ["x"]}}, "results": {{"bindings": [{{"x": {cell}}}]}}}}'
    ((term,),) = read_rows(answer.encode()).rows
    assert term == Literal(read)
    with pytest.raises(KGMalformed):
        read_rows(answer.encode()[:-1])


@pytest.mark.parametrize("half", [r"\ud800", r"\U0000D800", r"\udc00\ud800"])
def test_a_half_of_a_character_is_malformed(half: str) -> None:
    cell = f'{{"type": "literal", "value": "{half}"}}'
    with pytest.raises(KGMalformed):
        read_rows(f'{{"head": {{"vars": ["x"]}}, "results": {{"bindings": [{{"x": {cell}}}]}}}}'.encode())


def test_depth_without_end_is_malformed() -> None:
    deep = b'{"a":' * 5_000 + b"1" + b"}" * 5_000
    with pytest.raises(KGMalformed):
        read_rows(deep)
    nested = b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"triple","value":%s}}]}}'
    assert read_rows(nested % (b'{"a":' * 900 + b"1" + b"}" * 900)).rows == [(None,)]


@pytest.mark.parametrize("columns", [("y", "x"), ("x",), ("x", "y", "x")])
def test_an_answer_has_the_columns_that_were_asked_for(columns: tuple[str, ...]) -> None:
    row = {"x": Entity("http://x/a"), "y": None, "z": Literal("1")}
    found = select_columns(Rows(tuple(row), [tuple(row.values())]), columns)
    assert found == Rows(columns, [tuple(row[name] for name in columns)])
    assert select_columns(Rows((), []), columns) == Rows(columns, [])
    with pytest.raises(KGMalformed, match="lacks what was asked for: "):
        select_columns(Rows(("z",), [(Literal("1"),)]), columns)


@pytest.mark.parametrize(
    ("term", "read"),
    [
        ({"type": "uri", "value": "http://x/a"}, Entity("http://x/a")),
        ({"type": "uri", "value": "http://x/a b"}, Entity("http://x/a%20b")),
        ({"type": "uri", "value": "http://x/a> {<é>\n"}, Entity("http://x/a%3E%20%7B%3Cé%3E%0A")),
        ({"type": "uri", "value": "relative"}, None),
        ({"type": "uri", "value": "urn:kgqa:blank:b7"}, Entity("_:b7")),
        ({"type": "bnode", "value": "b7"}, Entity("_:b7")),
        ({"type": "bnode", "value": "b 7"}, None),
        ({"type": "bnode", "value": "nodeID://b10001"}, Entity("nodeID://b10001")),
        ({"type": "literal", "value": "a"}, Literal("a")),
        ({"type": "literal", "value": "a", "xml:lang": "en-GB"}, Literal("a", language="en-GB")),
        ({"type": "literal", "value": "a", "xml:lang": "no tag"}, None),
        ({"type": "typed-literal", "value": "7", "datatype": f"{XSD}integer"}, Literal("7", f"{XSD}integer")),
        ({"type": "literal", "value": "7", "datatype": "no iri"}, None),
        ({"type": "literal", "value": "1", "datatype": f"{XSD}boolean"}, Literal("true", f"{XSD}boolean")),
    ],
)
def test_terms(term: dict[str, str], read: Entity | Literal | None) -> None:
    answer = {"head": {"vars": ["x", "y"]}, "results": {"bindings": [{"x": term}]}}
    assert read_rows(json.dumps(answer).encode()).rows == [(read, None)]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"head": {}, "boolean": True}, "true"),
        ({"head": {}, "boolean": False}, "false"),
        ({"head": {"vars": ["__ASK_RETVAL"]}, "results": {"bindings": []}}, "false"),
        (
            {"head": {"vars": ["__ASK_RETVAL"]}, "results": {"bindings": [{"__ASK_RETVAL": {"value": "1"}}]}},
            "true",
        ),
    ],
)
def test_yes_and_no(answer: object, said: str) -> None:
    assert read_rows(json.dumps(answer).encode()) == Rows(("ask",), [(Literal(said, f"{XSD}boolean"),)])


IRIS = st.text("abz/é'", max_size=5).map(lambda text: ox.NamedNode(f"http://x/{text}"))
DATATYPES = ["integer", "decimal", "double", "boolean", "date", "string", "dateTime", "float"]
VALUES = st.text(max_size=12) | st.sampled_from(
    [
        "5",
        "+05",
        "-1.50",
        "1e30",
        ".5E-7",
        "INF",
        "true",
        "0",
        "2001-01-01",
        'a\tb\nc\r"d"\\',
        "\\u0041",
        '"@en',
    ]
)
STORED = st.one_of(
    IRIS,
    st.sampled_from("ab1").map(ox.BlankNode),
    VALUES.map(ox.Literal),
    st.builds(lambda value, tag: ox.Literal(value, language=tag), VALUES, st.sampled_from(["en", "de-AT"])),
    st.builds(
        lambda value, name: ox.Literal(value, datatype=ox.NamedNode(XSD + name)),
        VALUES,
        st.sampled_from(DATATYPES),
    ),
)


@given(st.lists(STORED, max_size=6, unique=True))
def test_a_query_of_our_own_is_read_as_its_answer_in_json_is(terms: list[Any]) -> None:
    store = ox.Store()
    for term in terms:
        store.add(ox.Quad(ox.NamedNode("http://x/s"), ox.NamedNode("http://x/p"), term))
    for query in (
        "SELECT ?o ?none ?s WHERE { ?s <http://x/p> ?o } ORDER BY STR(?o) DATATYPE(?o) LANG(?o)",
        "SELECT ?none WHERE { ?s ?p ?o }",
        "SELECT (COUNT(*) AS ?n) (AVG(?o) AS ?mean) WHERE { ?s ?p ?o }",
        "ASK { ?s ?p ?o }",
    ):
        told = store.query(query).serialize(format=ox.QueryResultsFormat.JSON)
        assert run_query(store, query, lambda size: None) == read_rows(told)
