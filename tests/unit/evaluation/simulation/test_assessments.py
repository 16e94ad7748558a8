"""How a simulated model judges what a whole frontier has led to, rightly and wrongly."""

from collections import Counter
from dataclasses import replace

import pytest

from kgqa.evaluation.question import GoldPath
from kgqa.kg.terms import Chain, Entity
from kgqa.prompts.assess_found import AssessFound, Assessment
from kgqa.prompts.candidates import ChainFindings
from kgqa.tests.unit.evaluation.simulation.exploring import (
    many,
    names,
    of_two_topics,
    reached,
    where_they_meet,
)
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, named, only, question

PARENTS, GERMANS = chain("ann", "parent"), chain("de", "^country ^born_in")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def assessed(
    family, about, *found: ChainFindings, known: tuple[str, ...] = (), **errors: float
) -> Assessment:
    return await Interview(about, family, **errors).ask(AssessFound("?", tuple(found), known=known))


async def judged(family, about, *chains: Chain, **errors: float) -> Assessment:
    return await assessed(family, about, *await reached(family, *chains), **errors)


async def test_it_goes_forward_along_a_way_and_stops_at_its_end(family) -> None:
    about = question("bonn", "mother born_in")
    first = await judged(family, about, chain("ann", "friend"), chain("ann", "mother"))
    assert (first.decision, first.groups) == ("forward", [2])
    assert (len(first.subgoals), first.known) == (2, ["reached mother", ""])
    last = await judged(family, about, chain("ann", "friend born_in"), chain("ann", "mother born_in"))
    assert (last.decision, last.groups, last.take) == ("stop", [2], "all")


async def test_what_is_known_stays_known_and_what_leads_astray_adds_nothing(family) -> None:
    about = question("bonn", "mother born_in")
    found = await reached(family, chain("ann", "mother born_in"), chain("ann", "friend"))
    reply = await assessed(family, about, *found, known=("reached mother",))
    assert reply.known == ["reached mother", "reached born_in"]


async def test_a_group_that_holds_the_answers_by_chance_does_not_stop(family) -> None:
    assert (await judged(family, question("eve", "mother"), PARENTS)).decision == "forward"


async def test_another_way_to_exactly_the_answers_stops(family) -> None:
    reply = await judged(family, question("ulm", "likes"), chain("ann", "friend born_in"))
    assert (reply.decision, reply.groups) == ("stop", [1])


async def test_answers_among_others_are_named_where_all_are_shown(family) -> None:
    found = await reached(family, chain("ann", "friend"), PARENTS)
    reply = await assessed(family, question("max", "parent"), *found)
    assert (reply.decision, reply.groups, reply.take) == ("stop", [2], "some")
    assert names(found, reply.chosen) == ["Max"]


async def test_answers_among_more_than_are_shown_are_filtered(family) -> None:
    about = question("max", "parent")
    for group in (
        ChainFindings(PARENTS, many(100, "max")),
        ChainFindings(PARENTS, many(3, "max"), truncated=True),
    ):
        reply = await assessed(family, about, group)
        assert (reply.decision, reply.groups, reply.chosen) == ("filter", [1], [])


async def test_what_returns_to_the_topic_is_left_out_or_named(family) -> None:
    siblings = await judged(family, question("tim", "mother ^mother"), chain("ann", "mother ^mother"))
    assert (siblings.decision, siblings.take) == ("stop", "others")
    herself = await judged(family, question("ann", "mother ^mother"), chain("ann", "mother ^mother"))
    assert (herself.decision, herself.take, herself.chosen) == ("stop", "some", [1])


@pytest.mark.parametrize(
    ("answer", "path", "take"),
    [("2", "parent", "count"), ("60", "parent age", "smallest"), ("61", "parent age", "largest")],
)
async def test_what_is_computed_from_a_group_is_taken_so(family, answer: str, path: str, take: str) -> None:
    reply = await judged(family, question(answer, path), chain("ann", "friend"), chain("ann", path))
    assert (reply.decision, reply.groups, reply.take) == ("stop", [2], take)


