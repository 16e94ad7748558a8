"""Which result belongs to which question."""

from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result, pair_results

ULM, BONN = Question("1", "Where is Ulm?"), Question("2", "Where is Bonn?")


def result(id: str | None, question: str) -> Result:
    return Result(id, question, ())


def test_results_are_joined_by_id() -> None:
    given = result("2", "?")
    assert pair_results([given], [ULM, BONN]).pairs == ((ULM, None), (BONN, given))


def test_results_without_an_id_are_joined_by_the_question() -> None:
    given = result(None, " where is  ULM?")
    assert pair_results([given], [ULM, BONN]).pairs == ((ULM, given), (BONN, None))


def test_an_id_the_dataset_does_not_have_leaves_the_question() -> None:
    given = result("webqsp-1", "Where is Bonn?")
    assert pair_results([given], [ULM, BONN]).pairs[1] == (BONN, given)


def test_the_very_text_goes_before_a_similar_one() -> None:
    small, great = Question("1", "where is ulm?"), Question("2", "Where is Ulm?")
    given = result(None, "Where is Ulm?")
    assert pair_results([given], [small, great]).pairs == ((small, None), (great, given))


def test_the_last_result_of_a_question_counts_in_the_place_of_the_first() -> None:
    first, other, last = result("1", "?"), result("2", "?"), result(None, "Where is Ulm?")
    found = pair_results([first, other, last], [ULM, BONN])
    assert found.matched == ((last, ULM), (other, BONN))
    assert found.pairs == ((ULM, last), (BONN, other))


def test_results_of_no_question_are_unmatched() -> None:
    stranger = result("9", "Where is Rome?")
    found = pair_results([stranger, result("1", "?")], [ULM])
    assert found.unmatched == (stranger,)
    assert len(found.matched) == 2
