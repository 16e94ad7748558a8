"""What the slots of a blueprint are called on the graph at hand."""

from kgqa.kg.terms import Hop
from kgqa.nodes.recall_exemplars import relations_by_name

WIKIDATA = "http://www.wikidata.org/prop"


def test_a_number_of_wikidata_stands_for_the_direct_relation() -> None:
    kinds = ("direct/P131", "qualifier/P131", "statement/P131")
    hops = [Hop(f"{WIKIDATA}/{kind}", name=kind) for kind in kinds]
    assert relations_by_name(hops)["P131"] == hops[0]


def test_a_relation_is_known_by_its_name_and_by_the_local_part_of_its_iri() -> None:
    father = Hop("http://x/P22", name="father")
    assert relations_by_name([father]) == {"P22": father, "father": father}


def test_a_name_that_no_slot_can_have_is_left_out() -> None:
    assert relations_by_name([Hop("http://x/up", name="^up"), Hop("http://x/blank", name=" ")]) == {}
