"""Two plans agree if they name the same things."""

from random import Random

import pytest
from hypothesis import given, strategies as st

from kgqa.priors.answer_agreement import answer_key, is_unanswered, normalise_answer

ULM = "http://t/e/ulm"

names = st.lists(st.text(max_size=20), max_size=6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(["Ulm", "Bonn"], ["bonn", "ULM", "Ulm"], id="a set of names"),
        pytest.param(["The Hague"], ["Hague."], id="article and punctuation"),
        pytest.param(["U.S."], ["u s"], id="punctuation inside"),
        pytest.param(["Ulm (Germany)"], ["ulm, germany"], id="brackets"),
        pytest.param(["\uff35lm"], ["Ulm"], id="width"),
        pytest.param(["São Paulo"], ["Sao Paulo"], id="accents on Latin letters"),
        pytest.param(["Straße"], ["STRASSE"], id="case folding"),
        pytest.param(["Bonnie & Clyde"], ["Bonnie and Clyde"], id="ampersand"),
        pytest.param(["1,000"], ["1000.0"], id="thousands"),
        pytest.param([".5"], ["0.50"], id="decimals"),
        pytest.param(["1e3"], ["+1000"], id="exponent"),
        pytest.param(["(1990)."], ["1990"], id="a number in brackets"),
        pytest.param(["−3"], ["-3"], id="minus sign"),
        pytest.param(["-0"], ["0"], id="zero"),
        pytest.param(["1e999999"], ["10e999998"], id="a number too large for a float"),
        pytest.param(["東京"], [" 東京。"], id="other scripts"),
        pytest.param(["か\u3099"], ["が"], id="one letter in two ways"),
        pytest.param(["Ulm", "unknown"], ["Ulm"], id="what names nothing is no answer"),
        pytest.param(["Unknown"], [], id="without an answer"),
        pytest.param(["none"], ["No answer."], id="without an answer, in two ways"),
    ],
)
def test_plans_agree(one: list[str], other: list[str]) -> None:
    assert answer_key(one) == answer_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(["no"], ["Norway"], id="no part of a word"),
        pytest.param(["no"], ["unknown"], id="no is an answer"),
        pytest.param(["1990"], ["19901"], id="no part of a number"),
        pytest.param(["Paris"], ["Paris Hilton"], id="no part of a name"),
        pytest.param(["Ulm"], ["Ulm", "Bonn"], id="one of two"),
        pytest.param(["Ulm, Bonn"], ["Ulm", "Bonn"], id="a name is not taken apart"),
        pytest.param(["東京"], ["京都"], id="Chinese characters"),
        pytest.param(["Москва"], ["Минск"], id="Cyrillic"),
        pytest.param(["東京"], ["Tokyo"], id="another script"),
        pytest.param(["ハハ"], ["パパ"], id="marks on Japanese letters"),
        pytest.param(["की"], ["का"], id="vowel signs"),
        pytest.param(["C"], ["C++"], id="symbols"),
        pytest.param(["♥"], ["♦"], id="symbols alone"),
        pytest.param(["!!!"], [], id="punctuation alone"),
        pytest.param(["-5"], ["5"], id="sign"),
        pytest.param(["0.5"], ["5"], id="decimal point"),
        pytest.param(["1,00"], ["100"], id="a comma that parts no thousands"),
        pytest.param(["1" * 40], ["1" * 39 + "2"], id="numbers alike in their first digits"),
        pytest.param(["Unknown Soldier"], ["Soldier"], id="unknown in a name"),
    ],
)
def test_plans_do_not_agree(one: list[str], other: list[str]) -> None:
    assert answer_key(one) != answer_key(other)


def test_names_of_one_entity_are_one_answer() -> None:
    ids = {normalise_answer(name): ULM for name in ("The Ulm", "Ulma")}
    assert answer_key(["ulm"], ids) == answer_key(["Ulma", "ULM"], ids) == {ULM}
    assert answer_key(["Bonn", "Ulm"], ids) == {ULM, "bonn"}


@pytest.mark.parametrize(
    "answers", [[], [""], [" \n"], ["Unknown."], ["null", "NONE"], ["Nothing"], ["no answer"]]
)
def test_a_plan_without_an_answer(answers: list[str]) -> None:
    assert is_unanswered(answers)


@pytest.mark.parametrize("answers", [["no"], ["Norway"], ["0"], ["none", "Ulm"], ["Unknown Soldier"], ["?"]])
def test_a_plan_with_an_answer(answers: list[str]) -> None:
    assert not is_unanswered(answers)


@given(names, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_count(answers: list[str], random: Random) -> None:
    shuffled = random.sample(answers * 2, len(answers) * 2)
    assert answer_key(shuffled) == answer_key(answers)


@given(names)
def test_a_plan_is_unanswered_if_all_of_its_answers_are(answers: list[str]) -> None:
    assert is_unanswered(answers) == all(is_unanswered([answer]) for answer in answers)


@given(st.text(max_size=20))
def test_a_name_is_not_a_part_of_itself(name: str) -> None:
    assert answer_key([f"{name} zeta"]) != answer_key([name])


@given(*[st.text("東京都阪мсквиня나라かが", min_size=1, max_size=4)] * 2)
def test_names_in_other_scripts_are_told_apart(one: str, other: str) -> None:
    assert (answer_key([one]) == answer_key([other])) == (one == other)


@given(st.integers(), st.integers())
def test_numbers_compare_by_value(one: int, other: int) -> None:
    written = [answer_key([text]) for text in (str(one), f"{one:,}", f"{one}.00", f'"{one}".')]
    assert len(set(written)) == 1
    assert (answer_key([str(other)]) == written[0]) == (one == other)
