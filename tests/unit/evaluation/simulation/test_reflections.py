"""Where a simulated model goes on, and what it comes back to, rightly and wrongly."""

from collections import Counter
from dataclasses import replace

import pytest

from kgqa.kg.terms import Chain
from kgqa.prompts.candidates import ChainFindings
from kgqa.prompts.recall_entities import RecallEntities
from kgqa.prompts.reflect import Reflect, Reflection
from kgqa.tests.unit.evaluation.simulation.exploring import many, names, of_two_topics, reached
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, question

ABOUT = question("rhine", "mother born_in river")
ANN, MOTHER, FRIEND = chain("ann"), chain("ann", "mother"), chain("ann", "friend")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def reflected(
    family, found: tuple[Chain, ...], history: tuple[Chain, ...] = (), about=ABOUT, **errors: float
) -> Reflection:
    prompt = Reflect("?", await reached(family, *found), tuple(ChainFindings(each, ()) for each in history))
    return await Interview(about, family, **errors).ask(prompt)


async def test_it_goes_on_from_what_leads_on_and_comes_back_to_nothing(family) -> None:
    reply = await reflected(family, (FRIEND, MOTHER), (ANN,))
    assert (reply.go_on, reply.keep, reply.recall) == ([2], [], [])


async def test_it_does_not_go_on_from_the_end_of_a_way(family) -> None:
    assert (
        await reflected(family, (chain("ann", "parent"), chain("de", "^country")), about=of_two_topics("eve"))
    ).go_on == [2]


async def test_where_nothing_leads_on_it_comes_back_to_where_a_way_was_left(family) -> None:
    astray = chain("ann", "mother age")
    reply = await reflected(family, (astray,), (ANN, FRIEND, MOTHER))
    assert (reply.go_on, reply.recall) == ([], [3])
    assert (await reflected(family, (), (ANN, FRIEND))).recall == [1]
    assert (await reflected(family, (astray,), (FRIEND,))).recall == []


async def test_it_comes_back_for_each_topic_that_has_no_whole_way_yet(family) -> None:
    about, topics = of_two_topics("eve"), (ANN, chain("de"))
    assert (await reflected(family, (FRIEND,), topics, about)).recall == [1, 2]
    assert (await reflected(family, (FRIEND, chain("ann", "parent")), topics, about)).recall == [2]
    assert (await reflected(family, (), (*topics, chain("ann", "parent")), about)).recall == [2]


async def test_a_wrong_recall_is_another_chain(family) -> None:
    recalled: Counter[int] = Counter()
    for seed in range(40):
        reply = await reflected(family, (), (ANN, FRIEND, MOTHER), accuracy=0, seed=seed)
        recalled.update(reply.recall)
    assert set(recalled) == {1, 2}
    assert recalled.total() == 40
    assert (await reflected(family, (), (ANN,), accuracy=0)).recall == [1]


async def test_a_wrong_verdict_goes_on_from_the_other_groups(family) -> None:
    reply = await reflected(family, (FRIEND, MOTHER), (ANN,), judge=1)
    assert (reply.go_on, reply.recall) == ([1], [])


async def test_wrong_entities_are_those_that_lead_astray(family) -> None:
    about = question("bonn", "parent born_in")
    found = (FRIEND, chain("ann", "parent"))
    reply = await reflected(family, found, (), about, entity=1)
    assert reply.go_on == [2]
    assert names(await reached(family, *found), reply.keep) == ["Max"]


async def test_none_is_kept_of_a_group_that_is_not_shown_as_a_whole(family) -> None:
    about, parents = question("bonn", "parent born_in"), chain("ann", "parent")
    for group in (
        ChainFindings(parents, many(100, "eve")),
        ChainFindings(parents, many(2, "eve"), truncated=True),
    ):
        reply = await Interview(about, family, entity=1).ask(Reflect("?", (group,), ()))
        assert (reply.go_on, reply.keep) == ([1], [])


async def test_of_each_topic_the_entities_furthest_on_a_way_are_come_back_to(family) -> None:
    prompt = RecallEntities("?", (ANN, FRIEND, MOTHER, chain("ann", "mother age")), "astray")
    assert (await Interview(ABOUT, family).ask(prompt)).recall == [3]
    whole = replace(prompt, entities=(*prompt.entities, chain("ann", "mother born_in river")))
    assert (await Interview(ABOUT, family).ask(whole)).recall == []
    assert 3 not in (await Interview(ABOUT, family, accuracy=0).ask(prompt)).recall
