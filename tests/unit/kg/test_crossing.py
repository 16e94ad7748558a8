"""Chains go on through nodes without a name in one, and by one of two relations that say the same."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from kgqa.kg.dialects import FB, describes_data
from kgqa.kg.meter import metered
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.tests.support.frontier import written

TOWNS = """
e:ulm rdfs:label "Ulm"@en ; r:mayor e:x1, e:x2 ; r:river e:danube ; r:mark e:x3 .
e:x1 r:person e:ada ; r:since 1990 ; r:of e:ulm . e:x2 r:person e:ben ; r:of e:ulm .
e:ada rdfs:label "Ada"@en ; r:was e:x1 . e:ben rdfs:label "Ben"@en .
e:danube rdfs:label "Danube"@en ; r:passes e:ulm, e:linz . e:linz rdfs:label "Linz"@en .
"""


def chain(*relations: str) -> Chain:
    hops = (Hop(f"http://t/r/{each.removeprefix('^')}", not each.startswith("^")) for each in relations)
    return Chain(Entity("http://t/e/ulm", "Ulm"), tuple(hops))


@pytest.fixture
def towns(turtle: Callable[[str], Path]) -> SparqlGraph:
    return open_graph([turtle(TOWNS)])


async def ways(graph: SparqlGraph, start: Chain, *, paired: bool = False) -> list[str]:
    hops = (await graph.extend_chain(start)).items
    (found,) = await graph.cross_mediators([(start, hops)], pair_inverses=paired)
    return list(map(written, found))


async def test_a_hop_to_nodes_without_a_name_goes_on_to_what_is_behind_them(towns: SparqlGraph) -> None:
    """What they lead back to is left out; one behind which there is nothing else is a way by itself."""
    assert await ways(towns, chain()) == [
        "mark",
        *("mayor person", "mayor since", "mayor ^was"),
        *("^of person", "^of since", "^of ^was"),
        *("^passes", "river"),
    ]


async def test_of_two_relations_that_say_the_same_one_is_offered(
    towns: SparqlGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "^of person" in await ways(towns, chain(), paired=True)  # a few facts may agree by chance
    towns._relations._inverses = None
    monkeypatch.setattr("kgqa.kg.relations.MIN_FACTS_ALIKE", 1)
    both = await asyncio.gather(ways(towns, chain(), paired=True), ways(towns, chain(), paired=True))
    assert both == [["mark", "mayor person", "mayor since", "^passes"]] * 2


async def test_a_way_that_only_leads_back_is_none(towns: SparqlGraph) -> None:
    assert await ways(towns, chain("river")) == ["passes"]


async def test_it_takes_one_query_and_none_where_every_node_has_a_name(towns: SparqlGraph) -> None:
    hops = (await towns.extend_chain(chain())).items
    for some, n in ((hops, 1), ([hop for hop in hops if hop.words in {"river", "passes"}], 0)):
        with metered() as meter:
            await towns.cross_mediators([(chain(), some)])
        assert meter.queries == n


@pytest.mark.parametrize(
    ("relation", "forward", "hidden"),
    [
        ("common.topic.notable_types", True, True),
        ("common.topic.notable_types", False, False),
        ("type.type.instance", True, True),
        ("freebase.valuenotation.is_reviewed", True, True),
        ("dataworld.gardening_hint.replaced_by", False, True),
        ("common.webpage.topic", False, True),
        ("people.person.parents", True, False),
    ],
)
def test_what_describes_the_database(relation: str, forward: bool, hidden: bool) -> None:
    assert describes_data(Hop(f"{FB}{relation}", forward)) is hidden
