import pytest
from hypothesis import given, strategies as st

from kgqa.priors.masking import mask_names, mask_topic


@pytest.mark.parametrize(
    ("question", "topic", "others", "expected"),
    [
        ("did Al Gore meet Bob?", "Al Gore", ["Bob"], "did [ENT] meet [OTHER]?"),
        ("did Al Gore meet Bob?", "Bob", ["Al Gore"], "did [OTHER] meet [ENT]?"),
        ("did Al Gore meet Gore Vidal?", "Gore", ["Gore Vidal"], "did Al [ENT] meet [OTHER]?"),
        ("who is Ann?", "Ann", ["ANN"], "who is [ENT]?"),
        ("who met Bob?", None, ["Bob"], "who met [OTHER]?"),
        ("who?", "", [""], "who?"),
        ("what is in Washington, D.C.?", "Washington, D.C.", [], "what is in [ENT]?"),
    ],
)
def test_the_topic_and_the_others_are_told_apart(
    question: str, topic: str | None, others: list[str], expected: str
) -> None:
    assert mask_topic(question, topic, others) == expected


@pytest.mark.parametrize(
    ("question", "name", "expected"),
    [
        ("what did wagner compose?", "Richard Wagner", "what did [ENT] compose?"),
        ("where did martin luther king die?", "Martin Luther King, Jr.", "where did [ENT] die?"),
        ("who is in revenge of the sith?", "Star Wars III: Revenge of the Sith", "who is in [ENT]?"),
        ("who held the siege of vicksburg?", "Battle of Vicksburg", "who held the siege of [ENT]?"),
        ("what country is old?", "New Country", "what country is old?"),
        ("who is the one of the two?", "Lord of the Rings", "who is the one of the two?"),
        ("who is al?", "Al Gore", "who is al?"),
        ("where is the fbi?", "Federal Bureau of Investigation", "where is the [ENT]?"),
        ("what do russians speak?", "Russia", "what do [ENT] speak?"),
        ("what country is it?", "Countries", "what country is it?"),
    ],
)
def test_a_part_of_a_name_is_masked_where_the_name_does_not_occur(
    question: str, name: str, expected: str
) -> None:
    assert mask_topic(question, name, []) == expected


def test_the_longest_part_is_masked() -> None:
    assert mask_topic("is york in new york?", "New York City", []) == "is york in [ENT]?"


@given(st.text(), st.none() | st.text(), st.lists(st.text()))
def test_any_text_can_be_masked_and_the_order_of_the_others_makes_no_difference(
    question: str, topic: str | None, others: list[str]
) -> None:
    assert mask_topic(question, topic, others) == mask_topic(question, topic, reversed(others))


@given(st.text())
def test_a_question_that_is_a_name_is_masked_as_blueprints_mask_it(name: str) -> None:
    assert mask_topic(name, name, []) == mask_names(name, [name])
