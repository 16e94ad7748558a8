"""Steps of gold paths name hops of the graph."""

import pytest

from kgqa.evaluation.simulation.graph_cache import is_hop_named, resolve_hops
from kgqa.kg.terms import Hop
from kgqa.tests.support.wikidata import FACTS
from kgqa.tools.arguments import write_hop

FB = "http://rdf.freebase.com/ns/"
WDT = "http://www.wikidata.org/prop/direct/"
P = "http://www.wikidata.org/prop/"


@pytest.mark.parametrize(
    ("relation", "step"),
    [
        (f"{FB}people.person.parents", "people.person.parents"),
        (f"{FB}people.person.parents", "ns:people.person.parents"),
        ("http://metaqa.org/r/starred_actors", "starred_actors"),
        ("http://metaqa.org/r/starred_actors", "http://metaqa.org/r/starred_actors"),
        ("http://metaqa.org/r/starred_actors", "<http://metaqa.org/r/starred_actors>"),
        (f"{WDT}P112", "wdt:P112"),
        (f"{WDT}P112", "P112"),
        (f"{WDT}P279", "wdt:P279*"),
        ("http://x/r/p", "dbo:p"),
    ],
)
def test_a_relation_has_several_names(relation: str, step: str) -> None:
    assert is_hop_named(Hop(relation), step)
    assert not is_hop_named(Hop(relation, forward=False), step)
    assert is_hop_named(Hop(relation, forward=False), f"^{step}")
    assert not is_hop_named(Hop(relation), f"^{step}")


def test_a_prefix_tells_relations_with_one_local_name_apart() -> None:
    assert not is_hop_named(Hop(f"{P}P54"), "wdt:P54")
    assert is_hop_named(Hop(f"{P}P54"), "p:P54")
    assert is_hop_named(Hop(f"{P}statement/P54"), "ps:P54")
    assert not is_hop_named(Hop(f"{P}P54"), "P54")


def test_a_hop_is_named_so_that_it_is_known_again() -> None:
    for hop in (Hop(f"{P}P54"), Hop(f"{P}P54", forward=False)):
        assert is_hop_named(hop, write_hop(hop))


def test_the_hops_of_a_way_are_those_of_the_graph(graph) -> None:
    towns = graph("e:a r:north_of e:b . e:b r:near e:c .")
    near, north = Hop("http://t/r/near"), Hop("http://t/r/north_of")
    assert resolve_hops(("north_of", "^http://t/r/near"), towns) == (north, near.inverse)
    assert resolve_hops((), towns) == ()
    assert resolve_hops(("north_of", "south_of"), towns) is None


def test_a_property_without_a_prefix_is_the_direct_relation(graph) -> None:
    people = graph(FACTS)
    assert resolve_hops(("P39",), people) == resolve_hops(("wdt:P39",), people) == (Hop(f"{WDT}P39"),)
    assert resolve_hops(("p:P39", "^ps:P39"), people) == (
        Hop(f"{P}P39"),
        Hop(f"{P}statement/P39", forward=False),
    )
    assert resolve_hops(("P99",), people) is None


def test_a_wikibase_of_ones_own_has_its_own_hops(graph) -> None:
    archive = graph("<http://a.test/entity/Q1> <http://a.test/prop/direct/P1> <http://a.test/entity/Q2> .")
    assert resolve_hops(["P1"], archive) == (Hop("http://a.test/prop/direct/P1"),)
