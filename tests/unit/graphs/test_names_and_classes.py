"""Offline: names that nodes lack or share with classes, classes above classes, descriptions, languages."""

from collections.abc import Callable

import pytest

import kgqa
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.tests.support.doubles import shown

Open = Callable[[str], SparqlGraph]

MILLS = """
e:a a e:Mill ; rdfs:label "Upper Mill" ; r:floors 4 ; r:owner e:club .
e:b a e:Mill ; rdfs:label "Old Stone Mill" ; r:floors 2 ; r:owner e:mills .
e:c a e:Mill ; rdfs:label "Ridge House" ; r:floors 3 ; r:owner e:mills .
e:club a e:Owner ; rdfs:label "Summit Club" . e:mills a e:Owner ; rdfs:label "Bayer Mills" .
"""

FLEET = """
e:Vehicle rdfs:label "vehicle" . e:Truck rdfs:subClassOf e:Vehicle ; rdfs:label "truck" .
e:Van rdfs:subClassOf e:Truck ; rdfs:label "van" . e:Boat rdfs:label "boat" .
e:rex a e:Truck ; rdfs:label "Rex" ; r:parked_in e:north .
e:milo a e:Van ; rdfs:label "Milo" ; r:parked_in e:north .
e:zed a e:Vehicle ; rdfs:label "Zed" ; r:parked_in e:north .
e:luna a e:Boat ; rdfs:label "Luna" ; r:parked_in e:north .
e:north a e:Yard ; rdfs:label "North Yard" .
"""

SCREENS = """
e:HomePage a e:Screen ; r:renders e:NavBar . e:HomePageContainer a e:Screen ; r:renders e:SideRail .
e:LoginPage a e:Screen ; r:renders e:NameField .
"""

CLUBS = """
e:Paula_Stein a e:Person ; r:coaches e:Riverside_Club . e:Omar_Haddad a e:Person ; r:coaches e:Hill_Club .
e:Riverside_Club a e:Club . e:Hill_Club a e:Club .
"""

PEOPLE = """
e:a rdfs:label "Marta Prado" ; r:mentor e:b . e:b rdfs:label "Hugo Lang" ; r:mentor e:c .
e:c rdfs:label "Olga Brandt" .
"""


async def ask(question: str, graph: SparqlGraph) -> kgqa.Record:
    return await kgqa.aask(question, kg=graph, model="offline")


@pytest.mark.parametrize(
    ("text", "question", "answers"),
    [
        (MILLS, "Which mill has the fewest floors?", ["Old Stone Mill"]),
        (MILLS, "How many mills are there?", ["3"]),
        (FLEET, "Which trucks are parked in North Yard?", ["Milo", "Rex"]),
        (FLEET, "Which vehicles are parked in North Yard?", ["Milo", "Rex", "Zed"]),
        (FLEET, "How many vehicles are there?", ["3"]),
        (SCREENS, "What does the home page render?", ["NavBar"]),
        (CLUBS, "Who coaches Hill Club?", ["Omar Haddad"]),
        (CLUBS + 'e:Hill_Club rdfs:label "Hill" .', "Whom does Paula Stein coach?", ["Riverside Club"]),
        (CLUBS + 'e:Person rdfs:label "person" .', "Whom does Omar Haddad coach?", ["Hill Club"]),
    ],
)
async def test_what_is_meant_is_answered(graph: Open, text: str, question: str, answers: list[str]) -> None:
    record = await ask(question, graph(text))
    assert (sorted(shown(record)), record["outcome"][:8]) == (answers, "grounded")


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Who is the mentor of Marta B Prado?", "b"),
        ("Who is the mentor of Marta B. Prado?", "b"),
        ("Who is the mentor of Hugo T Lang?", "t"),
        ("Who is the mentor of Marta Maria Prado?", "maria"),
    ],
)
async def test_what_makes_another_name_is_said_to_be_unread(graph: Open, question: str, word: str) -> None:
    record = await ask(question, graph(PEOPLE))
    assert record["outcome"] != "grounded"
    assert word in " ".join(each["words"] for each in record["conditions"] if each["by"] is None).split()


