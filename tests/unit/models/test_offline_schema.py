"""Questions about the schema of a graph, asked offline."""

import pytest
import rdflib

import kgqa
from kgqa.kg.dialects import OWL, RDFS

SHOP = f"""
@prefix : <http://x/> . @prefix owl: <{OWL}> . @prefix rdfs: <{RDFS}> .
:Product a owl:Class ; rdfs:label "Product"@en ; rdfs:comment "Anything that is sold."@en .
:Tool a owl:Class ; rdfs:label "Tool"@en ; rdfs:subClassOf :Product .
:PriceList a owl:Class .
:Supplier a owl:Class ; rdfs:label "Supplier"@en .
:price a owl:DatatypeProperty ; rdfs:label "price"@en ; rdfs:domain :Product .
:madeBy a owl:ObjectProperty ; rdfs:label "made by"@en .
:saw a :Tool ; rdfs:label "Blue saw" ; :price 12 ; :madeBy :ann .
:axe a :Tool ; rdfs:label "Long axe" ; :price 15 ; :madeBy :ann , :ben .
:rope a :Product ; rdfs:label "Rope" ; :price 3 ; :length 9 .
:ann a :Supplier ; rdfs:label "Ann Miller" ; :town "Ulm" ; :name "Miller Ltd" .
:ben a :Supplier ; rdfs:label "Ben Stone" ; :town "Bonn" ; :name "Stone & Sons" .
:list a :PriceList ; rdfs:label "Winter list" ; :year 2020 .
"""


def open_shop(tmp_path_factory, facts=""):
    path = tmp_path_factory.mktemp("shop") / "shop.ttl"
    path.write_text(SHOP + facts, encoding="utf-8")
    return kgqa.open_graph([path])


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return open_shop(tmp_path_factory)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which properties does a supplier have?", {"town", "name"}),
        ("List the properties of tools.", {"price", "made by"}),
        ("How many properties does a product have?", {"3"}),
        ("What classes are there?", {"Product", "Tool", "Price List", "Supplier"}),
        ("How many classes are there?", {"4"}),
        ("What properties are there?", {"price", "made by", "length", "town", "name", "year"}),
        ("Which classes have a price?", {"Product", "Tool"}),
        ("What is a product?", {"Anything that is sold."}),
    ],
)
async def test_a_question_about_the_schema_is_answered_by_what_members_have(shop, question, answers):
    record = await kgqa.aask(question, kg=shop, model="offline")
    assert {each["name"] for each in record["answers"]} == answers
    assert record["outcome"] == "grounded"


async def test_the_query_of_a_schema_question_is_plain_sparql(shop):
    record = await kgqa.aask("Which classes have a price?", kg=shop, model="offline")
    found = rdflib.Graph().parse(data=SHOP, format="turtle").query(record["query"])
    assert {str(row[0]) for row in found} == {"http://x/Product", "http://x/Tool"}


async def test_what_a_class_is_has_no_answer_where_nothing_is_said_of_it(shop):
    record = await kgqa.aask("What is a supplier?", kg=shop, model="offline")
    assert (record["answers"], record["outcome"]) == ([], "none")


@pytest.mark.parametrize(
    "question",
    [
        "What does a supplier connect?",
        "Which properties are expensive?",
    ],
)
async def test_what_says_more_than_the_schema_has_is_not_grounded(shop, question):
    record = await kgqa.aask(question, kg=shop, model="offline")
    assert record["outcome"] != "grounded"


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which suppliers are there?", {"Ann Miller", "Ben Stone"}),
        ("Which tools did Ben Stone make?", {"Long axe"}),
    ],
)
async def test_a_question_for_members_is_about_members(shop, question, answers):
    record = await kgqa.aask(question, kg=shop, model="offline")
    assert {each["name"] for each in record["answers"]} == answers


async def test_classes_of_that_name_are_the_graphs_own(tmp_path_factory):
    own = ':Class a owl:Class ; rdfs:label "class" . :yoga a :Class ; rdfs:label "Morning yoga" .'
    record = await kgqa.aask("Which classes are there?", kg=open_shop(tmp_path_factory, own), model="offline")
    assert [each["name"] for each in record["answers"]] == ["Morning yoga"]


async def test_classes_that_somebody_attends_are_no_classes_of_the_graph(shop):
    record = await kgqa.aask("Which classes does Ann Miller attend?", kg=shop, model="offline")
    assert [each["name"] for each in record["topics"]] == ["Ann Miller"]


async def test_a_class_that_is_only_used_is_not_what_its_members_are(tmp_path_factory):
    used = ':ann a <http://y/Agent> . <http://y/Agent> rdfs:label "Agent" .'
    record = await kgqa.aask("What is an agent?", kg=open_shop(tmp_path_factory, used), model="offline")
    assert record["outcome"] != "grounded"
