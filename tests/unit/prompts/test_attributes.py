"""What the graph knows of candidates, as prompts show it; and the conditions that replies make of it."""

from dataclasses import replace
from typing import Any

import pytest

from kgqa.kg.proof.query import Aggregate, Condition
from kgqa.kg.terms import Entity, Hop, Literal
from kgqa.prompts.apply_conditions import ApplyConditions, StatedConditions
from kgqa.prompts.attributes import Attribute, KnownAttributes, Mention, is_said
from kgqa.tests.unit.prompts.samples import attribute, chain, dates, ends, hop

CHAIN = chain("Dolphins", "roster", "player")
PLAYERS = ends("Ann", "Ben", "Cy")
ANN, BEN, CY = (each.term for each in PLAYERS)
STAR = Entity("http://x/type/star")
SPRINGFIELDS = (Entity("http://x/1", "Springfield"), Entity("http://x/2", "Springfield"))
KNOWN = KnownAttributes(
    CHAIN,
    (
        attribute(1, "number", PLAYERS, Literal("22"), Literal("7"), Literal("7")),
        attribute(2, "born", PLAYERS, *dates("1961-05-03", "1961-06-01"), Literal("1970")),
        attribute(2, "school at", PLAYERS, "Bonn", "Ulm"),
        attribute(2, "motto", PLAYERS, Literal("Run."), Literal("22")),
        attribute(1, "", PLAYERS, "Squad"),
    ),
    ((ANN, STAR), (BEN, Entity("http://x/type/person", "Person")), (CY, STAR)),
    (Mention("22", (Literal("22"),), ((0, ANN), (3, BEN))), Mention("Palmas")),
)
PROMPT = ApplyConditions("Who has number 22?", CHAIN, PLAYERS, KNOWN)


def test_attributes_stand_under_letters_and_their_values_beside_candidates() -> None:
    assert PROMPT.case().splitlines()[1:] == [
        'Chain: "Dolphins" -roster-> ?1 -player-> ?2',
        "Attributes:",
        'A. ?1 -number-> "22", "7" (3 candidates)',
        'B. ?2 -born-> "1961-05-03", "1961-06-01", "1970" (3 candidates)',
        'C. ?2 -school-> ? -at-> "Bonn", "Ulm" (2 candidates)',
        'D. ?2 -motto-> "Run.", "22" (2 candidates)',
        'E. ?1 itself: "Squad" (1 candidate)',
        'Types: "star" (2 candidates), "Person" (1 candidate)',
        'Found near the candidates: "22": A of "Ann", D of "Ben"',
        'Not found near the candidates: "Palmas"',
        "Candidates (3):",
        '1. "Ann" ("star"; A "22"; B "1961-05-03"; C "Bonn"; D "Run."; E "Squad")',
        '2. "Ben" ("Person"; A "7"; B "1961-06-01"; C "Ulm"; D "22")',
        '3. "Cy" ("star"; A "7"; B "1970")',
        "Reply:",
    ]


def test_of_many_values_some_are_shown_and_what_was_not_looked_at_is_said() -> None:
    many = ends(*(f"N{number}" for number in range(9)))
    values = [Literal(str(number)) for number in range(9)]
    known = KnownAttributes(CHAIN, (attribute(2, "size", many, *values),), cut=True)
    assert list(known.draw()) == [
        "Attributes (of some candidates, there are more):",
        'A. ?2 -size-> "0", "1", "2", "3", 5 more (9 candidates)',
    ]
    assert list(KnownAttributes(CHAIN).draw()) == ["Attributes: none"]


def test_a_name_of_several_values_is_no_value() -> None:
    towns = KnownAttributes(
        CHAIN, (Attribute(2, (hop("from"),), tuple(zip((ANN, BEN), SPRINGFIELDS, strict=True))),)
    )
    with pytest.raises(ValueError, match='several values of attribute A are called "Springfield"'):
        towns.condition("A", "=", "Springfield", "Who is from Springfield?")


def test_candidates_that_look_the_same_are_told_apart() -> None:
    twins = ends("Siege of Dunkirk", "Siege of Dunkirk", "Siege of Bonn")
    lines = ApplyConditions("Which?", CHAIN, twins, KnownAttributes(CHAIN)).case().splitlines()[-4:-1]
    assert lines == ['1. "Siege of Dunkirk" <0>', '2. "Siege of Dunkirk" <1>', '3. "Siege of Bonn"']


