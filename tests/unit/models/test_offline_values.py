"""The offline model on questions that name values and classes: alone, together, with numbers and extremes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import kgqa

COMPANY = """
@prefix : <http://x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Supplier a owl:Class ; rdfs:label "supplier"@en . :Tool a owl:Class ; rdfs:label "tool"@en .
:Price a owl:Class ; rdfs:label "price"@en .
:supplies a owl:ObjectProperty ; rdfs:domain :Supplier ; rdfs:range :Tool .
:acme a :Supplier ; rdfs:label "Acme Ltd" ; :city "Toulouse" ; :supplies :saw, :axe .
:bolt a :Supplier ; rdfs:label "Bolt Inc" ; :city "Ulm" ; :supplies :drill .
:cobb a :Supplier ; rdfs:label "Cobb" ; :city "Toulouse" ; :supplies :drill .
:saw a :Tool ; rdfs:label "Saw" ; :colour "red" ; :weight 12 ; :price :p1 ;
  :bought "2021-05-03"^^xsd:date .
:axe a :Tool ; rdfs:label "Axe" ; :colour "red" ; :weight 30 ; :price :p2 ;
  :bought "2022-12-24"^^xsd:date .
:drill a :Tool ; rdfs:label "Drill" ; :colour "blue" ; :weight 7 ; :price :p3 ;
  :charged "PT1H30M"^^xsd:duration .
:p1 a :Price ; rdfs:label "9 EUR" ; :amount 9 . :p2 a :Price ; rdfs:label "45 EUR" ; :amount 45 .
:p3 a :Price ; rdfs:label "120 EUR" ; :amount 120 .
:ann a :Person ; rdfs:label "Ann" ; :knows :bob . :bob a :Person ; rdfs:label "Bob" ; :knows :cy .
:cy a :Person ; rdfs:label "Cy" ; :knows :ann .
"""


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path: Path = tmp_path_factory.mktemp("company") / "company.ttl"
    path.write_text(COMPANY, "utf-8")
    yield str(path)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which suppliers are in Toulouse?", {"Acme Ltd", "Cobb"}),
        ("Which tools are red?", {"Axe", "Saw"}),
        ("Which tool was bought on 3 May 2021?", {"Saw"}),
        ("Which tool was bought on December 24, 2022?", {"Axe"}),
        ("Which tools are charged for 1 hour and 30 minutes?", {"Drill"}),
        ("How many tools are red?", {"2"}),
        ("How many suppliers are there?", {"3"}),
        ("List all tools.", {"Axe", "Drill", "Saw"}),
        ("What is the most expensive tool?", {"Drill"}),
        ("What is the cheapest tool?", {"Saw"}),
        ("Which tool weighs 30 kilos?", {"Axe"}),
        ("Which tools weigh more than 10 kilos?", {"Axe", "Saw"}),
        ("Which suppliers supply the Drill?", {"Bolt Inc", "Cobb"}),
        ("Who knows Ann?", {"Cy"}),
    ],
)
def test_it_answers_by_values_and_classes(company: str, question: str, answers: set[str]) -> None:
    record = kgqa.ask(question, kg=company, model="offline")
    assert {answer["name"] for answer in record["answers"]} == answers
    assert record["outcome"] == "grounded"


def test_what_says_no_relation_is_answered_but_not_proved(company: str) -> None:
    record = kgqa.ask("What is red?", kg=company, model="offline")
    names = {answer["name"] for answer in record["answers"]}
    assert (names, record["outcome"]) == ({"Axe", "Saw"}, "grounded_unverified")


def test_the_query_has_the_value_as_it_stands(company: str) -> None:
    record = kgqa.ask("Which suppliers are in Toulouse?", kg=company, model="offline")
    assert '<http://x/city> "Toulouse"' in (record["query"] or "")
    assert {fact["tail"]["id"] for fact in record["evidence"]} >= {"Toulouse"}


def test_a_topic_in_a_record_can_be_given_again(company: str) -> None:
    (topic, *_) = kgqa.ask("Which suppliers are in Toulouse?", kg=company, model="offline")["topics"]
    assert topic["id"] == "urn:kgqa:value:Toulouse"
    for given in (topic["id"], "Toulouse"):
        record = kgqa.ask("Who is in that city?", kg=company, model="offline", topics=[given])
        assert record["topics"] == [topic]


@pytest.mark.parametrize("question", ["Which suppliers are shiny?", "Which tools do not know Ann?"])
def test_what_nothing_says_is_not_proved(company: str, question: str) -> None:
    assert kgqa.ask(question, kg=company, model="offline")["outcome"] != "grounded"


def test_an_answer_that_is_not_of_the_class_asked_for_is_not_proved(company: str) -> None:
    record = kgqa.ask("Which price does Acme Ltd have?", kg=company, model="offline")
    assert record["outcome"] != "grounded" or all("EUR" in each["name"] for each in record["answers"])


@pytest.mark.parametrize("method", ["cor", "pog"])
def test_other_methods_set_out_from_values_too(company: str, method: str) -> None:
    record = kgqa.ask("Which suppliers are in Toulouse?", kg=company, model="offline", method=method)
    assert {answer["name"] for answer in record["answers"]} == {"Acme Ltd", "Cobb"}
    assert record["outcome"] == "grounded_unverified"  # they take the class for no topic
