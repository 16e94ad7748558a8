"""Which relations a simulated model picks for a whole frontier, rightly and wrongly."""

import pytest

from kgqa.kg.terms import Chain
from kgqa.tests.support.frontier import picking
from kgqa.tests.unit.evaluation.simulation.exploring import of_two_topics, offers
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, only, question

ANN, GERMANY = chain("ann"), chain("de")
ABOUT = question("bonn", "mother born_in")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def picked(family, *frontier: Chain, about=ABOUT, **errors: float) -> list[str]:
    offered = await offers(family, *frontier)
    reply = await Interview(about, family, **errors).ask(picking("?", offered))
    return [str(offered[number - 1]) for number in reply.relations]


async def test_from_each_chain_the_relation_that_leads_on_is_picked(family) -> None:
    about = of_two_topics("eve")
    assert await picked(family, ANN, GERMANY, about=about) == ["Ann -parent->", "De <-country-"]
    assert await picked(family, ANN, chain("de", "^country"), about=about) == [
        "Ann -parent->",
        "De <-country- <-born_in-",
    ]


async def test_a_chain_at_the_end_of_a_way_and_one_that_leads_astray_need_none(family) -> None:
    assert await picked(family, chain("ann", "mother born_in"), chain("ann", "friend")) == []
    assert await picked(family, chain("ann", "parent"), GERMANY, about=of_two_topics("eve")) == [
        "De <-country-"
    ]


async def test_one_that_leads_the_same_way_takes_the_place_of_what_is_not_offered(family) -> None:
    offered = [each for each in await offers(family, ANN) if each != chain("ann", "mother")]
    reply = await Interview(ABOUT, family).ask(picking("?", tuple(offered)))
    assert [offered[number - 1] for number in reply.relations] == [chain("ann", "^child")]


async def test_from_a_chain_that_is_held_only_what_leads_to_gold_is_picked(family) -> None:
    about = question("bonn", "parent born_in")
    eve, max_ = only(chain("ann", "parent"), "eve"), only(chain("ann", "parent"), "max")
    assert await picked(family, eve, about=about) == ["Ann -parent-> (only Eve) -born_in->"]
    assert await picked(family, max_, about=about) == []


async def test_a_wrong_choice_is_one_relation_and_recalls_the_right_one_or_not(family) -> None:
    for seed in range(10):
        lost = await picked(family, ANN, accuracy=0, recall=0, seed=seed)
        assert len(lost) == 1
        assert not {"Ann -mother->", "Ann <-child-"} & set(lost)
        kept = await picked(family, ANN, accuracy=0, recall=1, seed=seed)
        assert kept == [*lost, "Ann -mother->"]


async def test_the_choice_from_each_chain_errs_by_itself(family) -> None:
    rightly = set()
    for seed in range(40):
        picks = await picked(
            family, ANN, GERMANY, about=of_two_topics("eve"), accuracy=0.5, recall=0, seed=seed
        )
        assert [pick.split()[0] for pick in picks] in (["Ann", "De"], ["Ann"])  # Germany has one relation
        rightly.add("Ann -parent->" in picks)
    assert rightly == {True, False}


async def test_where_nothing_leads_on_an_error_picks_one(family) -> None:
    assert len(await picked(family, chain("ann", "friend"), accuracy=0)) == 1


async def test_the_only_relation_cannot_be_mistaken_where_it_is_right(family) -> None:
    assert await picked(family, GERMANY, about=of_two_topics("eve"), accuracy=0) == ["De <-country-"]
