"""Dates and durations as people write them."""

from datetime import date, timedelta

import pytest
from hypothesis import given, strategies as st

from kgqa.kg.dialects import XSD
from kgqa.kg.linking.values import spoken_texts
from kgqa.kg.terms import Literal


@pytest.mark.parametrize(
    ("text", "kind", "spoken"),
    [
        ("2021-05-03", "date", ("3 May 2021", "May 3, 2021")),
        ("PT2H", "duration", ("2 hours", "120 minutes")),
        ("PT120M", "duration", ("2 hours", "120 minutes")),
        ("PT1M", "dayTimeDuration", ("1 minute",)),
        ("P1DT1S", "duration", ("1 day and 1 second", "1 day 1 second", "24 hours and 1 second")),
        ("P1M", "duration", ()),
        ("PT0S", "duration", ()),
        ("-PT2H", "duration", ()),
        ("two hours", "duration", ()),
        ("-0044-03-15", "date", ()),
        ("2021-05-03", "string", ()),
    ],
)
def test_a_value_is_found_by_what_people_write(text, kind, spoken):
    assert spoken_texts(Literal(text, XSD + kind))[: len(spoken) or None] == spoken


@given(st.dates(), st.text())
def test_any_date_and_any_text_has_its_words(day, text):
    day_first, month_first, *_ = spoken_texts(Literal(day.isoformat(), f"{XSD}date"))
    assert day_first.split()[0] == str(day.day) and month_first.endswith(f" {day.day}, {day.year}")
    assert all(spoken_texts(Literal(text, f"{XSD}duration"))) and isinstance(day, date)


@given(st.timedeltas(timedelta(seconds=1), timedelta(days=900)))
def test_equal_lengths_of_time_are_called_alike(length):
    seconds = int(length.total_seconds()) or 1
    minutes, rest = divmod(seconds, 60)
    one, two = (Literal(text, f"{XSD}duration") for text in (f"PT{seconds}S", f"PT{minutes}M{rest}S"))
    assert spoken_texts(one) == spoken_texts(two)
