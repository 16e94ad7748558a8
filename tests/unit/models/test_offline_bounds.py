"""Questions to the offline model that ask for things of a kind, or set a bound to a year or a number."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import kgqa
from kgqa.kg.linking.class_names import asks_for_kind
from kgqa.models.offline.question_intent import find_bounds

HUTS = """
@prefix : <http://x/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:hut rdfs:label "hut" . :club rdfs:label "club" .
:a a :hut ; rdfs:label "Gauli" ; :beds 55 ; :altitude_metres 2205 ; :built "1895"^^xsd:gYear ; :club :u .
:b a :hut ; rdfs:label "Rotstock" ; :beds 103 ; :altitude_metres 2834 ; :built "1875"^^xsd:gYear ; :club :u .
:c a :hut ; rdfs:label "Konkordia" ; :beds 155 ; :altitude_metres 2850 ; :built "1977"^^xsd:gYear ; :club :u .
:d a :hut ; rdfs:label "Silvretta" ; :beds 65 ; :altitude_metres 2339 ; :built "2009"^^xsd:gYear ; :club :p .
:u a :club ; rdfs:label "Uto" ; :town :z . :p a :club ; rdfs:label "Pilatus" ; :town :l .
:z rdfs:label "Zurich" . :l rdfs:label "Lucerne" .
"""

PAST = """
@prefix : <http://past.test/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:sage rdfs:label "sage" . :fort rdfs:label "fort" .
:e a :sage ; rdfs:label "Ennios Voss" ; :born "-0106"^^xsd:gYear ; :died "-0044-03-15"^^xsd:date .
:m a :sage ; rdfs:label "Marta Osk" ; :born "0476-09-04"^^xsd:date ; :died "0524"^^xsd:gYear .
:t a :sage ; rdfs:label "Tullo Ban" ; :born "1033"^^xsd:gYear ; :died "1109-04-21"^^xsd:date .
:z a :sage ; rdfs:label "Zeno Lar" ; :born "0080"^^xsd:gYear ; :died "-0044"^^xsd:gYear .
:f1 a :fort ; rdfs:label "Fort Anker" ; :erected -120 . :f2 a :fort ; rdfs:label "Fort Bastel" ; :erected 83 .
:f3 a :fort ; rdfs:label "Fort Corvin" ; :erected 412 .
:f4 a :fort ; rdfs:label "Fort Dunmar" ; :erected 1650 .
"""

WIKIDATA_PAST = """
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
wd:P31 rdfs:label "instance of"@en . wd:P570 rdfs:label "date of death"@en . wd:Q5 rdfs:label "human"@en .
wd:Q1 rdfs:label "Ennios Voss"@en ; wdt:P31 wd:Q5 ; wdt:P570 "-0043-03-15T00:00:00Z"^^xsd:dateTime .
wd:Q2 rdfs:label "Zeno Lar"@en ; wdt:P31 wd:Q5 ; wdt:P570 "-0044-01-01T00:00:00Z"^^xsd:dateTime .
"""


@pytest.fixture(scope="module")
def huts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path: Path = tmp_path_factory.mktemp("huts") / "huts.ttl"
    path.write_text(HUTS, "utf-8")
    yield str(path)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which huts were built after 1900?", {"Konkordia", "Silvretta"}),
        ("Which huts were built by 1895?", {"Gauli", "Rotstock"}),
        ("Which huts have more than 100 beds?", {"Rotstock", "Konkordia"}),
        ("Which huts of the club Uto have more than 100 beds?", {"Rotstock", "Konkordia"}),
        ("Which huts of the club Uto were built before 1880?", {"Rotstock"}),
        ("How many huts of the club Uto have more than 100 beds?", {"2"}),
        ("How many huts have at least 65 beds?", {"3"}),
        ("Which huts have not less than 103 beds?", {"Rotstock", "Konkordia"}),
        ("Which huts have not more than 65 beds?", {"Gauli", "Silvretta"}),
        ("Which huts were built from 1880 to 1980?", {"Gauli", "Konkordia"}),
        ("Which huts were built between 1880 and 1980?", {"Gauli", "Konkordia"}),
        ("Which huts have 103 beds or more?", {"Rotstock", "Konkordia"}),
        ("Which huts have 65 or fewer beds?", {"Gauli", "Silvretta"}),
        ("Which huts have from 60 to 110 beds?", {"Rotstock", "Silvretta"}),
        ("How many huts are there?", {"4"}),
        ("Which hut has the most beds?", {"Konkordia"}),
        ("What is the oldest hut?", {"Rotstock"}),
    ],
)
def test_what_is_asked_of_all_of_a_kind_and_what_a_bound_leaves(
    huts: str, question: str, answers: set[str]
) -> None:
    record = kgqa.ask(question, kg=huts, model="offline")
    assert {answer["name"] for answer in record["answers"]} == answers
    assert record["outcome"] in {"grounded", "grounded_inference"}


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("past") / "past.ttl"
    path.write_text(PAST, "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Who was born before 500?", {"Ennios Voss", "Marta Osk", "Zeno Lar"}),
        ("Which sages were born in 476?", {"Marta Osk"}),
        ("Which sages were born before 100 BC?", {"Ennios Voss"}),
        ("Which sages were born before AD 100?", {"Ennios Voss", "Zeno Lar"}),
        ("Which sages died in 44 BC?", {"Ennios Voss", "Zeno Lar"}),
        ("How many sages were born before 500?", {"3"}),
        ("Which forts were erected before 400?", {"Fort Anker", "Fort Bastel"}),
        ("Which forts were erected after 50 BC?", {"Fort Bastel", "Fort Corvin", "Fort Dunmar"}),
        ("Which forts were erected in 120 BC?", {"Fort Anker"}),
        ("Which forts were erected after 1500?", {"Fort Dunmar"}),
    ],
)
def test_years_before_1000_and_before_year_1_are_compared(
    past: str, question: str, answers: set[str]
) -> None:
    record = kgqa.ask(question, kg=past, model="offline")
    assert ({answer["name"] for answer in record["answers"]}, record["outcome"]) == (answers, "grounded")


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which sages were born between 100 BC and 500 AD?", {"Marta Osk", "Zeno Lar"}),
        ("Which forts were erected between 50 and 450?", {"Fort Bastel", "Fort Corvin"}),
    ],
)
def test_a_range_of_early_years_is_kept_to(past: str, question: str, answers: set[str]) -> None:
    record = kgqa.ask(question, kg=past, model="offline")
    assert {answer["name"] for answer in record["answers"]} == answers


@pytest.mark.parametrize("question", ["Who died in 43 BC?", "Who died in 44?", "Which forts opened in 120?"])
def test_a_year_of_the_other_era_is_never_proved(past: str, question: str) -> None:
    assert kgqa.ask(question, kg=past, model="offline")["outcome"] != "grounded"


def test_wikidata_counts_years_from_zero(tmp_path: Path) -> None:
    path = tmp_path / "past.ttl"
    path.write_text(WIKIDATA_PAST, "utf-8")
    record = kgqa.ask("Which humans died in 44 BC?", kg=str(path), model="offline")
    assert [answer["name"] for answer in record["answers"]] == ["Ennios Voss"]
    assert record["outcome"] == "grounded"


@pytest.mark.parametrize(
    ("question", "denied"),
    [
        ("Which huts were built from 2000 to 2005?", {"Silvretta"}),
        ("Which huts were built between 1980 and 2000?", {"Silvretta"}),
        ("Which huts were not built after 1900?", {"Konkordia", "Silvretta"}),
        ("Which huts weren't built before 1900?", {"Gauli", "Rotstock"}),
        ("Which huts were never built in 1895?", {"Gauli"}),
        ("Which huts do not have over 100 beds?", {"Rotstock", "Konkordia"}),
        ("Which huts have no fewer than 103 beds?", {"Gauli", "Silvretta"}),
        ("Which huts have no more than 65 beds?", {"Rotstock", "Konkordia"}),
    ],
)
def test_what_is_denied_or_out_of_a_range_is_never_proved(huts: str, question: str, denied: set[str]) -> None:
    record = kgqa.ask(question, kg=huts, model="offline")
    assert record["outcome"] != "grounded" or not denied & {answer["name"] for answer in record["answers"]}


def test_one_of_two_years_is_not_all_that_is_asked_for(huts: str) -> None:
    record = kgqa.ask("Which huts were built in 1875 or 1895?", kg=huts, model="offline")
    assert record["outcome"] != "grounded" or len(record["answers"]) == 2


def test_a_bound_is_a_condition_that_the_graph_decides(huts: str) -> None:
    record = kgqa.ask("Which huts of the club Uto were built before 1880?", kg=huts, model="offline")
    assert record["outcome"] == "grounded"
    assert ("built < 1880", "graph") in [(each["words"], each["by"]) for each in record["conditions"]]
    assert {each["by"] for each in record["conditions"]} == {"graph"}


@pytest.mark.parametrize(
    "question", ["Which hut has a sauna?", "Which huts of the club Uto were built before 1800?"]
)
def test_what_nothing_says_and_nothing_meets_is_not_proved(huts: str, question: str) -> None:
    record = kgqa.ask(question, kg=huts, model="offline")
    assert not record["answers"] or record["outcome"] == "grounded_unverified"


def test_other_methods_go_by_a_bound_too(huts: str) -> None:
    record = kgqa.ask(
        "Which huts of the club Uto have more than 100 beds?", kg=huts, model="offline", method="cor"
    )
    assert {answer["name"] for answer in record["answers"]} == {"Rotstock", "Konkordia"}


@pytest.mark.parametrize("question", ["Which hut has the fewest beds?", "How many huts are there?"])
def test_a_plan_is_made_of_members_of_a_class_alone(huts: str, question: str) -> None:
    record = kgqa.ask(question, kg=huts, model="offline", method="vog")
    assert {answer["name"] for answer in record["answers"]} <= {"Gauli", "4"}
    assert record["answers"]


def test_without_conditions_no_bound_is_applied(huts: str) -> None:
    record = kgqa.ask(
        "Which huts of the club Uto have more than 100 beds?",
        kg=huts,
        model="offline:without=conditions",
        min_confidence=0,
    )
    assert record["outcome"] != "grounded"


@pytest.mark.parametrize(
    ("question", "bounds"),
    [
        ("Which towns have more than 1,200 people?", [("gt", "1200", False)]),
        ("Which had 3 or more, and less than 2.5 million?", [("lt", "2500000.0", False), ("ge", "3", False)]),
        ("Which opened between us after 1990 but before 2000?", [("gt", "1990", True), ("lt", "2000", True)]),
        ("Who won in 1966?", [("eq", "1966", True)]),
        ("Who was born before 500?", [("lt", "500", True)]),
        ("What was in ruins from 500 to 400 BCE?", [("ge", "-500", True), ("le", "-400", True)]),
        ("Who ruled from 44 BC to AD 14?", [("ge", "-44", True), ("le", "14", True)]),
        ("Which were built between 100 and 300?", [("ge", "100", None), ("le", "300", None)]),
        ("Which have between 100 and 300 beds?", [("ge", "100", False), ("le", "300", False)]),
        ("Which came before 100 people did in 120 countries?", []),
        ("Who sings Summer of 69 after all?", []),
        ("Which roads by 1990 drivers are closed?", []),
    ],
)
def test_bounds_are_read_off_the_words(question: str, bounds: list[tuple[str, str, bool | None]]) -> None:
    found = [(each.by.__name__, str(each.value), each.dated) for each in find_bounds(question)]
    assert found == bounds


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("Which countries are there?", True),
        ("How many of the countries are islands?", True),
        ("What is the smallest country?", True),
        ("What is the capital of the smallest country?", False),
        ("Which rivers flow through the country?", False),
        ("Which countrymen left the country?", False),
    ],
)
def test_a_kind_is_asked_for_where_the_question_word_goes_with_it(question: str, asked: bool) -> None:
    assert asks_for_kind(question, "Country") is asked
