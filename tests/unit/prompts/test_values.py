"""What a reply takes from the candidates, and the value that is computed from them."""

import time

import pytest

from kgqa.kg.terms import Entity, Literal, Term
from kgqa.prompts.candidates import Take, aggregate, check_take, parse_number, taken_terms
from kgqa.tests.unit.prompts.samples import ends, values

ENDS = ends("Ada", "Ben", "Cleo", returning=("Ada",))
XSD = "http://www.w3.org/2001/XMLSchema#"


def literals(*texts: str) -> list[Term]:
    return [Literal(text) for text in texts]


@pytest.mark.parametrize(
    ("take", "chosen", "names"),
    [
        ("all", [], ["Ada", "Ben", "Cleo"]),
        ("others", [], ["Ben", "Cleo"]),
        ("some", [3, 1], ["Cleo", "Ada"]),
        ("count", [], ["Ben", "Cleo"]),
        ("all", [2], ["Ada", "Ben", "Cleo"]),
    ],
)
def test_taken(take: Take, chosen: list[int], names: list[str]) -> None:
    assert [term.name for term in taken_terms(take, chosen, ENDS)] == names


@pytest.mark.parametrize(
    ("take", "texts", "value"),
    [
        ("smallest", ["10", "9", "-2"], "-2"),
        ("smallest", ["2.25", "2.3"], "2.25"),
        ("largest", ["10", "9"], "10"),
        ("smallest", ["2014-07-13", "0476-09-04", "2014-06-12T17:00:00Z"], "0476-09-04"),
        ("largest", ["-0044-03-15", "0001-01-01"], "0001-01-01"),
        ("count", ["x", "y"], "2"),
        ("count", [], "0"),
    ],
)
def test_aggregate(take: Take, texts: list[str], value: str) -> None:
    computed = aggregate(take, literals(*texts))
    assert computed is not None
    assert computed.value == value


def test_nothing_is_computed_where_candidates_themselves_are_the_answer() -> None:
    assert [aggregate(take, literals("1", "2")) for take in ("all", "others", "some")] == [None] * 3


def test_a_count_counts_entities_and_values_alike() -> None:
    assert str(aggregate("count", [Entity("http://x/a"), Literal("1")])) == "2"


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", "12"), ("-0.50", "-0.50"), ("+7", "7"), ("1e3", "1e3"), (".5", "0.5"), ("007", "7")],
)
def test_a_number_is_read(text: str, number: str) -> None:
    assert parse_number(Literal(text)) == parse_number(Literal(number)) is not None


@pytest.mark.parametrize("text", ["", "NaN", "nan", "sNaN", "INF", "-Infinity", "1990-01-01", "0x10", "1,5"])
def test_what_is_no_finite_number_is_none(text: str) -> None:
    assert parse_number(Literal(text, f"{XSD}double")) is None


def test_an_entity_is_no_number_whatever_its_name() -> None:
    assert parse_number(Entity("http://x/7", "7")) is None


@pytest.mark.parametrize("take", ["smallest", "largest"])
@pytest.mark.parametrize("odd", ["NaN", "many", "", "1990-01-01"])
def test_numbers_are_asked_for_only_where_all_are(take: Take, odd: str) -> None:
    check_take(take, [], values("1", "2.5"))
    with pytest.raises(ValueError, match="all numbers"):
        check_take(take, [], values("1", odd))


def test_some_needs_a_choice_and_others_need_others() -> None:
    check_take("some", [1], ENDS)
    check_take("others", [], ENDS)
    with pytest.raises(ValueError, match="at least one"):
        check_take("some", [], ENDS)
    with pytest.raises(ValueError, match="no others"):
        check_take("others", [], ENDS[:1])


@pytest.mark.parametrize("take", ["all", "count"])
def test_all_and_count_need_nothing(take: Take) -> None:
    check_take(take, [], ENDS)


# What a graph may hold, and must not end a question.


@pytest.mark.parametrize("text", ["1e999999999", "-1e999999999", "1e5000", "9" * 5000])
def test_a_number_of_thousands_of_digits_is_none_at_once(text: str) -> None:
    start = time.perf_counter()
    assert parse_number(Literal(text)) is None
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("text", ["1_000", "\u0661\u0662"])
def test_a_number_is_written_as_xsd_writes_it(text: str) -> None:
    assert parse_number(Literal(text)) is None


@pytest.mark.parametrize("take", ["smallest", "largest"])
def test_the_smallest_and_the_largest_are_terms_of_the_graph(take: Take) -> None:
    year = Literal("0476", f"{XSD}gYear")
    assert aggregate(take, [year]) == year


@pytest.mark.parametrize("take", ["smallest", "largest"])
def test_of_nothing_there_is_no_smallest(take: Take) -> None:
    assert aggregate(take, []) is None
