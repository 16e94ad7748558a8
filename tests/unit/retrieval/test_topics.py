"""rank_meanings: of what a mention may stand for, the one whose relations say the question comes first."""

import asyncio

import pytest

from kgqa.kg.pages import Match, Mention
from kgqa.kg.terms import Entity, Hop, Literal, value_node
from kgqa.retrieval.topics import MAX_MEANINGS, rank_meanings
from kgqa.tests.conftest import MEMO


async def encode(texts):
    return MEMO.encode(list(texts))


def mention(question: str, text: str, *matches: Match) -> Mention:
    start = question.index(text)
    return Mention(text, start, start + len(text), matches)


def match(name: str, *relations: str, how: str = "exact") -> Match:
    hops = tuple(Hop(f"http://x/{relation}") for relation in relations)
    return Match(Entity(f"http://x/{name.replace(' ', '_')}", name), 1.0, how, hops)


CITY = match("the city", "people.place_lived.location", "location.location.containedby")
FILM = match("the film", "film.film.directed_by", "film.film.release_date")


@pytest.mark.parametrize(
    ("question", "expected"),
    [("who directed Chicago?", "the film"), ("which location is Chicago contained by?", "the city")],
)
@pytest.mark.parametrize("order", [(CITY, FILM), (FILM, CITY)])
async def test_what_says_the_question_is_meant(question, expected, order) -> None:
    [found] = await rank_meanings(question, [mention(question, "Chicago", *order)], encode)
    assert found.matches[0].entity.name == expected


async def test_a_name_in_full_comes_before_a_longer_one_that_says_as_much() -> None:
    whole, longer = match("Chile", "plays_for"), match("Universidad de Chile", "plays_for", how="part")
    question = "who plays for Chile?"
    [found] = await rank_meanings(question, [mention(question, "Chile", whole, longer)], encode)
    assert found.matches[0] == whole


async def test_one_meaning_needs_no_encoder_and_many_are_cut() -> None:
    async def fail(texts):
        raise AssertionError(texts)

    question = "who knows Ann?"
    clear = mention(question, "Ann", match("Ann", "knows"))
    assert await rank_meanings(question, [clear], fail) == [clear]
    many = mention(question, "Ann", *(match(f"Ann {place}", "knows") for place in range(30)))
    [found] = await rank_meanings(question, [many], encode)
    assert found.matches[0].entity.name == "Ann 0"
    assert len(found.matches) <= MAX_MEANINGS


async def test_what_says_less_of_the_question_is_no_other_meaning() -> None:
    question = "who directed Chicago?"
    [found] = await rank_meanings(question, [mention(question, "Chicago", FILM, CITY)], encode)
    assert found.matches == (FILM,)
    remake = match("the remake", "film.film.directed_by")
    [found] = await rank_meanings(question, [mention(question, "Chicago", FILM, CITY, remake)], encode)
    assert found.matches == (FILM, remake)


async def test_without_relations_the_first_is_meant() -> None:
    question = "who knows Ann?"
    [found] = await rank_meanings(
        question, [mention(question, "Ann", match("Ann 1"), match("Ann 2"))], encode
    )
    assert [each.entity.name for each in found.matches] == ["Ann 1"]


def test_it_is_the_same_each_time() -> None:
    question = "who directed Chicago?"
    asked = [mention(question, "Chicago", CITY, FILM)]
    assert asyncio.run(rank_meanings(question, asked, encode)) == asyncio.run(
        rank_meanings(question, asked, encode)
    )


@pytest.mark.parametrize("how", ["exact", "part"])
async def test_a_value_and_an_entity_of_one_name_may_both_be_meant(how: str) -> None:
    own = Hop("http://x/region"), Hop("http://x/territory", False)
    others = Hop("http://x/city", False), Hop("http://x/ship_city", False)
    entity = Match(Entity("http://x/s", "Seattle"), 1.0, "exact", own)
    value = Match(value_node(Literal("Seattle")), 1.0, how, others)
    question = "Who is responsible for Seattle?"
    [found] = await rank_meanings(question, [mention(question, "Seattle", entity, value)], encode)
    assert found.matches == ((entity, value) if how == "exact" else (entity,))
