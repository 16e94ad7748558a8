"""Questions for names, and for what a name names, asked offline."""

import pytest

import kgqa
from kgqa.kg.dialects import SKOS
from kgqa.kg.linking.schema_terms import said_names
from kgqa.kg.terms import Hop

THESAURUS = f"""
@prefix : <http://x/> . @prefix skos: <{SKOS}> . @prefix schema: <http://schema.org/> .
:translating a skos:Concept ; skos:prefLabel "Translating"@en, "Übersetzen"@de, "Traduction"@fr ;
  skos:altLabel "Rendering"@en ; skos:broader :creating ; skos:related :writing .
:writing a skos:Concept ; skos:prefLabel "Writing"@en, "Schreiben"@de, "Écriture"@fr ;
  skos:altLabel "Composing"@en, "Drafting"@en ; skos:broader :creating .
:recognition a skos:Concept ; skos:prefLabel "Optical Character Recognition"@en, "Texterkennung"@de ;
  skos:altLabel "OCR"@en ; skos:broader :capturing .
:creating a skos:Concept ; skos:prefLabel "Creating"@en, "Erstellen"@de .
:capturing a skos:Concept ; skos:prefLabel "Capturing"@en, "Erfassen"@de .
:amy a schema:Person ; schema:givenName "Amy" ; schema:familyName "Bloom" ; schema:knows :ben .
:ben a schema:Person ; schema:givenName "Ben" ; schema:familyName "Stone" ; schema:knows :amy .
"""


@pytest.fixture(scope="module")
def thesaurus(tmp_path_factory):
    path = tmp_path_factory.mktemp("names") / "thesaurus.ttl"
    path.write_text(THESAURUS, encoding="utf-8")
    return kgqa.open_graph([path])


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which concept is called Übersetzen in German?", {"http://x/translating"}),
        ("Schreiben is the German name of what?", {"http://x/writing"}),
        ("What is OCR the alternative label of?", {"http://x/recognition"}),
        ("Which concept has the alternative label OCR?", {"http://x/recognition"}),
        ("What is another word for Rendering?", {"http://x/translating"}),
        ("Whose family name is Bloom?", {"http://x/amy"}),
        ("What is Writing called in French?", {"Écriture"}),
        ("What is the German name of Translating?", {"Übersetzen"}),
        ("What is another word for Writing?", {"Composing", "Drafting"}),
    ],
)
async def test_a_name_is_answered_by_what_has_it_and_a_thing_by_its_names(thesaurus, question, answers):
    record = await kgqa.aask(question, kg=thesaurus, model="offline")
    assert {each["id"] for each in record["answers"]} == answers
    assert record["outcome"] == "grounded"


async def test_a_name_is_answered_though_nothing_is_known_of_the_kind_that_is_asked_for(thesaurus):
    record = await kgqa.aask("Which skill is called Texterkennung in German?", kg=thesaurus, model="offline")
    assert {each["id"] for each in record["answers"]} == {"http://x/recognition"}
    assert record["outcome"] == "grounded_unverified"


async def test_names_of_one_language_are_held_to_it_by_the_query(thesaurus):
    record = await kgqa.aask("What is Writing called in French?", kg=thesaurus, model="offline")
    assert record["query"] and 'FILTER(LANGMATCHES(LANG(?answer), "fr"))' in record["query"]
    found = await thesaurus.select(record["query"])
    assert [str(name) for (name,) in found.rows] == ["Écriture"]


async def test_a_name_that_the_graph_lacks_is_no_answer(thesaurus):
    record = await kgqa.aask("What is Writing called in Swahili?", kg=thesaurus, model="offline")
    assert not record["answers"]


async def test_a_name_of_what_the_graph_lacks_is_not_proved(thesaurus):
    record = await kgqa.aask("What is Creating called in French?", kg=thesaurus, model="offline")
    assert record["outcome"] != "grounded"


async def test_a_question_that_asks_for_no_name_is_about_the_thing(thesaurus):
    (mention,) = await thesaurus.link("What is broader than Übersetzen?")
    assert mention.matches[0].entity.id == "http://x/translating"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("What is called?", ["pref label (called)", "alt label (called)"]),
        ("Which has the alternative label?", ["alt label (alternative label)"]),
        ("What is known as?", ["alt label (known as)"]),
        ("What is the Spanish name of?", ["pref label in Spanish (name)", "alt label in Spanish (name)"]),
        ("What is it in Spanish?", ["pref label in Spanish", "alt label in Spanish"]),
        ("What is known for?", []),
        ("Who is named after?", []),
        ("What is the capital called?", []),
        ("What is the name in Spanish and French?", []),
        ("What is?", []),
        ("", []),
    ],
)
def test_only_words_for_names_say_a_name(text, said):
    hops = said_names(
        text, [Hop("http://x/prefLabel", name="pref label")], [Hop("http://x/altLabel", name="alt label")]
    )
    assert [hop.name for hop in hops if hop.forward] == said
