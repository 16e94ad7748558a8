"""The offline model steers a search over a frontier along the chains of its interpretation."""

from dataclasses import replace
from pathlib import Path

import pytest

from kgqa.kg.opening import open_graph
from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.errors import ModelUnavailable
from kgqa.models.offline import OfflineModel
from kgqa.models.parsing import check_reply
from kgqa.prompts.answer_from_memory import AnswerBriefly, AnswerDirectly, ReasonAloud
from kgqa.prompts.assess_found import AssessFound, Assessment, EvaluateFound
from kgqa.prompts.base import Prompt, R
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, ChainFindings
from kgqa.prompts.chain import Extension
from kgqa.prompts.filter_found import FilterFound
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Segment
from kgqa.prompts.recall_entities import RecallEntities
from kgqa.prompts.reflect import Reflect
from kgqa.prompts.score_entities import ScoreEntities
from kgqa.prompts.solved_questions import SolvedQuestion
from kgqa.prompts.update_memory import UpdateMemory
from kgqa.tests.conftest import MEMO, PREFIXES
from kgqa.tests.support.frontier import picking, scoring

TOWNS = """
e:ulm rdfs:label "Ulm" ; r:mayor e:ada ; r:river e:danube, e:blau .
e:bonn rdfs:label "Bonn" ; r:mayor e:ben ; r:river e:rhine .
e:ada rdfs:label "Ada" ; r:spouse e:cleo ; r:mayor_of e:ulm .
e:ben rdfs:label "Ben" ; r:mayor_of e:bonn . e:cleo rdfs:label "Cleo" .
e:danube rdfs:label "Danube" ; r:length_km 2850 ; r:mouth e:black_sea .
e:blau rdfs:label "Blau" ; r:length_km 22 ; r:mouth e:danube .
e:rhine rdfs:label "Rhine" ; r:length_km 1233 ; r:mouth e:north_sea .
e:black_sea rdfs:label "Black Sea" . e:north_sea rdfs:label "North Sea" .
"""
FILMS = """
e:ann rdfs:label "Ann" . e:bob rdfs:label "Bob" .
e:f rdfs:label "Fog" ; r:starred e:ann ; r:directed_by e:bob .
e:g rdfs:label "Gas" ; r:starred e:ann . e:h rdfs:label "Hut" ; r:directed_by e:bob .
"""
MAYOR, MAYOR_OF, RIVER, MOUTH, SPOUSE, UNHEARD_OF = (
    Hop(f"http://t/r/{name}") for name in ("mayor", "mayor_of", "river", "mouth", "spouse", "unheard_of")
)
STARRED, DIRECTED = (Hop(f"http://t/r/{name}", False) for name in ("starred", "directed_by"))
PUPIL = Hop("http://t/r/pupil")
ULM, ADA, CLEO, BLAU, DANUBE, ANN, BOB = (
    Entity(f"http://t/e/{name.lower()}", name)
    for name in ("Ulm", "Ada", "Cleo", "Blau", "Danube", "Ann", "Bob")
)
FOG, GAS, HUT = (Entity(f"http://t/e/{name[0].lower()}", name) for name in ("Fog", "Gas", "Hut"))
SOLVED = (SolvedQuestion("Which rivers has [city]?", (("river",),)),)
NOWHERE = Entity("http://t/e/nowhere", "Nowhere")
SPOUSE_OF_MAYOR = "Who is the spouse of the mayor of Ulm?"
RIVERS = "What are the rivers of Ulm?"
LONGEST = "Which river of Ulm is the longest?"
BOTH = "Which films starred Ann and were directed by Bob?"


def opened(text: str, folder: Path) -> OfflineModel:
    path = folder / "graph.ttl"
    path.write_text(PREFIXES + text, encoding="utf-8")
    return OfflineModel(open_graph([path]), MEMO.encode)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> OfflineModel:
    """One model for all tests: it makes up its mind about each question once."""
    return opened(TOWNS, tmp_path_factory.mktemp("towns"))


