"""Words that ask for more than a chain says are conditions that nobody has checked."""

import pytest

import kgqa
from kgqa.kg.opening import open_graph
from kgqa.kg.proof.query import Aggregate, AnswerQuery, Branch, Condition, Pick
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.nodes.modifiers import unused_modifiers
from kgqa.tests.support.doubles import FAMILY, children

ADA = Entity("http://t/e/ada", "Ada")
FILM = Entity("http://t/e/film", "The Last King of Scotland")
CHILDREN = [Entity("http://t/e/ben", "Ben"), Entity("http://t/e/cleo", "Cleo")]
AGE, CHILD = Hop("http://t/r/age"), Hop("http://t/r/child")


def query(*conditions: Condition, hop: Hop = CHILD, aggregate: Aggregate | None = None) -> AnswerQuery:
    return AnswerQuery((Branch(Chain(ADA, (hop,)), (1,)),), 1, conditions, aggregate)


@pytest.mark.parametrize(
    ("question", "modifiers"),
    [
        ("Who was Ada's first child?", ["first"]),
        ("Who is Ada's most recent child?", ["most recent"]),
        ("Which child of Ada does not live in Ulm?", ["not"]),
        ("Which of Ada's children didn't marry?", ["n't"]),
        ("Which children of Ada are older than ten?", ["older than ten"]),
        ("Which children of Ada have at least 2 dogs?", ["at least 2"]),
        ("Which child did Ada have in 1961?", ["1961"]),
        ("Which children of Ada worked from 1990 to 2004?", ["1990", "2004", "from 1990 to 2004"]),
        ("Which children of Ada own between 1,000 and 2,500.5 shares?", ["between 1,000 and 2,500.5"]),
        ("What is the first name of Ada's child?", []),
        ("At last, who is a child of Ada?", []),
        ("Who are the children of Ada?", []),
        ("How many children does Ada have?", []),
        ("Who was Ada's second child?", ["second"]),
        ("Which of Ada's children is the tallest?", ["tallest"]),
        ("Which child of Ada has the most friends?", ["most"]),
        ("Which child of Ada lives closest to her?", ["closest"]),
        ("Which children of Ada currently live in Ulm?", ["currently"]),
        ("Who are the former husbands of Ada?", ["former"]),
        ("Which children of Ada are older than Ben?", ["older than"]),
        ("Which children of Ada weigh over 80 kilograms?", ["over 80"]),
        ("Which children of Ada have three or more dogs?", ["three or more"]),
        ("Which children of Ada lived below 2,000 metres?", ["below 2,000"]),
        ("Which children did Ada have in the 1960s?", ["1960s"]),
        ("Which children of Ada lived in the 19th century?", ["19th century"]),
        ("Which children of Ada married last year?", ["last year"]),
        ("Which children of Ada have no dog?", ["have no"]),
        ("Who are Ada's children other than Ben?", ["other than"]),
        ("which child of ada wasnt born in ulm?", ["wasnt"]),
        ("Which children of Ada live outside Ulm, excluding Ben?", ["excluding"]),
        ("WHO WAS THE FIRST CHILD OF ADA?", ["first"]),
        ("At least, who is a child of Ada?", []),
        ("Which children of Ada live next to her?", []),
        ("Which children of Ada earn 100 a second?", []),
        ("How long did the marriages of Ada last for?", []),
        ("Most of all, who are the children of Ada?", []),
        ("Which children of Ada are known in most of Ulm?", []),
        ("Which children of Ada live at 1 Second Avenue?", []),
        ('Which child of Ada said "I am not the first"?', []),
    ],
)
def test_modifiers_are_told_by_their_words(question: str, modifiers: list[str]) -> None:
    assert unused_modifiers(query(), CHILDREN, question, [ADA]) == modifiers


@pytest.mark.parametrize(
    ("question", "used"),
    [
        ("Who was Ada's first child?", query(aggregate=Aggregate("argmin", (AGE,)))),
        ("Who was Ada's first child?", query(hop=Hop("http://t/r/first_child"))),
        ("Which child of Ada is not ten?", query(Condition(1, (AGE,), "!=", Literal("10")))),
        ("Which child of Ada is not Ben's?", query(Condition(1, (CHILD.inverse,), "!=", CHILDREN[0]))),
        ("Which children of Ada are older than ten?", query(Condition(1, (AGE,), ">", Literal("10")))),
        ("Which child did Ada have in 1961?", query(Condition(1, (AGE,), "year", Literal("1961")))),
        ("Who was Ada's first child?", query(hop=Hop("http://t/r/firstChild"))),
        ("Who was Ada's second child?", query(Condition(1, (AGE,), "=", Literal("2")))),
        ("Which of Ada's children is the tallest?", query(aggregate=Aggregate("argmax", (AGE,)))),
        ("Which child of Ada is not yet ten?", query(Condition(1, (AGE,), "<", Literal("10")))),
        ("Which values of Ada are more than ten?", query(Condition(1, (), ">", Literal("10")))),
        ("Who is Ada's last child?", AnswerQuery(query().branches, 1, picked=(Pick(1, (ADA,), "the last"),))),
    ],
)
def test_what_a_query_applies_is_no_open_condition(question: str, used: AnswerQuery) -> None:
    assert unused_modifiers(used, CHILDREN, question, [ADA]) == []


