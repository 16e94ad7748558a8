import pytest
from hypothesis import given, strategies as st

from kgqa.priors.slots import Blueprint, Slot

NAMES = st.text(min_size=1).filter(lambda name: name.strip() and not name.startswith("^"))


def tree(*branches: str) -> Blueprint:
    return Blueprint.parse([branch.split() for branch in branches])


@given(NAMES, st.booleans())
def test_a_slot_is_read_as_it_is_written(name: str, forward: bool) -> None:
    assert Slot.parse(str(Slot(name, forward))) == Slot(name, forward)


@pytest.mark.parametrize("text", ["", "^", "  ", "^^a"])
def test_a_slot_names_a_relation(text: str) -> None:
    with pytest.raises(ValueError, match="not the name of a relation"):
        Slot.parse(text)


def test_slots_of_an_earlier_branch_are_read_once() -> None:
    assert tree("actor film", "^genre film", "actor").template == "actor -> film -> genre"


def test_the_two_directions_of_a_relation_are_two_slots() -> None:
    assert tree("directed_by ^directed_by").template == "directed_by -> directed_by"


def test_a_branch_may_take_one_relation_twice() -> None:
    assert tree("parent parent").slots == (Slot("parent"), Slot("parent"))


def test_a_topic_without_a_branch_gets_the_linear_reading() -> None:
    blueprint = tree("a b", "c b")
    assert blueprint.branch(1) == (Slot("c"), Slot("b"))
    assert blueprint.branch(2) == blueprint.branch(-1) == (Slot("a"), Slot("b"), Slot("c"))


@pytest.mark.parametrize("branches", [(), ((),), ((Slot("a"),), ())])
def test_a_blueprint_has_branches_and_a_branch_has_slots(branches: tuple[tuple[Slot, ...], ...]) -> None:
    with pytest.raises(ValueError, match="at least one branch"):
        Blueprint(branches)
