"""Relation chains are read out of the algebra of a query."""

import gzip
import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.kg.sparql.constants import read_constants
from kgqa.kg.sparql.parsing import PREFIXES, normalise_query
from kgqa.kg.sparql.path_extraction import ChainToAnswer as Way, UnreadableQuery, read_chains
from kgqa.kg.terms import Entity, Hop, Literal, local_name


def drawn(query: str) -> list[str]:
    """Draw the paths of a query, their constants without namespace."""
    return [shown(path) for path in read_chains(f"PREFIX : <http://x/> {query}").paths]


def shown(path: Way) -> str:
    start = local_name(path.start.id) if isinstance(path.start, Entity) else f'"{path.start}"'
    return " ".join([start, *map(str, path.hops)])


def branches(query: str) -> list[list[str]]:
    alternatives = read_chains(f"PREFIX : <http://x/> {query}").alternatives
    return [[shown(path) for path in alternative] for alternative in alternatives]


def test_a_chain_is_in_the_order_of_its_hops_whatever_the_order_of_the_text() -> None:
    assert drawn("SELECT ?x { ?b :r3 ?x . :a :r1 ?c . ?b :r2 ?c }") == ["a -r1-> <-r2- -r3->"]


def test_each_constant_has_a_branch() -> None:
    assert drawn("SELECT ?x { :a :r ?x . ?x :s ?y . ?y :t :b }") == ["a -r->", "b <-t- <-s-"]


def test_a_constant_in_two_patterns_has_two_branches() -> None:
    assert drawn("SELECT ?x { ?x :wrote :a . ?x :directed :a }") == ["a <-directed-", "a <-wrote-"]


def test_a_chain_does_not_run_through_another_constant() -> None:
    assert drawn("SELECT ?x { :a :r :b . :b :s ?x }") == ["b -s->"]


def test_a_literal_is_a_constant() -> None:
    reading = read_chains('PREFIX : <http://x/> SELECT ?x { ?x :code "DE"@en . ?x :size 3 }')
    integer = "http://www.w3.org/2001/XMLSchema#integer"
    code = Way(Literal("DE", language="en"), (Hop("http://x/code", forward=False),))
    size = Way(Literal("3", integer), (Hop("http://x/size", forward=False),))
    assert set(reading.paths) == {code, size}


def test_a_property_path_is_its_hops() -> None:
    assert drawn("SELECT ?x { :a :r/^:s/:t ?x }") == ["a -r-> <-s- -t->"]
    assert drawn("SELECT ?x { :a ^(:r/:s) ?x }") == ["a <-s- <-r-"]


@pytest.mark.parametrize("path", [":r/:s*", ":r/:s+", ":r/:s?"])
def test_a_repeated_relation_is_taken_once(path: str) -> None:
    assert drawn(f"SELECT ?x {{ :a {path} ?x }}") == ["a -r-> -s->"]


def test_a_choice_of_relations_is_alternatives() -> None:
    assert branches("SELECT ?x { :a :r|^:s ?x . ?x :t :b }") == [
        ["a -r->", "b <-t-"],
        ["a <-s-", "b <-t-"],
    ]


def test_union_is_alternatives_each_with_what_holds_for_all() -> None:
    query = "SELECT ?x { { :a :r ?x } UNION { :b :s ?x } ?x :t :c }"
    assert branches(query) == [["a -r->", "c <-t-"], ["b -s->", "c <-t-"]]


def test_values_are_constants_in_turn() -> None:
    assert branches("SELECT ?x { VALUES ?a { :a :b } ?a :r ?x }") == [["a -r->"], ["b -r->"]]
    assert branches("SELECT ?x { :a ?p ?x VALUES ?p { :r :s } }") == [["a -r->"], ["a -s->"]]


def test_optional_is_there_or_not() -> None:
    assert branches("SELECT ?x { :a :r ?x OPTIONAL { ?x :s :b } }") == [["a -r->", "b <-s-"], ["a -r->"]]


