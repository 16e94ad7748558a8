"""What a simulated model composes."""

from collections.abc import Callable

import pytest

from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.simulation.error_rates import ErrorRates
from kgqa.evaluation.simulation.model import SimulatedModel
from kgqa.kg.pages import Candidate
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.prompts.compose_query import ComposedQuery, ComposeQuery, OfferedChain

ADA = Entity("http://t/e/ada", "Ada")
FACTS = """
e:ada rdfs:label "Ada" ; r:child e:ben, e:cy ; r:friend e:dora .
e:ben rdfs:label "Ben" ; r:home e:ulm . e:cy rdfs:label "Cy" ; r:home e:bonn . e:dora rdfs:label "Dora" .
e:ulm rdfs:label "Ulm" . e:bonn rdfs:label "Bonn" .
"""
ALL = {"ben": "Ben", "cy": "Cy", "dora": "Dora", "ulm": "Ulm", "bonn": "Bonn"}

Open = Callable[[str], SparqlGraph]


def offered(relations: str, *ends: str) -> OfferedChain:
    hops = tuple(Hop(f"http://t/r/{relation}") for relation in relations.split())
    found = tuple(Candidate(Entity(f"http://t/e/{end}", ALL[end])) for end in ends)
    return OfferedChain(Chain(ADA, hops), found, passed=((),) * (len(hops) - 1))


CHILDREN, FRIENDS = offered("child", "ben", "cy"), offered("friend", "dora")
HOMES = offered("child home", "ulm", "bonn")


async def reply(
    graph: SparqlGraph,
    prompt: ComposeQuery,
    *gold: str,
    path: tuple[str, ...] = ("child",),
    rates: ErrorRates | None = None,
) -> ComposedQuery:
    answers = tuple(EntityRef(f"http://t/e/{each}", ALL[each]) for each in gold)
    paths = (GoldPath(ADA.id, path),)
    question = Question("q", prompt.question, (EntityRef(ADA.id, "Ada"),), (answers,), paths)
    return (await SimulatedModel(question, graph, rates or ErrorRates()).ask(prompt)).reply


async def test_the_gold_chain_is_composed(graph: Open) -> None:
    said = await reply(graph(FACTS), ComposeQuery("Who?", (FRIENDS, CHILDREN)), "ben", "cy")
    assert said == ComposedQuery(chains=[[2]])


async def test_a_node_on_the_way_is_the_answer_where_only_a_longer_chain_is_offered(graph: Open) -> None:
    said = await reply(graph(FACTS), ComposeQuery("Who?", (FRIENDS, HOMES)), "ben", "cy")
    assert (said.chains, said.answer) == ([[2]], "?2a")


async def test_what_is_named_on_the_way_tells_nodes_apart(graph: Open) -> None:
    said = await reply(graph(FACTS), ComposeQuery("Which child of Ada has a home in Ulm?", (HOMES,)), "ben")
    assert (said.answer, [(each.attribute, each.value) for each in said.conditions]) == (
        "?1a",
        [("?1", "Ulm")],
    )


async def test_what_nothing_tells_is_chosen_by_name(graph: Open) -> None:
    said = await reply(graph(FACTS), ComposeQuery("Which?", (CHILDREN,)), "cy")
    assert (said.chains, said.chosen, said.words) == ([[1]], ['"Cy"'], "Which?")


async def test_what_leads_on_and_is_not_offered_is_missing_until_it_was_looked_for(graph: Open) -> None:
    path = ("child", "home")
    prompt = ComposeQuery("Where?", (FRIENDS, CHILDREN))
    said = await reply(graph(FACTS), prompt, "ulm", "bonn", path=path)
    assert (said.chains, said.missing) == ([[2]], "home")
    final = ComposeQuery("Where?", (FRIENDS, CHILDREN), final=True)
    assert await reply(graph(FACTS), final, "ulm", "bonn", path=path) == ComposedQuery(chains=[])


@pytest.mark.parametrize(
    ("rates", "chains"),
    [
        (ErrorRates(accuracy=0, recall=0), []),
        (ErrorRates(accuracy=0, recall=1), [[2]]),
        (ErrorRates(accuracy=0, judge=1), [[1]]),
        (ErrorRates(judge=1), []),
    ],
)
async def test_a_wrong_chain_is_taken_by_a_wrong_verdict(
    graph: Open, rates: ErrorRates, chains: list[list[int]]
) -> None:
    said = await reply(graph(FACTS), ComposeQuery("Who?", (FRIENDS, CHILDREN)), "ben", "cy", rates=rates)
    assert said.chains == chains
