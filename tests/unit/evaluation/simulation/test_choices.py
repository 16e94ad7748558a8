"""Which relations and entities a simulated model goes on with in a step (VoG)."""

import pytest

from kgqa.evaluation.question import GoldPath
from kgqa.kg.terms import Path
from kgqa.prompts.facts import RelationCandidate
from kgqa.prompts.select_relations import SelectedEntities, SelectEntities, SelectRelations
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, named, question
from kgqa.tests.unit.evaluation.simulation.stepping import hop, offers, step, walk

ABOUT = question("bonn", "parent born_in")


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def relations(
    family, frontier: tuple[Path, ...], offered: tuple[RelationCandidate, ...], about=ABOUT, **errors: float
):
    asked = Interview(about, family, **errors)
    return (await asked.ask(SelectRelations("?", step(), frontier, offered))).relations


async def entities(family, *ids: str, about=ABOUT, total: int = 0, **errors: float) -> SelectedEntities:
    shown = tuple(chain(id).topic for id in ids)
    prompt = SelectEntities("?", step(), "drawn", shown, total or len(shown))
    return await Interview(about, family, **errors).ask(prompt)


async def test_the_relation_that_leads_on_is_chosen(family) -> None:
    assert await relations(family, (walk("ann"),), offers("mother", "parent", "friend")) == [2]
    later = (walk("ann", "parent eve"), walk("ann", "parent max"))
    assert await relations(family, later, offers("age", "born_in", heads=(0, 1))) == [2]


async def test_two_hops_past_a_node_without_a_name_are_chosen_as_one(family) -> None:
    offered = (
        RelationCandidate(hop("parent"), (0,), hop("age")),
        RelationCandidate(hop("parent"), (0,), hop("born_in")),
    )
    assert await relations(family, (walk("ann"),), offered) == [2]


@pytest.mark.parametrize(
    ("first", "filtering", "said"),
    [("mother", True, "stop"), ("parent", True, "filter"), ("parent", False, "")],
)
async def test_it_is_said_that_a_relation_leads_to_the_answers(
    family, first: str, filtering: bool, said: str
) -> None:
    asked = Interview(question("bonn", f"{first} born_in"), family)
    frontier, offered = (walk("ann", f"{first} eve"),), offers("friend", "born_in")
    reply = await asked.ask(
        SelectRelations("?", step(), frontier, offered, outright=True, filtering=filtering)
    )
    assert (reply.relations, reply.then) == ([2], said)
    plain = await asked.ask(SelectRelations("?", step(), frontier, offered))
    assert not plain.then


async def test_it_is_chosen_wherever_it_is_offered(family) -> None:
    strayed = (walk("ann", "friend bob"), walk("ann", "parent max"))
    assert await relations(family, strayed, (RelationCandidate(hop("born_in"), (0,)),)) == []
    assert await relations(family, strayed, (RelationCandidate(hop("born_in"), (0, 1)),)) == [1]


async def test_each_topic_has_its_own(family) -> None:
    paths = (GoldPath("http://t/e/ann", ("mother",)), GoldPath("http://t/e/bonn", ("^born_in",)))
    about = question("eve", topics=named("ann", "bonn"), paths=paths)
    offered = (
        RelationCandidate(hop("friend"), (0,)),
        RelationCandidate(hop("mother"), (0,)),
        RelationCandidate(hop("^born_in"), (1,)),
    )
    assert await relations(family, (walk("ann"), walk("bonn")), offered, about) == [2, 3]


async def test_one_that_leads_the_same_way_takes_its_place_where_it_is_not_offered(family) -> None:
    about = question("bonn", "mother born_in")
    assert await relations(family, (walk("ann"),), offers("friend", "^child"), about) == [2]
    assert await relations(family, (walk("ann"),), offers("^child", "mother"), about) == [2]
    assert await relations(family, (walk("ann", "mother eve born_in bonn"),), offers("river"), about) == []


async def test_a_wrong_choice_is_of_others_and_recalls_the_right_ones_or_not(family) -> None:
    offered = offers("mother", "parent", "friend")
    for seed in range(10):
        lost = await relations(family, (walk("ann"),), offered, accuracy=0, recall=0, seed=seed)
        assert len(lost) == 1
        assert lost != [2]
        kept = await relations(family, (walk("ann"),), offered, accuracy=0, recall=1, seed=seed)
        assert kept == [*lost, 2]


async def test_the_only_relation_cannot_be_mistaken_where_it_is_right(family) -> None:
    assert await relations(family, (walk("ann"),), offers("parent"), accuracy=0) == [1]
    assert await relations(family, (walk("ann"),), offers("friend"), accuracy=0) == [1]


async def test_all_are_kept_where_all_lead_to_gold(family) -> None:
    about = question("bonn ulm", "parent born_in")
    assert (await entities(family, "eve", "max", about=about)).keep == "all"


async def test_those_are_chosen_from_which_gold_is_reached(family) -> None:
    reply = await entities(family, "eve", "max")
    assert (reply.keep, reply.chosen) == ("some", [1])


async def test_at_the_end_of_a_way_the_answers_are_chosen(family) -> None:
    reply = await entities(family, "bonn", "ulm")
    assert (reply.keep, reply.chosen) == ("some", [1])


async def test_all_are_kept_where_some_are_not_shown_or_none_is_known(family) -> None:
    assert (await entities(family, "eve", "max", total=9)).keep == "all"
    assert (await entities(family, "rome", "tiber")).keep == "all"
    assert (await entities(family, "eve", "max", about=question("2", "parent"))).keep == "all"


async def test_a_wrong_choice_of_entities_takes_others(family) -> None:
    reply = await entities(family, "eve", "max", entity=1)
    assert (reply.keep, reply.chosen) == ("some", [2])
    part = await entities(family, "eve", "max", about=question("bonn ulm", "parent born_in"), entity=1)
    assert part.keep == "some"
    assert len(part.chosen) == 1