@pytest.mark.parametrize(
    "rest",
    [
        "FILTER(?x != :b)",
        "FILTER NOT EXISTS { ?x :s :b }",
        "MINUS { ?x :s :b }",
        "?x a :Town",
        '?x rdfs:label "X"@en',
        "?x fb:type.object.type fb:people.person",
        "?x ?any :b",
        "SERVICE wikibase:label { bd:serviceParam wikibase:language :b }",
    ],
)
def test_what_only_restricts_or_names_has_no_branch(rest: str) -> None:
    assert drawn(f"SELECT ?x {{ :a :r ?x . {rest} }}") == ["a -r->"]


def test_order_and_limit_change_nothing() -> None:
    query = "SELECT DISTINCT ?x { :a :r ?x . ?x :date ?d } ORDER BY DESC(xsd:dateTime(?d)) LIMIT 1"
    assert drawn(query) == ["a -r->"]


def test_a_count_is_of_what_is_counted() -> None:
    assert drawn("SELECT (COUNT(DISTINCT ?x) AS ?n) { :a :r ?x }") == ["a -r->"]
    assert drawn("SELECT (COUNT(?x) AS ?n) { SELECT DISTINCT ?x { :a :r ?x } }") == ["a -r->"]


def test_a_computed_answer_is_what_it_is_computed_from() -> None:
    assert drawn("SELECT ?year { :a :born ?d BIND(YEAR(?d) AS ?year) }") == ["a -born->"]


def test_the_answer_of_a_nested_query_is_found_under_its_new_name() -> None:
    assert drawn("SELECT (?x AS ?value) { SELECT DISTINCT ?x { :a :r ?x } }") == ["a -r->"]
    assert drawn("SELECT ?x { { SELECT (?y AS ?z) { :a :r ?y } } ?z :s ?x }") == ["a -r-> -s->"]


def test_variables_that_a_nested_query_keeps_are_not_those_outside() -> None:
    query = "SELECT ?x { :a :r ?x . ?x :s ?y { SELECT ?w { :b :t ?y . ?y :u ?w } } }"
    assert drawn(query) == ["a -r->"]


def test_a_superlative_as_grailqa_writes_it() -> None:
    query = """PREFIX : <http://x/> SELECT (?x0 AS ?value) WHERE { SELECT DISTINCT ?x0 WHERE {
        VALUES ?x2 { :a }
        { SELECT (MAX(?y3) AS ?x3) WHERE { VALUES ?y2 { :a } ?y1 :of ?y0 . ?y0 :in ?y2 . ?y1 :size ?y3 . } }
        ?x1 :of ?x0 . ?x0 :in ?x2 . ?x1 :size ?x3 . FILTER ( ?x0 != ?x1 ) } }"""
    assert [shown(path) for path in read_chains(query).paths] == ["a <-in-"]


def test_blank_nodes_are_variables() -> None:
    assert drawn("SELECT ?x { :a :r [ :s ?x ] }") == ["a -r-> -s->"]


def test_of_several_variables_the_first_is_the_answer() -> None:
    reading = read_chains("PREFIX : <http://x/> SELECT ?y ?x { :a :r ?y . ?y :s ?x }")
    assert (reading.answer, len(reading.paths[0].hops)) == ("y", 1)


def test_a_query_of_virtuoso_that_was_cut_into_words_is_read() -> None:
    query = (
        "PREFIX : <http://x/> SELECT DISTINCT ?x WHERE { FILTER ( ! isLiteral ( ?x ) OR lang ( ?x ) = 'or' ) "
        'FILTER ( ?d > "1999" ^^ xsd:gYear ) :a :r / :s * ?x . ?x :t :b ; :name "X" @en . ?x :u ?d }'
    )
    assert [shown(path) for path in read_chains(query).paths] == ['"X" <-name-', "b <-t-", "a -r-> -s->"]


