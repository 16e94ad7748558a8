"""What kind of answer is asked for, and what kind ways lead to."""

import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Entity, Literal
from kgqa.models.offline import chain_ranking

DATE = "http://www.w3.org/2001/XMLSchema#date"
YEAR, DAY, NUMBER = Literal("1952"), Literal("1952-03-11", DATE), Literal("52")
ANN = Entity("http://t/e/ann", "Ann")


@pytest.mark.parametrize(
    ("question", "when", "whom"),
    [
        ("When was [ENT] born?", True, False),
        ("what year did [ENT] win?", True, False),
        ("who is [ENT] married to?", False, True),
        ("where does [ENT] live?", False, True),
        ("what languages does [ENT] speak?", False, False),
        ("who were [ENT]'s parents?", False, True),
        ("what does [ENT] do?", False, False),
    ],
)
def test_question_words_say_what_is_asked_for(question: str, when: bool, whom: bool) -> None:
    assert chain_ranking.asks_when(question) == when
    assert chain_ranking.asks_who_or_where(question) == whom


def test_a_year_is_a_date_and_a_number_only_a_value() -> None:
    ends = [Candidate(term) for term in (YEAR, DAY, NUMBER, ANN)]
    assert chain_ranking.literal_share(ends) == 0.75
    assert chain_ranking.date_share(ends) == 0.5


def test_no_ends_are_of_no_kind() -> None:
    assert chain_ranking.literal_share([]) == chain_ranking.date_share([]) == 0