async def test_without_it_the_name_is_read(graph: Open) -> None:
    record = await ask("Who is the mentor of Marta Prado?", graph(PEOPLE))
    assert (shown(record), record["outcome"]) == (["Hugo Lang"], "grounded")


@pytest.mark.parametrize(
    "relation",
    [
        "http://www.w3.org/2000/01/rdf-schema#comment",
        "http://www.w3.org/2004/02/skos/core#definition",
        "http://schema.org/description",
    ],
)
async def test_what_something_is_is_its_description(graph: Open, relation: str) -> None:
    store = graph(
        f'e:net rdfs:label "Petri net" ; <{relation}> "A model of concurrent systems." ; r:related e:graph .'
        'e:graph rdfs:label "Spectral graph" ; r:related e:net .'
    )
    assert shown(await ask("What is a Petri net?", store)) == ["A model of concurrent systems."]


async def test_a_topic_is_not_its_own_answer_in_other_languages(graph: Open) -> None:
    own = graph('e:a rdfs:label "王芳"@zh ; r:post "局长"@zh ; r:born e:b . e:b rdfs:label "北京"@zh .'
        'r:post rdfs:label "职务"@zh . r:born rdfs:label "出生地"@zh .')  # fmt: skip
    assert shown(await ask("王芳的职务是什么？", own)) == ["局长"]
    other = graph('e:a rdfs:label "王芳" ; r:unit e:u . e:u rdfs:label "财政局" ; r:head e:a .')
    assert shown(await ask("王芳的职务是什么？", other)) == []
    german = graph(
        'e:a rdfs:label "Karl Weber" ; r:Posten "Kämmerer" ; r:unit e:u . e:u rdfs:label "Stadt Ulm" .'
    )
    assert shown(await ask("Welchen Posten hat Karl Weber?", german)) == ["Kämmerer"]


@pytest.mark.parametrize("asked", ["Is Acme in Ulm?", "Was Tom Fisher born in the city of Ulm?"])
async def test_a_class_beside_two_things_is_what_one_of_them_is(graph: Open, asked: str) -> None:
    record = await ask(
        asked,
        graph("""
        e:Company rdfs:label "company" . e:City rdfs:label "city" . e:Person rdfs:label "person" .
        e:acme a e:Company ; rdfs:label "Acme" ; r:in e:ulm . e:ulm a e:City ; rdfs:label "Ulm" .
        e:tom a e:Person ; rdfs:label "Tom Fisher" ; r:born_in e:ulm .
        """),
    )
    assert (shown(record), record["outcome"]) == (["yes"], "grounded")


@pytest.mark.parametrize(("kind", "answers"), [("", ["Tyrol"]), ("a e:Lake ;", ["Carinthia"])])
async def test_classes_tell_the_kind_of_answers_unless_few_nodes_have_one(
    graph: Open, kind: str, answers: list[str]
) -> None:
    others = "".join(f'e:n{n} {kind} rdfs:label "Mere {n}" ; r:beside e:n{n + 1} .' for n in range(9))
    store = graph(
        others + 'e:Country rdfs:label "country" . e:c a e:Country ; rdfs:label "Carinthia" ; r:beside e:n1 .'
        'e:t rdfs:label "Tyrol" . e:s rdfs:label "Styria" ; r:borders e:t ; r:exports_to e:c .'
    )
    assert shown(await ask("Which countries does Styria border?", store)) == answers


async def test_the_word_of_a_class_names_a_relation_where_no_other_does(graph: Open) -> None:
    people = "".join(
        f'e:p{n} a e:Member ; rdfs:label "{name}" .' for n, name in enumerate(("Ida", "Max", "Olga"))
    )
    store = graph(
        f'e:Member rdfs:label "member" . {people}'
        'e:u rdfs:label "Golf Union" ; r:auditor e:p0 ; r:member e:p1 ; r:treasurer e:p2 .'
    )
    record = await ask("Which members does the Golf Union have?", store)
    assert (shown(record), record["outcome"]) == (["Max"], "grounded")