async def test_the_group_where_topics_meet_is_the_answer(family) -> None:
    met = await where_they_meet(family, GERMANS, PARENTS)
    both = question("eve max", topics=named("ann", "de"), paths=of_two_topics("eve").paths)
    assert (await assessed(family, both, met, *await reached(family, GERMANS))).groups == [1]
    one = await assessed(family, of_two_topics("max"), *await reached(family, GERMANS), met)
    assert (one.decision, one.groups, one.take) == ("stop", [2], "some")
    assert names((*await reached(family, GERMANS), met), one.chosen) == ["Max"]


async def test_answers_among_others_wait_for_another_topic_that_leads_on(family) -> None:
    found = await reached(family, PARENTS, chain("de", "^country"))
    assert (await assessed(family, of_two_topics("eve"), *found)).decision == "forward"
    exact = question("eve max", topics=named("ann", "de"), paths=of_two_topics("eve").paths)
    assert (await assessed(family, exact, *found)).groups == [1]


async def test_a_number_is_computed_where_all_topics_meet(family) -> None:
    about = of_two_topics("2")
    assert (await judged(family, about, PARENTS)).decision == "forward"
    met = await where_they_meet(family, GERMANS, PARENTS)
    reply = await assessed(family, about, *await reached(family, PARENTS), met)
    assert (reply.decision, reply.groups, reply.take) == ("stop", [2], "count")


async def test_where_a_chain_meets_one_that_leads_astray_nothing_is_settled(family) -> None:
    about = question("eve max", "parent", topics=named("ann", "bonn"))
    met = await where_they_meet(family, PARENTS, chain("bonn", "^born_in"))
    assert (await assessed(family, about, met)).decision == "forward"
    assert (await assessed(family, about, met, *await reached(family, PARENTS))).groups == [2]


async def test_a_part_of_the_answers_is_taken_where_nothing_leads_to_more(family) -> None:
    paths = (GoldPath(None, ("mother",)), GoldPath(None, ("parent", "born_in")))
    about = question("eve ida", "mother")
    assert (await judged(family, about, chain("ann", "mother"))).decision == "stop"
    both = question("eve bonn ulm", topics=named("ann"), paths=paths)
    held = await reached(family, only(PARENTS, "eve").then(chain("ann", "born_in").hops[0]), PARENTS)
    assert (await assessed(family, both, *held)).decision == "forward"


async def test_a_wrong_verdict_is_any_other_on_a_group_of_those_shown(family) -> None:
    about = question("bonn", "mother born_in")
    found = await reached(family, chain("ann", "friend"), chain("ann", "mother"))
    said: Counter[tuple[str, int]] = Counter()
    for seed in range(60):
        reply = await assessed(family, about, *found, judge=1, seed=seed)
        said[reply.decision, *reply.groups] += 1
    assert set(said) == {("stop", 1), ("stop", 2), ("filter", 1), ("filter", 2)}


async def test_a_right_group_is_wrongly_gone_on_from_or_filtered(family) -> None:
    about, found = question("eve", "mother"), await reached(family, chain("ann", "mother"))
    replies = [await assessed(family, about, *found, judge=1, seed=seed) for seed in range(20)]
    assert {(reply.decision, *reply.groups) for reply in replies} == {("forward", 1), ("filter", 1)}


async def test_where_nothing_has_a_name_no_verdict_can_be_wrong(family) -> None:
    unnamed = ChainFindings(chain("ann", "mother"), tuple(map(_unnamed, await reached(family, PARENTS))))
    assert (
        await assessed(family, question("bonn", "mother born_in"), unnamed, judge=1)
    ).decision == "forward"


async def test_wrong_entities_are_others_of_the_same_group(family) -> None:
    found = await reached(family, chain("ann", "friend"), PARENTS)
    for seed in range(5):
        reply = await assessed(family, question("max", "parent"), *found, entity=1, seed=seed)
        assert (reply.decision, reply.groups, names(found, reply.chosen)) == ("stop", [2], ["Eve"])


def _unnamed(found: ChainFindings):
    return replace(found.ends[0], term=Entity("_:b"))
