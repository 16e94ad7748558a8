"""What a simulated model says comes after a choice of relations, and where it leaves that open."""

from typing import Any

import pytest

from kgqa.evaluation.question import GoldPath
from kgqa.prompts.chain import extend
from kgqa.prompts.pick_relations import PickRelations
from kgqa.tests.support.frontier import pruning
from kgqa.tests.unit.evaluation.simulation.family import FAMILY, Interview, chain, named, question

PATHS = (GoldPath("http://t/e/ann", ("parent",)), GoldPath("http://t/e/bonn", ("^born_in",)))


@pytest.fixture
def family(graph):
    return graph(FAMILY)


async def next_after(about: Interview, topic: str, path: str = "", **options: Any) -> str:
    """What is said to come after the relation picked."""
    at = chain(topic, path)
    hops = (await about.graph.extend_chain(at)).items
    reply: Any = await about.ask(pruning("?", at, hops, 3, outright=True, **options))
    return str(reply.then)


async def next_of_all(about: Interview, *topics: str) -> str:
    """The same of the relations of several topics at once."""
    offers = [
        extend(chain(topic, ""), hop)
        for topic in topics
        for hop in (await about.graph.extend_chain(chain(topic, ""))).items
    ]
    reply: Any = await about.ask(PickRelations("?", tuple(offers), outright=True))
    return str(reply.then)


async def test_it_goes_on_along_the_gold_path_and_stops_at_its_end(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family)
    assert await next_after(about, "ann") == "forward"
    assert await next_after(about, "ann", "mother") == "stop"


async def test_answers_among_others_are_filtered_where_that_is_offered(family) -> None:
    about = Interview(question("max", "parent"), family)
    assert await next_after(about, "ann") == "filter"
    assert await next_after(about, "ann", filtering=False) == ""


async def test_what_is_computed_has_to_be_seen(family) -> None:
    assert await next_after(Interview(question("2", "parent"), family), "ann") == ""


async def test_nothing_is_said_where_nothing_is_picked_or_asked(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family)
    assert await next_after(about, "bob") == ""
    hops = (await family.extend_chain(chain("ann", ""))).items
    reply: Any = await about.ask(pruning("?", chain("ann", ""), hops, 3))
    assert reply.then == ""


async def test_of_several_topics_each_has_its_own_part(family) -> None:
    about = Interview(question("eve", topics=named("ann", "bonn"), paths=PATHS), family)
    assert [await next_after(about, topic) for topic in ("ann", "bonn")] == ["stop", "stop"]


async def test_chains_of_several_topics_are_the_answer_where_all_of_them_meet(family) -> None:
    about = Interview(question("eve", topics=named("ann", "bonn"), paths=PATHS), family)
    assert await next_of_all(about, "ann", "bonn") == "stop"
    assert await next_of_all(about, "ann") == ""


async def test_a_wrong_verdict_is_another_of_those_offered(family) -> None:
    about = Interview(question("bonn", "mother born_in"), family, judge=1.0)
    assert await next_after(about, "ann", "mother") in {"", "filter", "forward"}
    assert await next_after(about, "ann", "mother", filtering=False) in {"", "forward"}
