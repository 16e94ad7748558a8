"""A relation that is stated one way and asked for the other: what has parts, and what is a part."""

from pathlib import Path

import pytest

import kgqa

PREFIXES = (
    "PREFIX : <http://ship.test/>\nPREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
    "PREFIX owl: <http://www.w3.org/2002/07/owl#>\n"
)
NAMES = ":a rdfs:label 'Rig One' . :b rdfs:label 'Mast Two' . :c rdfs:label 'Yard Three' .\n"
STATED = {
    "of": ":c :partOf :b . :b :partOf :a .",
    "has": ":a :hasPart :b . :b :hasPart :c . :hasPart rdfs:label 'has part' .",
    "axioms": ":hasPart a owl:ObjectProperty ; rdfs:label 'has part' . "
    ":a a owl:Class ; rdfs:subClassOf [ owl:onProperty :hasPart ; owl:someValuesFrom :b ] ."
    ":b a owl:Class ; rdfs:subClassOf [ owl:onProperty :hasPart ; owl:someValuesFrom :c ] ."
    ":c a owl:Class .",
}


@pytest.fixture(scope="module", params=STATED)
def ship(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("ship") / f"{request.param}.ttl"
    path.write_text(PREFIXES + NAMES + STATED[request.param], "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is Mast Two part of?", "Rig One"),
        ("What is Mast Two a part of?", "Rig One"),
        ("What is part of Mast Two?", "Yard Three"),
        ("Which parts does Mast Two have?", "Yard Three"),
        ("Which parts has Mast Two?", "Yard Three"),
    ],
)
def test_parts_are_told_from_wholes(ship: str, question: str, answer: str) -> None:
    record = kgqa.ask(question, kg=ship, model="offline")
    assert [each["name"] for each in record["answers"]] == [answer]


@pytest.mark.parametrize("question", ["What is Rig One part of?", "Which parts does Yard Three have?"])
def test_what_is_only_stated_the_other_way_is_not_proved(ship: str, question: str) -> None:
    assert kgqa.ask(question, kg=ship, model="offline")["outcome"] != "grounded"
