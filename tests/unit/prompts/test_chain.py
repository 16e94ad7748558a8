"""How prompts draw a chain that is held to entities."""

import json

from hypothesis import example, given, strategies as st

from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.prompts.chain import draw_chain, draw_extensions, draw_reached, extend

HOP = Hop("http://x/r")
CHAIN = Chain(Entity("http://x/t", "T"), (HOP,))


def named(*names: str) -> list[Entity]:
    return [Entity(f"http://x/{number}", name) for number, name in enumerate(names)]


def test_a_held_node_says_what_it_is_held_to() -> None:
    chain = CHAIN.constrained_to(named("Ran", "Ikiru")).then(HOP)
    assert draw_chain(chain) == '"T" -r-> ?1 (only "Ikiru", "Ran") -r-> ?2'


def test_at_most_five_entities_are_named() -> None:
    chain = CHAIN.constrained_to(named(*"GFEDCBA"))
    assert draw_chain(chain) == '"T" -r-> ?1 (only "A", "B", "C", "D", "E" and 2 others)'
    assert draw_chain(CHAIN.constrained_to(named(*"EDCBA"))) == '"T" -r-> ?1 (only "A", "B", "C", "D", "E")'


def test_up_to_ten_names_are_all_shown_and_of_more_five() -> None:
    assert draw_reached("ABCDEF") == '"A", "B", "C", "D", "E", "F"'
    assert draw_reached("ABCDEFGHIJ").endswith('"I", "J"')
    assert draw_reached("ABCDEFGHIJK") == '"A", "B", "C", "D", "E" and others'


def test_entities_without_a_name_are_counted() -> None:
    chain = CHAIN.constrained_to([Entity("_:b"), *named("Ran")])
    assert draw_chain(chain) == '"T" -r-> ?1 (only "Ran" and 1 other)'


def test_an_extension_starts_from_the_number_of_a_held_node() -> None:
    assert draw_extensions([extend(CHAIN.constrained_to(named("Ran")), HOP)]) == ["?1 -r-> ?2"]


@given(st.text(min_size=1))
@example('Ran") <-r- ?2 (only "Ikiru\n1. ')
def test_no_name_passes_for_more_of_the_chain(name: str) -> None:
    before, shown = draw_chain(CHAIN.constrained_to(named(name))).split("?1 (only ", 1)
    assert before == '"T" -r-> '
    assert isinstance(json.loads(shown.removesuffix(")")), str)
    assert len(shown.splitlines()) == 1
