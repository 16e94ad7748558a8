"""Chains that are held to some entities lead on only if these do."""

import pytest

from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, only, question


@pytest.fixture
def family(graph):
    return graph(FAMILY)


EVE, MAX = only(chain("ann", "parent"), "eve"), only(chain("ann", "parent"), "max")


async def test_what_is_held_to_entities_that_lead_to_an_answer_is_right(family) -> None:
    about = Interview(question("bonn", "parent born_in"), family)
    assert await about.prune_at(EVE) == ["born_in"]
    assert (await about.suffices(EVE)).decision == "forward"


async def test_what_is_held_to_entities_that_lead_to_no_answer_leads_astray(family) -> None:
    about = Interview(question("bonn", "parent born_in"), family)
    assert await about.prune_at(MAX) == []
    assert (await about.suffices(MAX)).decision == "backtrack"


async def test_one_of_the_answers_is_enough(family) -> None:
    about = Interview(question("bonn ulm", "parent born_in"), family)
    assert await about.prune_at(EVE) == await about.prune_at(MAX) == ["born_in"]


async def test_what_was_held_on_the_way_counts_at_the_end(family) -> None:
    about = Interview(question("rhine", "parent born_in river"), family)
    born_in = chain("ann", "parent born_in").hops[1]
    assert await about.prune_at(EVE.then(born_in)) == ["river"]
    assert await about.prune_at(MAX.then(born_in)) == []


async def test_a_detour_is_held_as_well(family) -> None:
    about = Interview(question("bonn ulm", "parent born_in"), family)
    detour = chain("ann", "^child")  # not to Ulm, and so no detour
    assert await about.prune_at(only(detour, "eve")) == []
    about = Interview(question("bonn", "mother born_in"), family)
    assert await about.prune_at(only(detour, "eve")) == ["born_in"]


async def test_what_a_number_is_computed_from_must_be_there_as_a_whole(family) -> None:
    about = Interview(question("2", "parent"), family)
    both = only(chain("ann", "parent"), "eve", "max")
    assert ((await about.suffices(both)).decision, (await about.suffices(both)).take) == ("stop", "count")
    assert (await about.suffices(EVE)).decision == "backtrack"


async def test_only_chains_that_are_held_are_followed(family, monkeypatch) -> None:
    asked = []
    follow = family.follow_chain
    monkeypatch.setattr(family, "follow_chain", lambda at: asked.append(at) or follow(at))
    about = Interview(question("bonn", "parent born_in"), family)
    for path in ("", "parent", "parent born_in"):
        await about.prune("ann", path)
    assert asked == [chain("ann", "parent born_in")]
    for _ in range(2):
        await about.prune_at(EVE)
    assert asked[1:] == [EVE.then(chain("ann", "parent born_in").hops[1])]
