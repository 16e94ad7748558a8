"""What is beside a hub costs what is shown of it, however many facts the hub has."""

import time
from collections.abc import Awaitable, Callable

import pytest

from kgqa.kg.opening import open_triples
from kgqa.kg.proof.query import AnswerQuery, Branch
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop

E, R = "http://t/e/", "http://t/r/"
FEW, MANY = 2_000, 200_000
STAFF = 20
TIMES = 6  # a hub of a hundred times as many facts may take; by a plan that reads them it takes forty

COMPANY, LAND = Entity(f"{E}company"), Entity(f"{E}land")
WORKS, CITIZEN = Hop(f"{R}works_for", forward=False), Hop(f"{R}citizen_of")
PEOPLE = [Entity(f"{E}p{n}") for n in range(STAFF)]

Ask = Callable[[SparqlGraph], Awaitable[object]]


@pytest.fixture(scope="module")
def graphs() -> list[SparqlGraph]:
    """Two graphs of a company whose staff are citizens of a land, as are few or many others."""
    return [_made(FEW), _made(MANY)]


def _made(citizens: int) -> SparqlGraph:
    facts = [f"<{E}p{n}> <{R}works_for> <{COMPANY.id}> ." for n in range(STAFF)]
    facts += [f"<{E}p{n}> <{R}citizen_of> <{LAND.id}> ." for n in range(citizens)]
    return open_triples("\n".join(facts).encode(), f"{citizens} citizens")


async def what_is_near(graph: SparqlGraph) -> object:
    chain = Chain(COMPANY, (WORKS,))
    found = await graph.chain_attributes({chain: {1: ()}}, [LAND])
    assert {each.value for each in found[chain].values if each.hops} == {LAND}
    return found


async def what_is_behind_answers(graph: SparqlGraph) -> object:
    chain = Chain(COMPANY, (WORKS, CITIZEN))
    found = await graph.trace_answers(AnswerQuery((Branch(chain, (1, 2)),), 2), [LAND], {0: 2})
    assert len(found.paths[0][0]) == 2
    return found


async def what_is_behind_one_of_many(graph: SparqlGraph) -> object:
    chain = Chain(LAND, (CITIZEN.inverse,))
    found = await graph.trace_answers(AnswerQuery((Branch(chain, (1,)),), 1), PEOPLE[:1], {0: 1})
    assert len(found.paths[0][0]) == 1
    return found


async def what_is_reached(graph: SparqlGraph) -> object:
    chain = Chain(COMPANY, (WORKS, CITIZEN, CITIZEN.inverse))
    assert await graph.reached_ends(chain, [*PEOPLE, COMPANY]) == {*PEOPLE}
    return chain


@pytest.mark.parametrize(
    "ask", [what_is_near, what_is_behind_answers, what_is_behind_one_of_many, what_is_reached]
)
async def test_no_facts_of_a_hub_are_read(ask: Ask, graphs: list[SparqlGraph]) -> None:
    seconds = []
    for graph in graphs:
        await ask(graph)  # what is looked up once
        start = time.process_time()
        for _ in range(5):
            await ask(graph)
        seconds.append(time.process_time() - start)
    assert seconds[1] < TIMES * seconds[0]