SCHOOL = (hop("school"), hop("at"))


@pytest.mark.parametrize(
    ("stated", "condition"),
    [
        ("A = 22", Condition(1, (hop("number"),), "=", Literal("22"), "number = 22")),
        ("A > 1,000", Condition(1, (hop("number"),), ">", Literal("1000"), "number > 1,000")),
        ("B < 1962", Condition(2, (hop("born"),), "<", *dates("1962"), "born < 1962")),
        ("B year 1961", Condition(2, (hop("born"),), "year", Literal("1961"), "born year 1961")),
        ("C = ulm", Condition(2, SCHOOL, "=", Entity("http://x/Ulm"), "school at = ulm", remembered=True)),
        (
            "D contains un",
            Condition(2, (hop("motto"),), "contains", Literal("un"), "motto contains un", remembered=True),
        ),
        ("C exists ", Condition(2, SCHOOL, "exists", None, "school at exists")),
        ("E = Squad", Condition(1, (), "=", Entity("http://x/Squad"), "= Squad")),
        (" type Star", Condition(2, (), "type", STAR, "is a Star")),
    ],
)
def test_a_reply_states_what_the_graph_can_check(stated: str, condition: Condition) -> None:
    letter, operator, text = stated.split(" ", 2)
    assert PROMPT.conditions(reply(letter, operator, text)) == (condition,)


