import pytest
from hypothesis import example, given, strategies as st

from kgqa.priors.masking import TOPIC_MASK, mask_names


@pytest.mark.parametrize(
    ("question", "names", "masked"),
    [
        ("who did JUSTIN bieber marry?", ["Justin Bieber"], "who did [ENT] marry?"),
        ("what is Some Mother's Son about?", ["Some Mother's Son"], "what is [ENT] about?"),
        ("who is Al Gore's wife?", ["Gore", "Al Gore"], "who is [ENT]'s wife?"),
        ("did Al Gore meet Gore Vidal?", ["Al Gore", "Gore Vidal"], "did [ENT] meet [ENT]?"),
        ("is York in New York?", ["New York", "York"], "is [ENT] in [ENT]?"),
        ("who lives in Yorkshire?", ["York"], "who lives in Yorkshire?"),
        ("what is in Washington, D.C.?", ["Washington, D.C."], "what is in [ENT]?"),
        ("what is in washington d.c.?", ["Washington, D.C."], "what is in [ENT]?"),
        ("who sang with Simon and Garfunkel?", ["Simon & Garfunkel"], "who sang with [ENT]?"),
        ("wer war Gauß?", ["GAUSS"], "wer war [ENT]?"),
        ("who is beyonce?", ["Beyonc\u00e9"], "who is [ENT]?"),
        ("who is Beyonce\u0301?", ["Beyonc\u00e9"], "who is [ENT]?"),
        ("who sang Jump (Van  Halen)?", ["Van Halen"], "who sang Jump ([ENT])?"),
        ("the king's guard of the kings", ["king"], "the [ENT]'s guard of the kings"),
        ("a a a", ["a a"], "[ENT] a"),
        ("who?", ["", "?", " "], "who?"),
        ("who?", [], "who?"),
    ],
)
def test_names_are_masked_as_whole_words(question: str, names: list[str], masked: str) -> None:
    assert mask_names(question, names) == masked


@given(st.text(), st.lists(st.text()))
def test_any_text_can_be_masked(question: str, names: list[str]) -> None:
    assert mask_names(question, names) == mask_names(question, reversed(names))


@given(st.text())
@example("\N{HALFWIDTH KATAKANA VOICED SOUND MARK}:0")
def test_a_question_that_is_a_name_is_masked_as_a_whole(name: str) -> None:
    masked = mask_names(name, [name])
    assert masked == name or (
        TOPIC_MASK in masked and not any(map(str.isalnum, masked.replace(TOPIC_MASK, "")))
    )