@pytest.fixture(scope="module")
def films(tmp_path_factory) -> OfflineModel:
    return opened(FILMS, tmp_path_factory.mktemp("films"))


async def ask(model: OfflineModel, prompt: Prompt[R]) -> R:
    """Return the reply, held against the prompt's own check."""
    answered = await model.ask(prompt)
    assert check_reply(answered.reply, prompt) is answered.reply
    return answered.reply


def ulm(*hops: Hop) -> Chain:
    return Chain(ULM, hops)


def found(chain: Chain, *ends: Entity, met: tuple[Chain, ...] = ()) -> ChainFindings:
    return ChainFindings(chain, tuple(map(Candidate, ends)), met=met)


def group(reply: Assessment) -> tuple[str, list[int], str, list[int]]:
    return reply.decision, reply.groups, reply.take, reply.chosen


async def test_of_the_whole_frontier_what_the_way_goes_on_by_is_picked(model) -> None:
    first = picking(SPOUSE_OF_MAYOR, (ulm(RIVER), ulm(MAYOR)), topics=(ULM,))
    second = replace(
        first,
        offers=tuple(map(Extension, (ulm(RIVER, MOUTH), ulm(MAYOR, SPOUSE), ulm(MAYOR, MAYOR_OF)))),
    )
    assert [(await ask(model, prompt)).relations for prompt in (first, second)] == [[2], [2]]


async def test_each_topic_has_its_relation_and_one_without_a_part_has_none(films) -> None:
    offers = (Chain(ANN, (STARRED,)), Chain(BOB, (DIRECTED,)), Chain(NOWHERE, (RIVER,)))
    reply = await ask(films, picking(BOTH, offers, topics=(ANN, BOB, NOWHERE)))
    assert reply.relations == [1, 2]


async def test_a_mirrored_relation_is_picked_where_the_way_has_no_other(model) -> None:
    other = {MAYOR: MAYOR_OF.inverse, MAYOR_OF.inverse: MAYOR}
    every = picking("Who is the mayor of Ulm?", tuple(map(ulm, (*other, RIVER))), topics=(ULM,))
    (own,) = (await ask(model, every)).relations
    alone = replace(
        every, offers=tuple(map(Extension, (ulm(RIVER), ulm(other[every.offers[own - 1].hops[0]]))))
    )
    assert (await ask(model, alone)).relations == [2]


async def test_what_is_held_to_some_entities_goes_on_all_the_same(model) -> None:
    held = ulm(MAYOR).constrained_to([ADA])
    prompt = picking(SPOUSE_OF_MAYOR, (held.then(MAYOR_OF), held.then(SPOUSE)))
    assert (await ask(model, prompt)).relations == [2]


async def test_another_way_is_picked_where_the_believed_one_is_not_offered(model) -> None:
    prompt = picking(SPOUSE_OF_MAYOR, (ulm(UNHEARD_OF), ulm(RIVER)), topics=(ULM,))
    assert (await ask(model, prompt)).relations == [2]


async def test_nothing_is_picked_where_nothing_is_believed(model) -> None:
    offers = (Chain(NOWHERE, (MAYOR,)),)
    assert (await ask(model, picking("Who is it?", offers, topics=(NOWHERE,)))).relations == []


async def test_a_beam_scores_what_is_picked_and_nothing_else(model) -> None:
    prompt = scoring("Who is the mayor of Ulm?", (ulm(RIVER), ulm(MAYOR)), 3, topics=(ULM,))
    assert [(each.number, each.score) for each in (await ask(model, prompt)).scores] == [(2, 1.0)]


