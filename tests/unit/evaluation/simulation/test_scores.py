"""What a simulated model scores for a beam, rightly and wrongly."""

import pytest

from kgqa.evaluation.question import GoldPath
from kgqa.evaluation.simulation.frontier_replies import BEST_SCORE, LEAST_SCORE
from kgqa.kg.terms import Chain
from kgqa.prompts.candidates import numbered_candidates
from kgqa.prompts.pick_relations import ScoreEntities
from kgqa.tests.support.frontier import scoring
from kgqa.tests.unit.evaluation.simulation.exploring import of_two_topics, offers, reached
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, named, only, question

ABOUT = question("bonn", "mother born_in")
ANN = chain("ann")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def relations(family, *beam: Chain, about=ABOUT, width: int = 3, **errors: float) -> dict[str, float]:
    offered = await offers(family, *beam)
    reply = await Interview(about, family, **errors).ask(scoring("?", offered, width))
    return {str(offered[each.number - 1]): each.score for each in reply.scores}


async def entities(family, *chains: Chain, about=ABOUT, **errors: float) -> dict[str, float]:
    found = await reached(family, *chains)
    reply = await Interview(about, family, **errors).ask(ScoreEntities("?", found))
    by_number = {each.number: str(each.candidate.term) for each in numbered_candidates(found)}
    return {by_number[each.number]: each.score for each in reply.scores}


async def test_only_the_relations_that_lead_on_have_a_score(family) -> None:
    assert await relations(family, ANN) == {"Ann -mother->": BEST_SCORE}
    about = of_two_topics("eve")
    assert await relations(family, chain("ann", "parent"), chain("de"), about=about) == {
        "De <-country-": BEST_SCORE
    }


async def test_a_wrong_relation_has_the_best_score_and_the_right_one_the_second_or_none(family) -> None:
    for seed in range(5):
        kept = await relations(family, ANN, accuracy=0, recall=1, seed=seed)
        assert sorted(kept.values()) == [LEAST_SCORE, BEST_SCORE]
        assert kept["Ann -mother->"] == LEAST_SCORE
        lost = await relations(family, ANN, accuracy=0, recall=0, seed=seed)
        assert lost == {wrong: BEST_SCORE for wrong in kept if wrong != "Ann -mother->"}
        narrow = await relations(family, ANN, width=1, accuracy=0, recall=1, seed=seed)
        assert (len(narrow), "Ann -mother->" in narrow) == (1, False)


async def test_no_chain_has_more_scores_than_the_beam_is_wide(family) -> None:
    ways = ("mother", "friend", "likes", "born_in")
    about = question("eve bob ulm", topics=named("ann"), paths=tuple(GoldPath(None, (way,)) for way in ways))
    wide = await relations(family, ANN, about=about, width=50)
    assert len(wide) > 2
    assert len(await relations(family, ANN, about=about, width=2)) == 2


async def test_on_the_way_entities_have_a_score_by_what_they_lead_to(family) -> None:
    assert await entities(family, chain("ann", "parent"), about=question("bonn", "parent born_in")) == {
        "Eve": BEST_SCORE
    }
    both = question("bonn ulm", "parent born_in")
    assert await entities(family, chain("ann", "parent"), about=both) == {"Eve": 0.77, "Max": 0.77}  # F1 2/3


async def test_at_the_end_of_a_way_the_answers_have_a_score(family) -> None:
    about = question("eve", "parent")
    assert await entities(family, chain("ann", "friend"), chain("ann", "parent"), about=about) == {
        "Eve": BEST_SCORE
    }
    assert await entities(family, chain("ann", "parent age"), about=question("60", "parent age")) == {
        "60": BEST_SCORE,
        "61": BEST_SCORE,
    }


async def test_of_a_beam_that_is_held_only_what_it_leads_to_counts(family) -> None:
    about = question("rhine", "parent born_in river")
    born_in = chain("ann", "parent born_in").hops[1]
    assert await entities(family, only(chain("ann", "parent"), "eve").then(born_in), about=about) == {
        "Bonn": BEST_SCORE
    }
    assert await entities(family, only(chain("ann", "parent"), "max").then(born_in), about=about) == {}


async def test_what_a_number_is_computed_from_is_as_good_all_of_it(family) -> None:
    assert await entities(family, chain("ann", "parent"), about=question("2", "parent")) == {
        "Eve": BEST_SCORE,
        "Max": BEST_SCORE,
    }


async def test_a_wrong_choice_of_entities_scores_others(family) -> None:
    about = question("bonn", "parent born_in")
    for seed in range(5):
        assert await entities(family, chain("ann", "parent"), about=about, entity=1, seed=seed) == {
            "Max": BEST_SCORE
        }
