"""An answer is right by id, else by name, numbers by value."""

import pytest
from hypothesis import given, strategies as st

from kgqa.evaluation.question import EntityRef
from kgqa.evaluation.scoring.matching import answer_keys, is_same, merge_duplicates, name_key

FREEBASE = "http://rdf.freebase.com/ns/"
WIKIDATA = "http://www.wikidata.org/entity/"


def named(name: str | None, id: str | None = None, *aliases: str) -> EntityRef:
    return EntityRef(id, name, aliases)


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        (f"{FREEBASE}m.0abc", "m.0abc"),
        (f"{FREEBASE}g.11b6", "ns:g.11b6"),
        (f"{FREEBASE}people.person", "people.person"),
        ("/m/0abc", "m.0abc"),
        ("/g/11b6", f"{FREEBASE}g.11b6"),
        (f"{WIKIDATA}Q42", "Q42"),
        ("https://www.wikidata.org/wiki/Q42", "wd:Q42"),
        ("http://x.org/e/Ulm", "https://x.org/e/Ulm"),
        ("http://x.org/e/K%C3%B6ln", "http://x.org/e/Köln"),
        (" Q42", "Q42"),
        ("urn:x:1", "urn:x:1"),
        ("_:b1", "_:b1"),
    ],
)
def test_an_id_is_the_same_with_and_without_its_namespace(answer: str, gold: str) -> None:
    assert is_same(named("one", answer), named("other", gold))
    assert is_same(named("one", gold), named("other", answer))


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("m.0abc", f"{FREEBASE}m.0abd"),
        ("/m/0abc", "m.0abd"),
        ("Q42", f"{WIKIDATA}Q43"),
        ("http://x.org/e/Ulm", "http://x.org/e/Ulm_2"),
        ("http://x.org/e/Ulm", "http://x.org/r/Ulm"),
        ("urn:x:1", "urn:x:2"),
    ],
)
def test_ids_of_one_scheme_that_differ_are_different_whatever_the_names(answer: str, gold: str) -> None:
    assert not is_same(named("Ulm", answer), named("Ulm", gold))


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        (None, "m.0abc"),
        ("", "m.0abc"),
        ("http://slice.org/e/Ulm", "m.0abc"),
        ("http://slice.org/e/Ulm", "http://other.org/e/Ulm"),
        ("m.0abc", "Q42"),
        ("m.0abc", None),
        ("_:b1", "_:b2"),
        ("17", "Q42"),
        ("urn:x:1", "urn:y:1"),
    ],
)
def test_where_ids_cannot_be_compared_names_decide(answer: str | None, gold: str | None) -> None:
    assert is_same(named("the Ulm!", answer), named("ULM", gold))
    assert not is_same(named("Ulm", answer), named("Bonn", gold))


def test_an_alias_of_the_gold_answer_is_right_and_one_of_the_answer_is_not() -> None:
    assert is_same(named("US"), named("United States", "Q30", "USA", "U.S."))
    assert not is_same(named("Utopia", None, "USA"), named("USA"))


def test_without_a_name_in_common_nothing_is_right() -> None:
    assert not is_same(EntityRef(None, None), EntityRef(None, None))
    assert not is_same(EntityRef(None, " "), EntityRef(None, " "))
    assert not is_same(EntityRef("m.0abc", None), EntityRef(None, "m.0abd"))


