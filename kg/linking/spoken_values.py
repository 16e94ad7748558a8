"""Dates and durations as people write them: by what else a value is found.

>>> from kgqa.kg.dialects import XSD
>>> spoken_texts(Literal("1971-11-08", f"{XSD}date"))[:2]
('8 November 1971', 'November 8, 1971')
>>> spoken_texts(Literal("PT6H15M", f"{XSD}duration"))
('6 hours and 15 minutes', '6 hours 15 minutes', '375 minutes')
"""

from calendar import month_abbr, month_name
from datetime import date, timedelta
from functools import cache

from pydantic import TypeAdapter

from kgqa.kg.dialects import XSD
from kgqa.kg.terms import Entity, Literal, plain_term

DURATIONS = (f"{XSD}duration", f"{XSD}dayTimeDuration")
DATE = f"{XSD}date"


def spoken_texts(value: Literal) -> tuple[str, ...]:
    """Return what a date or a duration is called beside its lexical form; nothing for other values.

    A duration of months or years is of no certain length, and has no other text.
    """
    try:
        if value.datatype == DATE:
            return _date_texts(date.fromisoformat(value.value))
        if value.datatype in DURATIONS and not {"Y", "M"} & {*value.value.partition("T")[0]}:
            return _duration_texts(_durations().validate_python(value.value))
    except ValueError:
        pass
    return ()


def is_spoken(node: Entity) -> bool:
    """Return whether what stands for a value stands for a date or a duration."""
    value = plain_term(node)
    return isinstance(value, Literal) and value.datatype in {DATE, *DURATIONS}


def _date_texts(day: date) -> tuple[str, ...]:
    months = dict.fromkeys((month_name[day.month], month_abbr[day.month]))
    return tuple(
        text
        for month in months
        for text in (f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}")
    )


def _duration_texts(length: timedelta) -> tuple[str, ...]:
    minutes, seconds = divmod(int(length.total_seconds()), 60)
    if minutes < 0:
        return ()
    hours, rest = divmod(minutes, 60)
    days, left = divmod(hours, 24)
    texts = []
    for parts in (
        [(days, "day"), (left, "hour"), (rest, "minute"), (seconds, "second")],
        [(hours, "hour"), (rest, "minute"), (seconds, "second")],
        [(minutes, "minute"), (seconds, "second")],
    ):
        said = [f"{number} {unit}{'s' * (number != 1)}" for number, unit in parts if number]
        texts += [" and ".join(filter(None, (" ".join(said[:-1]), *said[-1:]))), " ".join(said)]
    return tuple(dict.fromkeys(filter(None, texts)))


@cache
def _durations() -> "TypeAdapter[timedelta]":
    return TypeAdapter(timedelta)
