"""Blueprints by a regular expression over the text of a query, as in the paper (CoG §3.1, equation 1)."""

import pytest

from kgqa.priors.slots import Blueprint
from kgqa.priors.training_questions import (
    NO_QUERY_OR_PATH,
    NO_RELATION_IN_TEXT,
    UNKNOWN_RELATION,
    RelationPath,
    Topic,
    TrainingQuestion,
    extract_lessons,
    read_text,
)

FILM = "PREFIX ns: <http://rdf.freebase.com/ns/>\nSELECT DISTINCT ?x WHERE { "


@pytest.mark.parametrize(
    ("query", "slots"),
    [
        # ordered by occurrence, repeated where the text repeats, entities left out
        (
            FILM + "ns:m.05 ns:film.actor.film ?y . ?y ns:film.performance.film ?x . }",
            "film.actor.film film.performance.film",
        ),
        (FILM + "?x ns:a.b.c ns:g.11x . ?y ns:a.b.c ?x }", "a.b.c a.b.c"),
        # no treatment of direction, branches or filters; casts, classes, names and types left out
        (
            FILM + "FILTER(?x != ns:m.05) ?x ns:type.object.type ns:film.film . ?x ns:d.e.f ?n . "
            "FILTER(xsd:dateTime(?n) > '2010'^^xsd:dateTime) ?x ns:type.object.name ?m } ORDER BY ?n LIMIT 1",
            "d.e.f",
        ),
        (
            FILM + "?x ns:media_common.netflix_title.netflix_genres ?y }",
            "media_common.netflix_title.netflix_genres",
        ),
        ("SELECT ?x { <http://x.org/e/Ulm> <http://x.org/r/mayor> ?x }", "mayor"),
        ("SELECT ?x { wd:Q3012 wdt:P6/wdt:P26 ?x }", "P6 P26"),
        ("SELECT ?x { ?x a <http://www.w3.org/2002/07/owl#Thing> }", ""),
    ],
)
def test_the_relations_are_those_of_the_text(query: str, slots: str) -> None:
    assert " ".join(map(str, read_text(query, {"Ulm"}))) == slots


def lesson(**given: object):
    topics = (Topic("http://x/Ulm", "Ulm"),)
    [found] = extract_lessons([TrainingQuestion("Who leads Ulm?", topics, **given)], reading="text")  # type: ignore[arg-type]
    return found


def test_anchors_are_not_masked() -> None:
    found = lesson(sparql="SELECT ?x { ?x ns:city.mayor.of ns:Ulm }")
    assert (found.masked, str(found.blueprint)) == ("Who leads Ulm?", "city.mayor.of")


def test_gold_paths_are_read_one_after_the_other() -> None:
    paths = (RelationPath("http://x/Ulm", ("^a", "b")), RelationPath(None, ("^c",)))
    assert lesson(paths=paths).blueprint == Blueprint.parse([["a", "b", "c"]])


def test_what_has_no_blueprint_says_why() -> None:
    assert lesson().blueprint == NO_QUERY_OR_PATH
    assert lesson(sparql="SELECT ?x { ?x a ns:film.film }").blueprint == NO_RELATION_IN_TEXT
    asked = [TrainingQuestion("Who?", sparql="SELECT ?x { ?x ns:a.b.c ?y }")]
    assert next(extract_lessons(asked, ["d.e.f"], "text")).blueprint == UNKNOWN_RELATION
