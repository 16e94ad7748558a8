from collections.abc import Sequence

import pytest

from kgqa.priors.slots import Blueprint
from kgqa.priors.training_questions import (
    NO_QUERY_OR_PATH,
    NO_RELATION_LEFT,
    UNKNOWN_RELATION,
    RelationPath,
    Topic,
    TrainingQuestion,
    extract_lessons,
)

NS = "PREFIX ns: <http://rdf.freebase.com/ns/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


def found(
    sparql: str | None, topics: Sequence[str] = ("m.a", "m.b"), paths: Sequence[RelationPath] = ()
) -> str:
    """Draw the blueprint of a question, or say why it has none."""
    named = tuple(Topic(id, id) for id in topics)
    example = TrainingQuestion("q?", named, NS + sparql if sparql else None, tuple(paths))
    (lesson,) = extract_lessons([example])
    return str(lesson.blueprint)


def test_relations_are_in_the_order_of_the_walk_not_of_the_text() -> None:
    query = "SELECT ?x WHERE { ?y ns:film.cast.actor ?x . ns:m.a ns:film.film.cast ?y }"
    assert found(query) == "film.film.cast film.cast.actor"


def test_a_relation_against_its_arrow_is_marked() -> None:
    assert found("SELECT ?x WHERE { ?x ns:film.film.director ns:m.a }") == "^film.film.director"


def test_branches_of_topics_come_in_the_order_of_the_file() -> None:
    query = "SELECT ?x WHERE { ns:m.a ns:a.a.one ?y . ?y ns:a.a.two ?x . ?x ns:a.a.three ns:m.b }"
    assert found(query, ["m.a", "m.b"]) == "a.a.one a.a.two & ^a.a.three"
    assert found(query, ["m.b", "m.a"]) == "^a.a.three & a.a.one a.a.two"


def test_each_topic_has_its_first_branch_before_any_has_a_second() -> None:
    query = "SELECT ?x WHERE { ns:m.a ns:r.r.a ?x ; ns:r.r.b ?x . ns:m.b ns:r.r.c ?x }"
    assert found(query) == "r.r.a & r.r.c & r.r.b"


def test_other_constants_come_last() -> None:
    query = 'SELECT ?x WHERE { ?x ns:r.r.code "DE" . ?x ns:r.r.near ns:m.z . ns:m.b ns:r.r.c ?x }'
    assert found(query, ["m.b"]) == "r.r.c & ^r.r.code & ^r.r.near"


def test_casts_classes_filters_and_sort_keys_have_no_part() -> None:
    query = """SELECT DISTINCT ?x WHERE {
      FILTER (?x != ns:m.a) FILTER (!isLiteral(?x) OR lang(?x) = '' OR langMatches(lang(?x), 'en'))
      ns:m.a ns:r.r.holds ?y . ?y ns:r.r.post ?x . ?x a ns:r.office ; ns:type.object.type ns:r.office .
      FILTER(NOT EXISTS { ?y ns:r.r.from ?s } || EXISTS { ?y ns:r.r.from ?t .
        FILTER(xsd:datetime(?t) <= "2009-12-31"^^xsd:dateTime) })
      ?y ns:r.r.since ?n } ORDER BY DESC(xsd:datetime(?n)) LIMIT 1"""
    assert found(query) == "r.r.holds r.r.post"


def test_of_alternatives_the_first_is_taken() -> None:
    query = "SELECT ?x WHERE { { ns:m.a ns:r.r.a ?x } UNION { ns:m.a ns:r.r.b ?x } }"
    assert found(query) == "r.r.a"


def test_without_a_query_the_gold_paths_are_read() -> None:
    paths = [RelationPath("m.b", ("^r.r.b",)), RelationPath("m.a", ("r.r.a", "r.r.c"))]
    assert found(None, paths=paths) == "r.r.a r.r.c & ^r.r.b"


def test_a_query_that_cannot_be_read_falls_back_to_the_gold_paths() -> None:
    assert found("SELECT ?x WHERE {", paths=[RelationPath(None, ("r.r.a",))]) == "r.r.a"


@pytest.mark.parametrize(
    ("relation", "slot"),
    [("http://x/r/born_in", "born_in"), ("^wdt:P22", "^P22"), ("born_in", "born_in"), ("a:b", "a:b")],
)
def test_gold_paths_give_local_names(relation: str, slot: str) -> None:
    assert found(None, paths=[RelationPath(None, (relation,))]) == slot


def test_a_gold_path_through_a_class_or_a_name_is_no_branch() -> None:
    classes = [RelationPath("m.b", ("^type.object.type",)), RelationPath("m.b", ("rdfs:label", "r.r.x"))]
    assert found(None, paths=[RelationPath("m.a", ("r.r.a",)), classes[0]]) == "r.r.a"
    assert found(None, paths=[classes[0]]) == NO_RELATION_LEFT


def test_what_has_no_blueprint_says_why() -> None:
    assert found(None) == NO_QUERY_OR_PATH
    assert found("SELECT ?x WHERE {") == "not a SPARQL query"
    assert (
        found("SELECT ?x WHERE { ?x ns:r.r.a ?y }")
        == "no relation joins a constant of the query to its answer"
    )


def test_a_relation_that_is_not_given_leaves_the_blueprint_out() -> None:
    one, two = (TrainingQuestion("q?", paths=(RelationPath(None, (name,)),)) for name in ("known", "unknown"))
    assert [lesson.blueprint for lesson in extract_lessons([one, two], {"known"})] == [
        Blueprint.parse([["known"]]),
        UNKNOWN_RELATION,
    ]


def test_half_of_a_character_can_be_a_question() -> None:
    (lesson,) = extract_lessons([TrainingQuestion("who is \ud800?", (Topic("m.a", "\ud800"),))])
    assert lesson.question == "who is ??"
