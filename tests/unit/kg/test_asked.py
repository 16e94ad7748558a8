"""What a query asks of the ends of its chains is read out of its algebra."""

import gzip
import json

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.data import SAMPLE_QUESTIONS
from kgqa.kg.sparql.intent import QuestionIntent, read_intent

FILMS = ":ann :made ?x . ?x :year ?year"
PRIZES = ":cup :won ?y . ?y :winner ?x"


def asked(query: str) -> QuestionIntent:
    return read_intent(f"PREFIX : <http://x/> {query}")


def test_a_plain_query_asks_for_all() -> None:
    assert asked("SELECT DISTINCT ?x { :ann :made ?x }") == QuestionIntent()


@pytest.mark.parametrize("count", ["COUNT(?x)", "COUNT(DISTINCT ?x)", "COUNT(*)"])
def test_a_count_is_a_count(count: str) -> None:
    assert asked(f"SELECT ({count} AS ?n) {{ :ann :made ?x }}") == QuestionIntent("count")


def test_a_count_of_each_group_is_none() -> None:
    grouped = "SELECT ?x (COUNT(?y) AS ?n) { :ann :made ?x . ?x :role ?y } GROUP BY ?x"
    assert asked(grouped) == QuestionIntent()
    assert (
        asked("SELECT ?x { :ann :made ?x . ?x :role ?y } GROUP BY ?x HAVING (COUNT(?y) > 2)")
        == QuestionIntent()
    )


@pytest.mark.parametrize(
    ("order", "kind"),
    [
        ("DESC(?year)", "largest"),
        ("?year", "smallest"),
        ("ASC(?year)", "smallest"),
        ("DESC(xsd:dateTime(?year))", "largest"),
        ("DESC(xsd:integer(?year)) ?x", "largest"),
    ],
)
def test_the_first_row_in_an_order_is_an_extreme(order: str, kind: str) -> None:
    query = f"SELECT DISTINCT ?x {{ {FILMS} }} ORDER BY {order} LIMIT 1"
    assert asked(query) == QuestionIntent(kind, "year")


@pytest.mark.parametrize("rows", ["", "LIMIT 5", "LIMIT 1 OFFSET 1"])
def test_an_order_of_other_rows_is_no_extreme(rows: str) -> None:
    assert asked(f"SELECT ?x {{ {FILMS} }} ORDER BY ?year {rows}") == QuestionIntent()


def test_a_largest_value_of_a_subselect_decides_by_join_or_by_filter() -> None:
    joined = f"SELECT ?x {{ {FILMS} {{ SELECT (MAX(?n) AS ?year) {{ :ann :made ?o . ?o :year ?n }} }} }}"
    least = "{ SELECT (MIN(?n) AS ?m) { :ann :made ?o . ?o :year ?n } } FILTER(?m = ?year)"
    held = f"SELECT ?x {{ {FILMS} {least} }}"
    assert asked(joined) == QuestionIntent("largest", "year")
    assert asked(held) == QuestionIntent("smallest", "year")


def test_a_value_of_a_mediator_is_one_node_back() -> None:
    query = "SELECT ?x { :ann :married ?y . ?y :spouse ?x . ?y :from ?d } ORDER BY DESC(?d) LIMIT 1"
    assert asked(query) == QuestionIntent("largest", "from", back=1)


def test_a_value_of_a_node_before_the_mediator_is_two_back() -> None:
    query = "SELECT ?x { :a :r ?z . ?z :s ?y . ?y :t ?x . ?z :size ?n } ORDER BY ?n LIMIT 1"
    assert asked(query) == QuestionIntent("smallest", "size", back=2)


def test_a_value_beside_the_chain_is_several_relations_away() -> None:
    away = "SELECT ?x { :a :has ?x . ?x :census ?y . ?y :people ?n } ORDER BY DESC(?n) LIMIT 1"
    assert asked(away) == QuestionIntent("largest", "census/people")