async def test_the_end_of_the_way_is_the_answer_and_before_it_the_search_goes_on(model) -> None:
    before = AssessFound(SPOUSE_OF_MAYOR, (found(ulm(RIVER), BLAU), found(ulm(MAYOR), ADA)), topics=(ULM,))
    at_end = replace(before, found=(found(ulm(RIVER), BLAU), found(ulm(MAYOR, SPOUSE), CLEO)))
    replies = [await ask(model, prompt) for prompt in (before, at_end)]
    assert [group(reply) for reply in replies] == [("forward", [2], "all", []), ("stop", [2], "others", [])]
    assert [reply.known for reply in replies] == [["mayor of Ulm: Ada"], ["spouse of mayor of Ulm: Cleo"]]


async def test_what_is_known_stays_where_nothing_on_the_way_was_found(model) -> None:
    prompt = AssessFound(SPOUSE_OF_MAYOR, (found(ulm(RIVER), BLAU),), known=("Ada it is.",), topics=(ULM,))
    assert (await ask(model, prompt)).known == ["Ada it is."]


async def test_some_of_a_group_are_named_by_the_numbers_that_they_are_shown_by(model) -> None:
    groups = (found(ulm(MAYOR), ADA), found(ulm(RIVER), BLAU, DANUBE))
    reply = await ask(model, AssessFound(LONGEST, groups, topics=(ULM,)))
    assert group(reply) == ("stop", [2], "some", [3])


async def test_answers_that_are_not_shown_are_filtered_for(model) -> None:
    many = [Entity(f"http://t/e/x{number}", f"x{number}") for number in range(MAX_CANDIDATES_SHOWN)]
    reply = await ask(model, AssessFound(LONGEST, (found(ulm(RIVER), *many, DANUBE),), topics=(ULM,)))
    assert group(reply)[:2] == ("filter", [1])


async def test_of_several_groups_at_the_end_of_ways_the_one_where_they_meet_is_the_answer(films) -> None:
    ann, bob = Chain(ANN, (STARRED,)), Chain(BOB, (DIRECTED,))
    groups = (found(ann, FOG, GAS), found(bob, FOG, met=(ann,)), found(bob, FOG, HUT))
    reply = await ask(films, AssessFound(BOTH, groups, topics=(ANN, BOB)))
    assert group(reply) == ("stop", [2], "others", [])


async def test_without_a_group_where_ways_meet_what_they_share_is_the_answer(films) -> None:
    groups = (found(Chain(ANN, (STARRED,)), FOG, GAS),)
    assert group(await ask(films, AssessFound(BOTH, groups, topics=(ANN, BOB)))) == ("stop", [1], "some", [1])


async def test_a_way_that_ends_awaits_a_longer_one(tmp_path) -> None:
    pupils = 'e:bob r:pupil e:cy . e:cy rdfs:label "Cy" . e:f r:directed_by e:cy .'
    model = opened(FILMS.replace("; r:directed_by e:bob", "") + pupils, tmp_path)
    ann, pupil, cy = Chain(ANN, (STARRED,)), Chain(BOB, (PUPIL,)), Entity("http://t/e/cy", "Cy")
    question = "Which films starred Ann and were directed by a pupil of Bob?"
    first = AssessFound(question, (found(ann, FOG, GAS), found(pupil, cy)), topics=(ANN, BOB))
    then = replace(first, found=(found(pupil.then(DIRECTED), FOG, met=(ann,)),))
    replies = [await ask(model, prompt) for prompt in (first, then)]
    assert [group(reply)[:2] for reply in replies] == [("forward", [2]), ("stop", [1])]


async def test_another_way_is_the_answer_where_the_believed_one_was_turned_down(model) -> None:
    prompt = AssessFound(SPOUSE_OF_MAYOR, (found(ulm(RIVER), BLAU),), topics=(ULM,))
    assert group(await ask(model, prompt)) == ("stop", [1], "others", [])


