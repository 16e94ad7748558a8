from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kgqa.kg.opening import open_graph
from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Hop, Literal, Term
from kgqa.priors.categories import (
    NOTABLE_TYPES,
    RDF_TYPE,
    category_by_relations,
    find_categories,
    find_topic_categories,
)
from kgqa.priors.training_questions import Topic

FB = "http://rdf.freebase.com/ns/"
ULM, BONN, ADA = (Entity(f"http://x/{name}", name) for name in ("Ulm", "Bonn", "Ada"))


class Types:
    """What entities are by each hop, and what was asked."""

    def __init__(self, **types: Sequence[Term]) -> None:
        self._types = types
        self.asked: list[tuple[list[str], Hop]] = []

    async def __call__(self, entities: Sequence[Entity], hop: Hop) -> list[Page[Term]]:
        self.asked.append(([str(entity) for entity in entities], hop))
        return [Page(tuple(self._types.get(str(entity), ()))) for entity in entities]


def named(*names: str) -> list[Entity]:
    return [Entity(f"http://x/kind/{at}", name) for at, name in enumerate(names)]


async def test_what_an_entity_is_notable_for_comes_first_and_is_asked_once_for_all() -> None:
    types = Types(Ulm=named("City/Town/Village"), Bonn=named("Capital"))
    born = Hop(f"{FB}people.person.parents")
    found = await find_categories({ULM: [NOTABLE_TYPES, born], BONN: [NOTABLE_TYPES], ADA: [born]}, types)
    assert found == {ULM: "city/town/village", BONN: "capital", ADA: "person"}
    assert types.asked == [(["Ulm", "Bonn"], NOTABLE_TYPES)]


async def test_a_type_is_asked_where_no_relation_says_one() -> None:
    types = Types(Ulm=named("Town"))
    assert await find_categories({ULM: [Hop("http://x/mayor")], ADA: []}, types) == {ULM: "town"}
    assert types.asked == [(["Ulm", "Ada"], RDF_TYPE)]


async def test_only_relations_that_leave_an_entity_say_its_type() -> None:
    back = Hop(f"{FB}people.person.place_of_birth", forward=False)
    out = Hop(f"{FB}location.location.people_born_here")
    assert await find_categories({ULM: [back, back.inverse.inverse, out]}, Types()) == {ULM: "location"}


@pytest.mark.parametrize(
    ("relations", "label"),
    [
        (["a.b.x", "a.c.x", "a.c.y"], "c"),
        (["z.late_one.x", "a.early.x"], "early"),
        (["common.topic.image", "base.x.y", "user.me.it", "type.object.name"], None),
        (["plain", "one.dot"], None),
        (["a.us_state.x", "a.us_state.x", "b.c.x", "b.c.y"], "c"),
        ([], None),
    ],
)
def test_most_relations_decide_and_then_the_name(relations: list[str], label: str | None) -> None:
    assert category_by_relations(relations) == label


async def test_of_several_types_the_first_by_name_counts_and_none_without_a_name() -> None:
    owl = Entity("http://www.w3.org/2002/07/owl#Thing", "A thing")
    types = Types(
        Ulm=[owl, *named("town", "City [big]")], Bonn=[owl, Entity("http://x/k")], Ada=[Literal("2")]
    )
    found = await find_categories({ULM: [], BONN: [], ADA: []}, types)
    assert found == {ULM: "city big", ADA: "2"}


async def test_topics_are_known_by_id_or_by_name(turtle: Callable[[str], Path]) -> None:
    graph = open_graph(
        [
            turtle(
                f"""
                e:ulm rdfs:label "Ulm" ; a e:town ; r:mayor e:zed .
                e:town rdfs:label "Town" .
                e:zed rdfs:label "Zed" ; <{FB}people.person.parents> e:yan .
                """
            )
        ]
    )
    by_id, by_name = Topic("http://t/e/ulm", "another"), Topic("m.99", "zed")
    unknown, nameless = Topic("m.1", "Nowhere at all"), Topic(None, None)
    found = await find_topic_categories([by_id, by_name, unknown, nameless, by_id], graph)
    assert found == {by_id: "town", by_name: "person"}
