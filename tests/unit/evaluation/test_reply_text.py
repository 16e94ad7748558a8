"""What published replies answer, read honestly."""

import pytest
from hypothesis import given, strategies as st

from kgqa.evaluation.result_files import extract_answers


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        ('{"A": {"Sufficient": "Yes", "Answer": "Danube"}, "R": "x"}', ("Danube",)),
        ('{"Answer": "Danube"}', ("Danube",)),
        ('{"Answer": ["Danube", "Iller"]}', ("Danube", "Iller")),
        ('{"Answer": "Danube, Iller and Blau"}', ("Danube", "Iller", "Blau")),
        ('{"Answer": "Danube/Donau"}', ("Danube", "Donau")),
        ('{"Answer": "Sandland"}', ("Sandland",)),
        ('{"Answer": ["Mann, Thomas", "Mann, Thomas"]}', ("Mann, Thomas",)),
        ('{"Answer": 1999}', ("1999",)),
        ('{"Answer": [true, null, 2.5, ["x"]]}', ("true", "2.5")),
        ('{"Answer": ""}', ()),
        ('{"Answer": null}', ()),
        ('```json\n{"Answer": "Ulm"}\n```', ("Ulm",)),
        ('{"A": {"Answer": "Ulm"} and so "Answer": "Bonn"', ("Bonn",)),
        ('{"Answer": "the \\"Old\\" town", oops', ('the \\"Old\\" town',)),
        ('{"Answer": [\'Ulm\', "Bonn"], oops}', ("Ulm", "Bonn")),
        ('{"R": "nothing"}', ()),
        ("{Yes}. It is {Ulm, Bonn}.", ("Ulm", "Bonn")),
        ("{No}. I do not know.", ()),
        ("Ulm, Bonn", ("Ulm", "Bonn")),
        ("", ()),
    ],
)
def test_a_reply_is_read(reply: str, answers: tuple[str, ...]) -> None:
    assert extract_answers(reply) == answers


def test_a_name_in_the_chains_of_the_record_is_not_split() -> None:
    chains = [[[["Ann", "lives_in", "Trinidad and Tobago"], ["Ann", "likes", "Ulm"]]]]
    reply = '{"Answer": "Trinidad and Tobago"}'
    assert extract_answers(reply, chains) == ("Trinidad and Tobago",)
    assert extract_answers(reply) == ("Trinidad", "Tobago")


@pytest.mark.parametrize("chains", [None, 3, "Ulm and Bonn is here", {"Ulm and Bonn": 1}, [[], [[None]]]])
def test_chains_of_any_shape_do_no_harm(chains: object) -> None:
    assert extract_answers("Ulm and Bonn", chains) == ("Ulm", "Bonn")


@given(st.text(alphabet='{}[]"\\:, AnswerYesNo\n', max_size=60) | st.text())
def test_any_text_gives_distinct_answers_that_are_not_blank(text: str) -> None:
    answers = extract_answers(text)
    assert all(answer and answer == answer.strip() for answer in answers)
    assert len(set(answers)) == len(answers)