def reply(letter: str, operator: str, text: str, **beside: Any) -> StatedConditions:
    stated = {"attribute": letter, "operator": operator, "value": text}
    return StatedConditions.model_validate({"conditions": [stated], **beside})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (StatedConditions(chosen=[4]), "candidate 4 was not offered"),
        (reply("F", "=", "1"), 'attribute "F" was not offered; choose from A to E'),
        (reply("", "=", "1"), 'attribute "" was not offered'),
        (reply("C", "=", "Rome"), 'no value of attribute C is called "Rome"'),
        (reply("A", "=", "many"), 'attribute A has numbers, and "many" is none'),
        (reply("C", "<", "Ulm"), '"<" goes with'),
        (reply("", "type", "City"), 'no type is called "City"'),
        (reply("E", "exists", ""), "without an attribute"),
        (StatedConditions(extreme="largest", by="D"), "attribute D has neither numbers nor dates"),
        (StatedConditions(extreme="largest", by="A", count=True), '"count" goes without'),
        (
            StatedConditions(conditions=[reply("A", "=", str(n)).conditions[0] for n in range(9)]),
            "no more than 8",
        ),
    ],
)
def test_what_the_graph_cannot_check_is_refused(said: StatedConditions, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        PROMPT.check(said)


def test_extremes_are_of_attributes_or_of_the_candidates_themselves() -> None:
    assert KNOWN.extreme("A", "largest") == Aggregate("argmax", (Hop("http://x/number"),), 1)
    assert KNOWN.extreme("B", "smallest") == Aggregate("argmin", (Hop("http://x/born"),), 2, "date")
    sizes = ends("a", "b")
    own = replace(attribute(2, "", sizes, Literal("3"), Literal("5")))
    assert KnownAttributes(CHAIN, (own,)).extreme("A", "second largest") == Aggregate("max", rank=2)


def test_all_none_and_what_is_missing_are_said_and_nothing_is_no_reply() -> None:
    for said in ({"fits": "all"}, {"fits": "none"}, {"missing": "height"}, {"count": True}):
        PROMPT.check(PROMPT.reply.model_validate(said))
    with pytest.raises(ValueError, match="say which"):
        PROMPT.check(PROMPT.reply(rationale="none"))
    with pytest.raises(ValueError, match='with "fits": "all" leave conditions'):
        PROMPT.check(StatedConditions(fits="all", chosen=[1]))


def test_what_is_missing_is_looked_for_once() -> None:
    missing = PROMPT.reply(missing="height")
    assert PROMPT.can_look_for(missing) and not PROMPT.can_look_for(PROMPT.reply(fits="all"))
    final = replace(PROMPT, looked_for="height")
    assert not final.can_look_for(missing)
    said = 'Looked for: "height"; the nearest of what was not shown is shown now. Nothing more is looked for.'
    assert said in final.case().splitlines() and "Looked for" not in PROMPT.case()


NAMED = replace(KNOWN, listed=(attribute(2, "label", PLAYERS, *map(Literal, ("Ann", "Ben", "Cy"))),))


def test_a_name_is_an_attribute_that_is_compared_with_words_of_the_question() -> None:
    prompt = ApplyConditions("Who has Be in the name?", CHAIN, PLAYERS, NAMED)
    assert "A. ?2 -label-> its name" in prompt.case().splitlines()
    assert '2. "Ben" ("Person")' in prompt.case().splitlines()
    condition = Condition(2, (hop("label"),), "contains", Literal("be"), "label contains be")
    assert prompt.conditions(reply("A", "contains", "be")) == (condition,)
    for unsaid in ("Ann", "am"):
        with pytest.raises(ValueError, match=f'the question does not say "{unsaid}"'):
            prompt.check(reply("A", "contains", unsaid))


PLAYED = (Entity(f"http://x/{name[:3]}", name) for name in ("Lex Luthor", "Lena Luthor", "Clark Kent"))
CAST = Attribute(1, (hop("character"),), tuple(zip((ANN, BEN, CY), PLAYED, strict=True)))


def test_a_part_of_the_name_of_a_value_is_a_condition() -> None:
    known = replace(NAMED, listed=(CAST, *NAMED.listed))
    prompt = ApplyConditions("Who played a Luthor?", CHAIN, PLAYERS, known)
    named = (hop("character"), hop("label"))
    condition = Condition(1, named, "contains", Literal("Luthor"), "character name contains Luthor")
    assert prompt.conditions(reply("A", "contains", "Luthor")) == (condition,)


def test_where_no_relation_leads_to_names_the_only_one_with_the_part_is_meant() -> None:
    prompt = replace(PROMPT, question="Who played Kent?", known=replace(KNOWN, listed=(CAST,)))
    [condition] = prompt.conditions(reply("A", "contains", "kent"))
    assert (condition.operator, str(condition.value)) == ("=", "Clark Kent")
    with pytest.raises(ValueError, match='2 values of attribute A have "Luthor" in their names; name one'):
        prompt.check(reply("A", "contains", "Luthor"))


def test_what_is_not_known_of_a_candidate_may_be_let_pass() -> None:
    stated = {"attribute": "A", "operator": "<", "value": "9", "unknown": True}
    [condition] = PROMPT.conditions(StatedConditions.model_validate({"conditions": [stated]}))
    assert (condition.unknown, condition.remembered, condition.words) == (True, True, "number < 9, if known")
    [condition] = PROMPT.conditions(
        StatedConditions.model_validate({"conditions": [stated | {"operator": "exists", "value": ""}]})
    )
    assert not condition.unknown


def test_a_day_is_shown_without_midnight() -> None:
    day = Literal("1899-01-01T00:00:00Z", "http://www.w3.org/2001/XMLSchema#dateTime")
    known = replace(KNOWN, listed=(attribute(2, "born", PLAYERS, day),))
    prompt = ApplyConditions("Who?", CHAIN, PLAYERS, known)
    assert 'A. ?2 -born-> "1899-01-01" (1 candidate)' in prompt.case().splitlines()
    [condition] = prompt.conditions(reply("A", "=", "1899-01-01"))
    assert condition.value == dates("1899-01-01")[0]


def test_types_of_the_same_candidates_are_one_the_named_if_any() -> None:
    twins = (*KNOWN.types, *((each, Entity("http://x/type/s", "Star player")) for each in (ANN, CY)))
    assert [*replace(KNOWN, types=twins).kinds] == ["Star player", "Person"]


def test_conditions_that_hold_already_are_shown() -> None:
    applied = (Condition(2, (hop("from"),), "=", Entity("http://x/Ulm", "Ulm")),)
    lines = replace(PROMPT, applied=applied).case().splitlines()
    assert lines[2] == 'All candidates meet: ?2 -from-> "Ulm"'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Family Guy", True),
        ("Family Guy - Season 1", True),  # in another order
        ("Family Guy - Season 2", False),
        ("Gu", False),
    ],
)
def test_a_name_is_said_in_whole_words(text: str, said: bool) -> None:
    assert is_said("Who played Meg in season 1 of family guy?", text) == said