def test_text_within_quotes_stays_as_it_is() -> None:
    text = 'SELECT ?x { ?x <http://x/r> "this OR that ^^ x:y * z" } # AND'
    assert normalise_query(text) == f"\n{text}"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("ASK { :a :r ?x }", "only a SELECT"),
        ("SELECT * { :a :r ?x . ?x :s ?y }", "which of its variables"),
        ("SELECT ?x { ?x :r ?y }", r"no relation joins a constant of the query to its answer \?x"),
        ("SELECT ?x { :a :r ?y . ?x :s ?z }", "no relation joins"),
        ("SELECT (COUNT(*) AS ?n) { :a :r ?x }", "no relation joins"),
        ("SELECT ?x {", "not a SPARQL query"),
        ("DELETE WHERE { ?s ?p ?o }", "not a SPARQL query"),
        ("", "not a SPARQL query"),
        ("SELECT ?x { :a " + "|".join(f":r{i}/:s" for i in range(300)) + " ?x . ?x :a|:b :c }", "more than"),
        ("SELECT ?x { :a <http://x/a b> ?x }", "not a SPARQL query"),
        ("SELECT ?x {" + "{" * 50 + "}" * 50 + "}", "brackets"),
    ],
)
def test_what_has_no_reading_is_refused_in_one_line(query: str, message: str) -> None:
    with pytest.raises(UnreadableQuery, match=message) as caught:
        read_chains(f"PREFIX : <http://x/> {query}")
    assert "\n" not in str(caught.value)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet='SELECT?xyab:rs{}()<>"^*/.|;@ \\\n', max_size=60))
def test_any_text_has_a_reading_or_is_refused(text: str) -> None:
    for query in (text, f"PREFIX : <http://x/> SELECT ?x {{ {text} }}"):
        with suppress(UnreadableQuery):
            assert read_chains(query).paths


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("rst"), st.booleans()), min_size=1, max_size=5), st.randoms())
def test_any_chain_is_read_back(hops: list[tuple[str, bool]], random) -> None:
    nodes = [":a", *(f"?n{i}" for i in range(1, len(hops))), "?x"]
    triples = [
        f"{a} :{name} {b} ." if forward else f"{b} :{name} {a} ."
        for (name, forward), a, b in zip(hops, nodes, nodes[1:], strict=False)
    ]
    random.shuffle(triples)
    wanted = tuple(Hop(f"http://x/{name}", forward) for name, forward in hops)
    query = f"PREFIX : <http://x/> SELECT ?x {{ {' '.join(triples)} }}"
    assert read_chains(query).paths == (Way(Entity("http://x/a"), wanted),)


SETS = {
    "train/webqsp_train": 120,
    "train/cwq_dev": 120,
    "train/wwq_train": 40,
    "train/qald9plus_wikidata_train": 12,
    "train/qald7_wikidata_train": 8,
    "freebase/grailqa_slice": 30,
    "freebase/webqsp_slice_union": 80,
    "wikidata/qald10_en_grasp_slice": 6,
}


@pytest.mark.parametrize(("name", "step"), SETS.items())
def test_readings_agree_with_the_paths_of_question_sets(data: Path, name: str, step: int) -> None:
    with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines][::step]
    differing = [question["id"] for question in questions if not agrees(question)]
    assert len(differing) <= len(questions) // 20, differing


def agrees(question: dict) -> bool:
    """Return whether each of the file's paths is among those that are read."""
    gold = question["gold_paths"]
    try:
        paths = read_chains(question["sparql"]).paths
    except UnreadableQuery:
        return not gold
    found = {(local_name(p.start.id), p.hops) for p in paths if isinstance(p.start, Entity)}
    known = {(topic, steps) for topic, steps in found}
    return all(
        any(
            topic == start and len(hops) == len(way) and all(map(is_named, hops, way))
            for start, hops in known
        )
        for topic, way in gold.items()
    )


def is_named(hop: Hop, name: str) -> bool:
    plain = name.removeprefix("^").rstrip("*+")
    prefix, colon, local = plain.partition(":")
    iri = PREFIXES[prefix] + local if colon else PREFIXES["ns"] + plain
    return hop == Hop(iri, not name.startswith("^"))


@pytest.mark.parametrize(
    "where",
    [
        "VALUES ?z { :a } ?z :p ?y",
        "{ ?z :p ?y } VALUES ?z { :a }",
        "BIND(:a AS ?z) ?z :p ?y",
        "?z :p ?y FILTER(?z = :a)",
        ":a :p ?y",
    ],
)
def test_a_topic_binds_however_it_is_written(where: str) -> None:
    query = f"PREFIX : <http://x/> SELECT ?y {{ {where} }}"
    assert read_constants(query).binding == {"http://x/a"}
    if "FILTER" not in where:
        assert drawn(f"SELECT ?y {{ {where} }}") == ["a -p->"]
