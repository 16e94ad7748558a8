"""Which decision a simulated model blames, and what it recalls, rightly and wrongly."""

from collections import Counter
from typing import Any

import pytest

from kgqa.evaluation.question import GoldPath
from kgqa.kg.terms import Chain
from kgqa.prompts.diagnose import Diagnose, Diagnosis, PastDecision, PrunedBranch
from kgqa.tests.unit.evaluation.simulation.family import (
    FAMILY,
    PROGRESS,
    Interview,
    chain,
    decided,
    named,
    only,
    question,
)

ABOUT = question("bonn", "mother born_in")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


def pruned(step: int, *chains: Chain) -> tuple[PrunedBranch, ...]:
    return tuple(PrunedBranch(step, each, waiting=False, relevance=None) for each in chains)


def failed(
    trajectory: tuple[PastDecision, ...], branches: tuple[PrunedBranch, ...] = (), blueprint: str = ""
) -> Diagnose:
    return Diagnose("?", "no_gain", PROGRESS, trajectory, branches, blueprint)


FIRST = pruned(1, chain("ann", "born_in"), chain("ann", "^child"), chain("ann", "mother"))
SECOND = pruned(2, chain("ann", "friend born_in"), chain("ann", "friend ^mother"))


async def blamed(family, *args: Any, about=ABOUT, **errors: float) -> tuple[int, list[int]]:
    reply: Diagnosis = await Interview(about, family, **errors).ask(failed(*args))
    return reply.step, reply.recall


async def test_the_first_decision_that_left_the_way_is_blamed(family) -> None:
    assert await blamed(family, decided("ann", "friend mother")) == (1, [])
    assert await blamed(family, decided("ann", "mother age")) == (2, [])


async def test_all_pruned_branches_of_it_from_which_a_way_goes_on_are_recalled_in_order(family) -> None:
    assert await blamed(family, decided("ann", "friend mother"), (*SECOND, *FIRST)) == (1, [4, 5])


async def test_a_decision_for_nothing_is_blamed_where_a_way_goes_on(family) -> None:
    open_ = decided("ann", "mother", undecided=True)
    branches = (*pruned(1, chain("ann", "friend")), *pruned(2, chain("ann", "mother born_in")))
    assert await blamed(family, open_, branches) == (2, [2])


async def test_no_decision_is_blamed_where_none_left_the_way(family) -> None:
    assert await blamed(family, decided("ann", "mother born_in"), FIRST) == (0, [])


async def test_no_decision_is_blamed_beyond_the_end_of_a_way(family) -> None:
    branches = pruned(3, chain("ann", "mother born_in country"))
    assert await blamed(family, decided("ann", "mother born_in river"), branches) == (0, [])
    assert await blamed(family, decided("ann", "mother born_in", undecided=True), branches) == (0, [])


async def test_no_decision_is_blamed_where_the_topic_leads_nowhere(family) -> None:
    about = question("eve", "parent", topics=named("ann", "rome"))
    steps = (*decided("ann", "parent"), *decided("rome", "river"))
    assert await blamed(family, steps, pruned(2, chain("rome", "^born_in")), about=about) == (0, [])


async def test_decisions_of_all_topics_are_looked_at(family) -> None:
    paths = (GoldPath("http://t/e/ann", ("parent",)), GoldPath("http://t/e/bonn", ("^born_in",)))
    about = question("eve", topics=named("ann", "bonn"), paths=paths)
    steps = (*decided("ann", "parent"), *decided("bonn", "river"))
    assert await blamed(family, steps, pruned(2, chain("bonn", "^born_in")), about=about) == (2, [1])


async def test_the_entities_that_were_set_aside_are_recalled(family) -> None:
    about = question("bonn", "parent born_in")
    parent = chain("ann", "parent")
    steps = (PastDecision(chain("ann"), only(parent, "max"), ("Max",), 1, ""),)
    branches = pruned(1, chain("ann", "friend"), only(parent, "eve"))
    assert await blamed(family, steps, branches, about=about) == (1, [2])


async def test_a_wrong_verdict_blames_any_other_decision_and_recalls_of_that_one(family) -> None:
    found = Counter[int]()
    for seed in range(60):
        step, recall = await blamed(
            family, decided("ann", "friend mother"), (*FIRST, *SECOND), judge=1, seed=seed
        )
        assert recall == []
        found[step] += 1
    assert set(found) == {0, 2}
    assert min(found.values()) > 15


async def test_where_there_is_no_other_decision_to_blame_the_verdict_is_right(family) -> None:
    assert await blamed(family, (), judge=1) == (0, [])


async def test_a_wrong_choice_recalls_a_branch_that_leads_astray_first(family) -> None:
    branches = (*FIRST, *pruned(1, chain("ann", "likes"), chain("ann", "parent")))
    for seed in range(10):
        _, without = await blamed(family, decided("ann", "friend"), branches, accuracy=0, recall=0, seed=seed)
        assert len(without) == 2
        assert set(without) < {1, 4, 5}
        _, recalled = await blamed(
            family, decided("ann", "friend"), branches, accuracy=0, recall=1, seed=seed
        )
        assert recalled[:2] == without
        assert set(recalled[2:]) == {2, 3}


async def test_where_only_right_branches_were_pruned_none_is_wrong(family) -> None:
    assert await blamed(family, decided("ann", "friend"), FIRST[1:], accuracy=0) == (1, [1, 2])


@pytest.mark.parametrize(
    ("blueprint", "verdict"),
    [
        ("", "keep"),
        ("mother river", "keep"),
        ("river -> born_in", "keep"),
        ("^mother & friend", "keep"),
        ("mothers & friend", "drop"),
        ("river -> country", "drop"),
    ],
)
async def test_a_blueprint_that_shares_no_relation_with_the_way_is_dropped(
    family, blueprint: str, verdict: str
) -> None:
    prompt = failed(decided("ann", "friend"), FIRST, blueprint)
    assert (await Interview(ABOUT, family).ask(prompt)).blueprint == verdict


async def test_where_no_way_is_known_a_blueprint_stays(family) -> None:
    about = question("bonn", topics=())
    prompt = failed(decided("ann", "friend"), (), "river")
    assert (await Interview(about, family).ask(prompt)).blueprint == "keep"


async def test_only_decisions_and_branches_that_are_shown_are_named(family) -> None:
    many = pruned(1, *[chain("ann", "friend")] * 40, chain("ann", "mother"))
    assert await blamed(family, decided("ann", "friend"), many) == (1, [])
    right = decided("ann", "mother") * 12
    assert await blamed(family, (*decided("ann", "friend"), *right)) == (0, [])
    for seed in range(20):
        step, _ = await blamed(family, (*right, *decided("ann", "friend")), judge=1, seed=seed)
        assert step in {0, *range(2, 13)}


async def test_a_less_accurate_model_recalls_wrongly_where_a_more_accurate_one_does(family) -> None:
    for seed in range(20):
        right = [
            (await blamed(family, decided("ann", "friend"), FIRST, accuracy=accuracy, seed=seed))[1] == [2, 3]
            for accuracy in (1, 0.7, 0.4, 0)
        ]
        assert right == sorted(right, reverse=True)
        assert (right[0], right[-1]) == (True, False)