async def test_before_the_search_a_group_is_taken_only_at_the_whole_of_the_believed_way(model) -> None:
    other, begun, on = found(ulm(RIVER), BLAU), found(ulm(MAYOR), ADA), found(ulm(MAYOR, MAYOR_OF), ULM)
    early = AssessFound(SPOUSE_OF_MAYOR, (other, begun, on), exemplars=SOLVED, topics=(ULM,))
    whole = replace(early, found=(*early.found, found(ulm(MAYOR, SPOUSE), CLEO)))
    tried = [replace(early, found=(each,)) for each in early.found]
    assert [group(await ask(model, prompt))[:2] for prompt in (early, *tried)] == [("forward", [])] * 4
    assert group(await ask(model, whole)) == ("stop", [4], "others", [])


async def test_before_the_search_a_mirror_of_the_believed_way_is_as_good(model) -> None:
    groups = (found(ulm(RIVER), BLAU), found(ulm(MAYOR_OF.inverse, SPOUSE), CLEO))
    prompt = AssessFound(SPOUSE_OF_MAYOR, groups, exemplars=SOLVED, topics=(ULM,))
    assert group(await ask(model, prompt)) == ("stop", [2], "others", [])


async def test_before_the_search_a_chain_to_the_very_ends_of_the_believed_way_is_as_good(model) -> None:
    same, more = found(ulm(UNHEARD_OF), DANUBE, BLAU), found(ulm(UNHEARD_OF), DANUBE, BLAU, CLEO)
    prompt = AssessFound(LONGEST, (same,), exemplars=SOLVED, topics=(ULM,))
    assert group(await ask(model, prompt)) == ("stop", [1], "some", [1])
    others = (found(ulm(UNHEARD_OF), DANUBE), more, replace(same, truncated=True))
    replies = [await ask(model, replace(prompt, found=(each,))) for each in others]
    assert [group(reply)[:2] for reply in replies] == [("forward", [])] * 3
    own = replace(prompt, found=(same, found(ulm(RIVER), DANUBE, BLAU)))
    assert group(await ask(model, own)) == ("stop", [2], "some", [3])


async def test_before_the_search_one_topics_way_awaits_those_that_it_is_to_meet(films) -> None:
    ann, bob = Chain(ANN, (STARRED,)), Chain(BOB, (DIRECTED,))
    alone = AssessFound(BOTH, (found(ann, FOG, GAS),), exemplars=SOLVED, topics=(ANN, BOB))
    met = replace(alone, found=(found(bob, FOG, met=(ann,)), found(ann, FOG, GAS)))
    replies = [await ask(films, prompt) for prompt in (alone, met)]
    assert [group(reply)[:2] for reply in replies] == [("forward", []), ("stop", [1])]


async def test_the_search_goes_on_from_what_the_way_goes_on_from(model) -> None:
    groups = (found(ulm(RIVER), BLAU), found(ulm(MAYOR), ADA))
    reply = await ask(model, Reflect(SPOUSE_OF_MAYOR, groups, (found(ulm()),), topics=(ULM,)))
    assert (reply.go_on, reply.keep, reply.recall) == ([2], [], [])


async def test_astray_the_search_comes_back_to_the_furthest_chain_on_the_way(model) -> None:
    history = (found(ulm()), found(ulm(MAYOR), ADA), found(ulm(RIVER), BLAU))
    prompt = Reflect(SPOUSE_OF_MAYOR, (found(ulm(MAYOR, MAYOR_OF), ULM),), history, topics=(ULM,))
    reply = await ask(model, prompt)
    assert (reply.go_on, reply.recall) == ([], [2])


async def test_after_the_believed_way_the_search_comes_back_for_another(model) -> None:
    history = (found(ulm()), found(ulm(MAYOR), ADA))
    reply = await ask(model, Reflect("Who is the mayor of Ulm?", (), history, topics=(ULM,)))
    assert (reply.go_on, len(reply.recall)) == ([], 1)