def test_a_node_that_another_constant_leads_through_is_on_a_chain() -> None:
    query = "SELECT ?x { :a :r ?x . ?x :office ?y . ?y :title :king . ?y :from ?d } ORDER BY ?d LIMIT 1"
    assert asked(query) == QuestionIntent("smallest", "from", back=1)


def test_an_answer_that_is_its_own_value_needs_no_relation() -> None:
    assert asked("SELECT ?x { :a :year ?x } ORDER BY DESC(?x) LIMIT 1") == QuestionIntent("largest")
    assert asked("SELECT (MIN(?n) AS ?x) { :a :year ?n }") == QuestionIntent("smallest")


def test_the_most_of_something_is_decided_by_how_many_there_are() -> None:
    most = "SELECT ?x { ?x :in :a . ?b :by ?x } GROUP BY ?x ORDER BY DESC(COUNT(?b)) LIMIT 1"
    assert asked(most) == QuestionIntent("largest", "^by")
    ways = f"SELECT ?x {{ {PRIZES} }} GROUP BY ?x ORDER BY DESC(COUNT(?x)) LIMIT 1"
    assert asked(ways) == QuestionIntent("largest", "winner", back=1)


def test_alternatives_from_different_constants_are_a_comparison() -> None:
    both = "{ :a :capital ?x } UNION { :b :capital ?x }"
    assert asked(f"SELECT ?x {{ {both} ?x :people ?n }} ORDER BY DESC(?n) LIMIT 1") == QuestionIntent(
        "largest", "people", union=True
    )
    assert asked(f"SELECT ?x {{ {both} }}") == QuestionIntent(union=True)
    assert asked("SELECT ?x { VALUES ?a { :a :b } ?a :capital ?x }") == QuestionIntent(union=True)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?x { { :a :champion ?x } UNION { :a :second ?x } }",
        "SELECT ?x { :a :r ?x { ?x :type :b } UNION { ?x :type :c } }",
        "SELECT ?x { :a :r ?x OPTIONAL { :b :s ?x } VALUES ?unused { 1 } }",
    ],
)
def test_alternatives_with_a_constant_in_common_are_none(query: str) -> None:
    assert asked(query) == QuestionIntent()


def test_an_extreme_of_something_computed_has_no_relation_that_decides() -> None:
    unknown = "SELECT ?x { :a :r ?x . BIND(1 + 2 AS ?n) } ORDER BY DESC(?n) LIMIT 1"
    assert asked(unknown) == QuestionIntent("largest")


@pytest.mark.parametrize(
    "query", ["", "count", "SELECT (COUNT(?x) AS", "ASK { ?x :max ?y }", "SELECT (COUNT(?x) AS ?n) {}"]
)
def test_what_is_no_such_query_asks_for_all_or_says_its_count(query: str) -> None:
    assert asked(query).kind in {"all", "count"}
    assert not asked(query).by


@given(st.permutations([":a :r ?x", "?x :office ?y", "?y :title :king", "?y :from ?d", "?x :born ?e"]))
@settings(deadline=None, max_examples=20)
def test_the_order_of_the_patterns_plays_no_part(patterns: list[str]) -> None:
    query = f"SELECT ?x {{ {' . '.join(patterns)} }} ORDER BY DESC(?d) LIMIT 1"
    assert asked(query) == QuestionIntent("largest", "from", back=1)


@given(st.text(st.sampled_from("SELECT ORDERBY{}()?x:.aMAX1 \n"), max_size=60))
@settings(deadline=None)
def test_any_text_is_read(text: str) -> None:
    assert isinstance(read_intent(f"{text} ORDER BY"), QuestionIntent)


def test_the_sample_s_questions_are_read_as_their_kind_says() -> None:
    lines = map(json.loads, gzip.decompress(SAMPLE_QUESTIONS.read_bytes()).splitlines())
    for line in (line for line in lines if line["split"] == "train"):
        read = read_intent(line["sparql"])
        assert (read.kind == "count") == (line["kind"] == "count")
        assert bool(read.by) == (line["kind"] in {"superlative", "comparison"})
        assert read.union == (line["kind"] == "comparison")