@pytest.mark.parametrize(
    "one",
    ["3", "+3", "3.0", "3e0", "0.3e1", "03", "3.", "３"],  # noqa: RUF001
)
def test_a_number_compares_by_value(one: str) -> None:
    assert is_same(EntityRef(one, one), EntityRef("3", "3"))
    assert is_same(EntityRef(one, None), EntityRef(None, "3.00"))
    assert not is_same(EntityRef(one, one), EntityRef("3.01", "3.01"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,000", "1000"),
        ("12,345,678.5", "12345678.50"),
        ("-5", "−5"),
        ("0", "-0"),
        ("0.1", ".1"),
        ("1e999999", "10e999998"),
        ("99999999999999999999.1", "99999999999999999999.10"),
    ],
)
def test_numbers_in_other_writing_are_equal(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)
    assert name_key(one).kind == "number"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3", "-3"),
        ("1,5", "15"),
        ("1,00", "100"),
        ("3", "#3"),
        ("50", "50%"),
        ("$50", "50"),
        ("99999999999999999999.1", "99999999999999999999.2"),
        ("9" * 500, "9" * 499 + "8"),
        ("1", "true"),
        ("0", "no"),
        ("1e9999999", "2e9999999"),
        ("nan", "inf"),
    ],
)
def test_what_is_not_the_same_number_is_different(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1999-01-01", "1999-01-01T00:00:00"),
        ("1999-01-01", "1999-01-01T00:00:00Z"),
        ("1999-01-01", "1999-01-01T00:00:00.000+02:00"),
        ("1999-01-01", "1999-01-01-08:00"),
        ("1999-01-01", "+1999-01-01T00:00:00Z"),
        ("-0044-03-15", "-0044-03-15T00:00:00Z"),
        ("1906-04-18T05:12:00", "1906-04-18 05:12"),
        ("1906-04-18T05:12:00", "1906-04-18T05:12:00Z"),
        ("1906-04-18T05:12:00-08:00", "1906-04-18T13:12:00Z"),
    ],
)
def test_dates_of_one_value_are_equal(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1999", "1999-01-01"),
        ("1999-01", "1999-01-01"),
        ("1999-01-01", "1999-01-02"),
        ("-0044-03-15", "0044-03-15"),
        ("1999-01-01", "1999-01-01T05:00:00"),
        ("1999-01-01", "January 1, 1999"),
        ("1906-04-18T05:12:00", "1906-04-18T05:13:00"),
        ("0001-01-01T01:00:00+09:00", "0001-01-01T02:00:00+09:00"),
        ("1999-01-01T25:00:00", "1999-01-02T01:00:00"),
    ],
)
def test_dates_of_another_value_or_precision_differ(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@pytest.mark.parametrize("value", ["1984", "-1.5", "1,000", "1999-01-01", "yes"])
@pytest.mark.parametrize("wrapping", ['"{}"', "'{}'.", "({})", "['{}'", "“{}”", "{}!", "{}."])
def test_a_value_is_the_same_in_quotes_and_brackets(value: str, wrapping: str) -> None:
    assert name_key(wrapping.format(value)) == name_key(value)


def test_true_is_yes_and_false_is_no() -> None:
    assert name_key("true") == name_key("True") == name_key("YES")
    assert name_key("false") == name_key("No") != name_key("true")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Beatles", "beatles"),
        ("J. R. R. Tolkien", "J R R Tolkien"),
        ("J.R.R. Tolkien", "JRR Tolkien"),
        ("Bridge of the  Gods", "bridge of gods"),
        ("Louis A. Simpson", "louis simpson"),
        ("STRASSE", "straße"),
        ("University of Missouri–Kansas City", "University of Missouri-Kansas City"),
        ("Ｕｌｍ", "ulm"),  # noqa: RUF001
        ("Rock ’n’ Roll", "Rock 'n' Roll"),
        ("caf\u0065\u0301", "café"),
        ("Ul\u200bm", "Ulm"),
        ("UTC−06:00", "UTC-06:00"),
        ("AT&T", "ATT"),
    ],
)
def test_case_punctuation_and_articles_do_not_count_in_names(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café", "cafe"),
        ("C++", "C"),
        ("C*", "C"),
        ("C#", "C"),
        ("Vitamin A", "Vitamin"),
        ("Hepatitis A", "Hepatitis B"),
        ("Windows 3.1", "Windows 31"),
        ("UTC+06:00", "UTC−06:00"),
        ("!!!", "???"),
        ("The The", "The"),
        ("Spider-Man", "Spider Man"),
    ],
)
def test_what_makes_a_difference_counts_in_names(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@given(st.text())
def test_any_text_is_a_name_that_equals_itself_in_capitals_or_not(text: str) -> None:
    assert name_key(text) == name_key(f" {text}\n")
    if text.isascii():
        assert name_key(text.upper()) == name_key(text.lower())


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4))
def test_every_number_equals_its_other_writings(number: object) -> None:
    assert (
        name_key(f"{number}") == name_key(f"{number:e}") == name_key(f"{number:,}") == name_key(f"{number}00")
    )


@given(
    st.sampled_from(["m.0a", f"{FREEBASE}m.0a", "Q1", "x", None]), st.sampled_from(["Ulm", "the ulm", None])
)
def test_an_answer_is_the_same_as_itself(id: str | None, name: str | None) -> None:
    thing = EntityRef(id, name)
    assert is_same(thing, thing) == bool(id or name)


def test_things_are_told_apart_by_id_else_by_name() -> None:
    things = [
        EntityRef("m.0a", "Ulm"),
        EntityRef(f"{FREEBASE}m.0a", "Ulm (city)"),
        EntityRef("m.0b", "Ulm"),
        EntityRef(None, "the Ulm"),
        EntityRef(None, "Ulm"),
        EntityRef("3", "3"),
        EntityRef("3.0", "3.0"),
        EntityRef(None, None),
    ]
    found = merge_duplicates(map(answer_keys, things))
    assert [reading.id and reading.id.local for reading in found] == ["m.0a", "m.0b", "3", None]
    assert found[0].names == (name_key("Ulm"), name_key("Ulm city"))


def test_things_of_one_name_without_an_id_are_one_with_all_of_their_names() -> None:
    things = [named("Ulm", None, "Ulm an der Donau"), named("the Ulm", None, "Hulma")]
    (found,) = merge_duplicates(answer_keys(thing, aliases=True) for thing in things)
    assert found.id is None
    assert found.names == tuple(map(name_key, ("Ulm", "Ulm an der Donau", "Hulma")))


YES, NO, UNKNOWN = named("yes", "true"), named("no", "false"), named("unknown")


@pytest.mark.parametrize(
    ("answer", "right", "wrong"), [(YES, "yes Yes true TRUE", "no false"), (NO, "no No. false", "yes true")]
)
def test_yes_and_no_as_our_records_say_it_are_matched_however_the_gold_is_written(
    answer: EntityRef, right: str, wrong: str
) -> None:
    for word in right.split():
        assert is_same(answer, named(word))
        assert is_same(answer, named(word, word))
        assert is_same(named(word), answer)
    for word in (*wrong.split(), "1", "0", "maybe", "unknown", "Norway", ""):
        assert not is_same(answer, named(word))
        assert not is_same(answer, named(word, word))


@pytest.mark.parametrize("gold", ["yes", "no", "true", "false", "maybe"])
def test_unknown_is_neither_yes_nor_no(gold: str) -> None:
    assert not is_same(UNKNOWN, named(gold))
    assert not is_same(UNKNOWN, named(gold, gold))
    assert is_same(UNKNOWN, named("Unknown"))