async def test_astray_the_search_comes_back_to_the_entities_of_the_furthest_chain_on_the_way(model) -> None:
    held = ulm(MAYOR).constrained_to([ADA])
    entities = (ulm(), ulm(RIVER), held, ulm(MAYOR, MAYOR_OF))
    reply = await ask(model, RecallEntities(SPOUSE_OF_MAYOR, entities, "astray", topics=(ULM,)))
    assert reply.recall == [3]


async def test_nothing_is_come_back_to_where_nothing_is_believed(model) -> None:
    prompt = Reflect("Who is it?", (), (found(Chain(NOWHERE)),), topics=(NOWHERE,))
    reply = await ask(model, prompt)
    assert (reply.go_on, reply.recall) == ([], [])


async def test_entities_are_scored_by_the_share_of_the_answers_that_they_lead_to(model) -> None:
    seas = ScoreEntities("What are the mouths of the rivers of Ulm?", (found(ulm(RIVER), BLAU, DANUBE),))
    assert [(each.number, each.score) for each in (await ask(model, seas)).scores] == [(1, 0.75), (2, 0.75)]
    longest = replace(seas, question=LONGEST)
    assert [(each.number, each.score) for each in (await ask(model, longest)).scores] == [(2, 1.0)]


async def test_ends_beside_all_ways_have_no_score_and_those_of_another_way_a_low_one(model) -> None:
    groups = (found(ulm(UNHEARD_OF), CLEO), found(ulm(RIVER), BLAU), found(ulm(MAYOR), ADA))
    reply = await ask(model, ScoreEntities(SPOUSE_OF_MAYOR, groups, topics=(ULM,)))
    assert [(each.number, each.score) for each in reply.scores] == [(2, 0.1), (3, 1.0)]


async def test_where_no_entity_leads_to_an_answer_all_count_the_same(model) -> None:
    prompt = ScoreEntities(SPOUSE_OF_MAYOR, (found(ulm(MAYOR), BLAU, CLEO),), topics=(ULM,))
    assert [each.score for each in (await ask(model, prompt)).scores] == [0.5, 0.5]


@pytest.mark.parametrize("kind", [AnswerBriefly, ReasonAloud])
async def test_asked_for_nothing_but_memory_it_says_that_it_has_none(model, kind) -> None:
    with pytest.raises(ModelUnavailable, match="knows no facts; give a language model, as provider:name"):
        await model.ask(kind("Who is it?"))


async def test_where_a_search_has_found_nothing_it_abstains(model) -> None:
    assert (await ask(model, AnswerDirectly("Who is it?"))).answers == []


async def test_prompts_of_their_own_are_answered_as_the_joint_ones(model: OfflineModel) -> None:
    groups = (found(ulm(RIVER), BLAU, DANUBE), found(ulm(MAYOR), ADA))
    joint = await ask(model, AssessFound(SPOUSE_OF_MAYOR, groups, topics=(ULM,)))
    apart = await ask(model, EvaluateFound(SPOUSE_OF_MAYOR, groups, topics=(ULM,)))
    assert (apart.decision, apart.groups, apart.answers) == (joint.decision, [], [])
    assert (await ask(model, UpdateMemory(SPOUSE_OF_MAYOR, groups, topics=(ULM,)))).known == joint.known
    kept = await ask(model, FilterFound(SPOUSE_OF_MAYOR, groups, topics=(ULM,)))
    scored = await ask(model, ScoreEntities(SPOUSE_OF_MAYOR, groups, topics=(ULM,)))
    assert kept.keep == [each.number for each in scored.scores]


async def test_it_infers_from_the_evidence_alone(model: OfflineModel) -> None:
    segments = (Segment(ulm(MAYOR, SPOUSE), found(ulm(MAYOR, SPOUSE), CLEO).ends),)
    reply = await ask(model, InferFromEvidence(SPOUSE_OF_MAYOR, segments, (), (), True, topics=(ULM,)))
    assert (reply.chosen, reply.answers) == ([1], [])