@pytest.mark.parametrize(
    ("question", "used", "modifiers"),
    [
        ("Who was Ada's second tallest child?", query(aggregate=Aggregate("argmax", (AGE,))), ["second"]),
        ("Who was Ada's tallest child in 1961?", query(aggregate=Aggregate("argmax", (AGE,))), ["1961"]),
        ("How many children did Ada have in 1961?", query(aggregate=Aggregate("count")), ["1961"]),
        ("Which two children of Ada are the tallest?", query(aggregate=Aggregate("argmax", (AGE,))), ["two"]),
        ("What 3 children of Ada are tallest?", query(aggregate=Aggregate("argmax", (AGE,))), ["3"]),
        ("Which one child of Ada is the tallest?", query(aggregate=Aggregate("argmax", (AGE,))), []),
        ("Which four-legged child is tallest?", query(aggregate=Aggregate("argmax", (AGE,))), []),
        ("Which 100 children are tallest?", query(aggregate=Aggregate("argmax", (AGE,))), ["100"]),
        ("Which eleven children are tallest?", query(aggregate=Aggregate("argmax", (AGE,))), ["eleven"]),
        ("Which 3d portrait is tallest?", query(aggregate=Aggregate("argmax", (AGE,))), []),
        ("Which first lady is the tallest?", query(aggregate=Aggregate("argmax", (AGE,))), []),
        (
            "Which 19th century man is oldest?",
            query(aggregate=Aggregate("argmax", (AGE,))),
            ["19th century"],
        ),
        ("Which 1990s film is the longest?", query(aggregate=Aggregate("argmax", (AGE,))), ["1990s"]),
        ("Which 44 BC ruler is the oldest?", query(aggregate=Aggregate("argmax", (AGE,))), ["44 BC"]),
        ("What second language is the oldest?", query(aggregate=Aggregate("argmax", (AGE,))), []),
    ],
)
def test_what_is_computed_applies_its_own_modifier_alone(
    question: str, used: AnswerQuery, modifiers: list[str]
) -> None:
    assert unused_modifiers(used, CHILDREN[:1], question, [ADA]) == modifiers


def test_a_condition_on_a_year_applies_no_order() -> None:
    used = query(Condition(1, (AGE,), "year", Literal("1961")))
    assert unused_modifiers(used, CHILDREN, "Who was Ada's first child in 1961?", [ADA]) == ["first"]


def test_one_answer_has_no_order_but_a_year_is_to_be_applied() -> None:
    asked = "Who was Ada's first child in 1961?"
    assert unused_modifiers(query(), CHILDREN[:1], asked, [ADA]) == ["1961"]
    applied = query(Condition(1, (AGE,), "year", Literal("1961")))
    assert unused_modifiers(applied, CHILDREN[:1], asked, [ADA]) == []
    span = query(Condition(1, (AGE,), ">=", Literal("1960", "http://www.w3.org/2001/XMLSchema#gYear")))
    assert unused_modifiers(span, CHILDREN[:1], "Which child did Ada have in the 1960s?", [ADA]) == []
    assert unused_modifiers(query(), CHILDREN[:1], "Which child of Ada is not in Ulm?", [ADA]) == ["not"]


def test_names_hold_no_cues() -> None:
    assert unused_modifiers(query(), CHILDREN, "Who made the last king of scotland?", [FILM]) == []
    assert (
        unused_modifiers(
            query(), [Literal("2004 Games"), Literal("2004 Cup")], "Which games were in 2004?", [ADA]
        )
        == []
    )


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Who won the 2012 presidential election in Utopia?", "Utopian presidential election, 2012"),
        ("Who won the Utopian cup of 2008?", "2007–08 Utopian Cup"),
    ],
)
def test_a_year_of_a_topics_name_is_no_cue_wherever_it_stands(question: str, topic: str) -> None:
    assert unused_modifiers(query(), CHILDREN, question, [Entity("http://t/e/topic", topic)]) == []


async def test_an_answer_that_minds_no_cue_is_unverified(turtle) -> None:
    question = "Who is the first of Ada's children?"
    record = await kgqa.aask(
        question, topics=["Ada"], method="cor", kg=open_graph([turtle(FAMILY)]), model=children()
    )
    assert record["outcome"] == "grounded_unverified"
    assert record["conditions"] == [{"words": "first", "query": None, "by": None}]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("Which two lakes are the deepest?", ["Loch", "Mere"]),
        ("Which 2 lakes have the smallest depth?", ["Pond", "Tarn"]),
        ("Which lake is the deepest?", ["Loch"]),
    ],
)
async def test_as_many_are_found_as_are_asked_for(turtle, asked: str, found: list[str]) -> None:
    depths = {"Pond": 3, "Loch": 230, "Mere": 40, "Tarn": 25}
    lakes = (f'e:{name} a e:Lake ; rdfs:label "{name}" ; r:depth {n} .' for name, n in depths.items())
    record = await kgqa.aask(asked, kg=open_graph([turtle("\n".join(lakes))]), model="offline")
    assert (sorted(answer["name"] for answer in record["answers"]), record["outcome"]) == (found, "grounded")
