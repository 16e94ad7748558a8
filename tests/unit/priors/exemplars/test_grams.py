import numpy as np
import pytest

from kgqa.priors.hop_model import Vocabulary, count_grams, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who was [ENT]’s wife?", ["who", "was", "[ent]", "'s", "wife"]),
        ("did [OTHER] meet [ENT]?", ["did", "[other]", "meet", "[ent]"]),
        ("[x 1]'so", ["x", "1", "so"]),
        ("?", []),
    ],
)
def test_words_masks_and_the_genitive_are_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_runs_of_one_to_three_words_are_counted() -> None:
    assert count_grams("a b a b") == {"a": 2, "b": 2, "a b": 2, "b a": 1, "a b a": 1, "b a b": 1}


def test_runs_that_one_question_has_are_not_looked_at() -> None:
    assert Vocabulary.of(["a b", "a c", "b d", "a b"]).terms == ("a", "b")


def test_a_row_is_tf_idf_of_length_one() -> None:
    vocabulary = Vocabulary.of(["a b", "a c", "b d", "a e"])
    idf = [np.log(5 / 4) + 1, np.log(5 / 3) + 1]
    assert vocabulary.weights == pytest.approx(idf)
    row = vocabulary.row("A a, b; x")
    expected = np.array([(1 + np.log(2)) * idf[0], idf[1]])
    assert row.places.tolist() == [0, 1]
    assert row.values == pytest.approx(expected / np.linalg.norm(expected))


def test_a_text_of_unknown_words_is_a_row_of_nothing() -> None:
    row = Vocabulary.of(["a", "a b"]).row("x y")
    assert (row.places.tolist(), row.values.tolist()) == ([], [])
