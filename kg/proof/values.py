"""Values of the graph as SPARQL compares them: numbers, dates, text.

A value is read from its characters (``STR``), whatever its datatype: Freebase has numbers and dates as plain
strings too, and stores differ in what they compare, what they cast, and what ends a query. Each cast is
guarded by ``IF`` and a regular expression: Virtuoso may look at the second part of ``&&`` first.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal as Choice

from kgqa.kg.dialects import XSD
from kgqa.kg.sparql.patterns import serialise, write_iri
from kgqa.kg.terms import XSD_STRING, Entity, Literal, Term, local_name, plain_term

Kind = Choice["entity", "number", "date", "text"]

_DATES = frozenset(XSD + name for name in ("date", "dateTime", "gYear", "gYearMonth"))
_APPROXIMATE = frozenset(XSD + name for name in ("double", "float"))  # stores write them in several ways

_NUMBER = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$"

_YEAR = "-[0-9]{1,9}|[0-9]{4}"  # Virtuoso writes the year -0427 as -427
_EARLY_YEAR = "[0-9]{1,3}"  # alone: with a month it may be anything
_ZONE = "Z|[+-][0-9]{2}:[0-9]{2}"
_TIME = "T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
_DATE = f"^(({_YEAR})(-[0-9]{{2}}(-[0-9]{{2}}({_TIME})?)?)?|{_EARLY_YEAR})({_ZONE})?$"
_PARTS = re.compile(
    rf"(-?[0-9]{{1,9}})(?:-([0-9]{{2}})(?:-([0-9]{{2}})(?:T([0-9]{{2}}):([0-9]{{2}})(?::([0-9]{{2}})[.0-9]*)?)?)?)?"
    rf"(?:{_ZONE})?"
)
_AFTER_DAY = f"(T.*|{_ZONE})$"

_DAYS_BEFORE_YEAR_1 = 428  # as `bind_seconds` counts them, more than datetime's ordinals
_YEARS_OF_CYCLE, _DAYS_OF_CYCLE = 400, 146_097  # after which the calendar is the same: datetime has no year 0


def kind_of(value: Term) -> Kind:
    """Return what a value is compared as: ``1961`` is a number unless its datatype is one of dates."""
    if isinstance(value, Entity):
        return "entity"
    text = value.value
    if value.language:
        return "text"
    if value.datatype not in _DATES and re.fullmatch(_NUMBER, text):
        return "number"
    if value.datatype not in {*_DATES, XSD_STRING} or not re.fullmatch(_DATE, text):
        return "text"
    return "date" if "T" not in text or _seconds_of(text) is not None else "text"


def year_of(value: Literal) -> int | None:
    """Return the year that a date is in, or that a whole number is."""
    found = re.fullmatch(f"({_YEAR}|{_EARLY_YEAR}(?!-))([-TZ+].*)?", value.value)
    return int(found[1]) if found else None


def date_parts(text: str) -> tuple[int, ...]:
    """Return year, month, day, hour, minute and second of a date, as far as it has them; none of other text.

    >>> date_parts("-0044-03-15"), date_parts("0476"), date_parts("Ides of March")
    ((-44, 3, 15), (476,), ())
    """
    found = _PARTS.fullmatch(text)
    return tuple(int(part) for part in found.groups() if part) if found else ()


def is_comparable(variable: str, kind: Kind) -> str:
    """Write the test that a value of the graph is a number, or a date."""
    return f'REGEX(STR({variable}), "{_NUMBER if kind == "number" else _DATE}")'


def compare(variable: str, operator: str, value: Literal, key: str) -> Iterator[str]:
    """Yield what keeps the values of the graph that compare so with a value; ``key`` is a free variable."""
    kind, text = kind_of(value), serialise(Literal(value.value))
    if operator == "contains":
        yield f"FILTER(isLiteral({variable}) && CONTAINS(LCASE(STR({variable})), LCASE({text})))"
    elif kind == "text":
        yield f"FILTER(isLiteral({variable}) && STR({variable}) {operator} {text})"
    elif operator == "year":
        yield _if_comparable(variable, "date", f"{_year(variable)} = {year_of(value)}")
    elif operator in ("=", "!=") and re.fullmatch("[0-9]{16,}", value.value):  # more digits than a double has
        whole = f'REPLACE(STR({variable}), "^[+]?0*([0-9]+)([.]0*)?$", "$1")'
        yield _if_comparable(variable, "number", f'{whole} {operator} "{value.value.lstrip("0")}"')
    elif kind == "number":
        yield _if_comparable(variable, kind, f"xsd:double(STR({variable})) {operator} xsd:double({text})")
    else:
        yield from _compare_date(variable, operator, value, key)


def _if_comparable(variable: str, kind: Kind, test: str) -> str:
    return f"FILTER(IF({is_comparable(variable, kind)}, {test}, false))"


def _compare_date(variable: str, operator: str, value: Literal, key: str) -> Iterator[str]:
    """Compare a date of the graph by the shorter precision: in its year, its day, or the time of that day."""
    year, rest = year_of(value), re.sub("^-?[0-9]+", "", re.sub(_AFTER_DAY, "", value.value))
    test = f"{_year(variable)} {operator} {year}"
    if rest:
        found = f'REPLACE(REPLACE(STR({variable}), "{_AFTER_DAY}", ""), "^-?[0-9]+", "")'
        within = f'SUBSTR({found}, 1, {len(rest)}) {operator} SUBSTR("{rest}", 1, STRLEN({found}))'
        test = f"IF({_year(variable)} = {year}, {within}, {test})"
    if "T" in value.value:
        yield from bind_seconds(variable, key)
        test = f'IF(CONTAINS(STR({variable}), "T"), {key} {operator} {_seconds_of(value.value)}, {test})'
    yield _if_comparable(variable, "date", test)


def bind_number(variable: str, key: str) -> Iterator[str]:
    """Yield what binds a key to a number of the graph, to 0 for what is none."""
    yield f"BIND(IF({is_comparable(variable, 'number')}, xsd:double(STR({variable})), 0) AS {key})"


def bind_seconds(variable: str, key: str) -> Iterator[str]:
    """Yield what binds a key to the seconds of a date of the graph in UTC; no store compares all dates.

    They are those of the days before, of years that begin in March.
    """
    date, rest, zone, month, early, year, day = (
        f"{key}_{part}" for part in ("date", "rest", "zone", "month", "early", "year", "day")
    )
    local = f'REPLACE(STR({variable}), "^([^T]*)({_ZONE})$", "$1")'  # a zone moves times, and no days
    whole = f'REPLACE({local}, "(T[0-9]{{2}}:[0-9]{{2}})({_ZONE}|)$", "$1:00$2")'
    yield f'BIND(IF({is_comparable(variable, "date")}, {whole}, "0001") AS {date})'
    after = f'REPLACE({date}, "^-?[0-9]+", "")'
    yield f'BIND(CONCAT({after}, SUBSTR("-01-01T00:00:00", STRLEN({after}) + 1)) AS {rest})'
    offset = f"SUBSTR({rest}, STRLEN({rest}) - 5)"
    yield f'BIND(IF(REGEX({rest}, "[+-][0-9]{{2}}:[0-9]{{2}}$"), {offset}, "+00:00") AS {zone})'
    yield f"BIND({_digits(rest, 2)} AS {month})"
    yield f"BIND(IF({month} < 3, 1, 0) AS {early})"
    yield f"BIND({_year(date)} - {early} AS {year})"
    yield (
        f"BIND(FLOOR(365.25 * {year}) - FLOOR(0.01 * {year}) + FLOOR(0.0025 * {year}) "
        f"+ FLOOR(30.6001 * ({month} + 1 + 12 * {early})) + {_digits(rest, 5)} AS {day})"
    )
    east = f"xsd:integer(CONCAT(SUBSTR({zone}, 1, 1), SUBSTR({zone}, 5, 2)))"
    hours = f"{_digits(rest, 8)} - xsd:integer(SUBSTR({zone}, 1, 3))"
    minutes = f"{_digits(rest, 11)} - {east}"
    yield f"BIND(86400 * {day} + 3600 * ({hours}) + 60 * ({minutes}) + {_digits(rest, 14)} AS {key})"


def _digits(variable: str, place: int) -> str:
    return f"xsd:integer(SUBSTR({variable}, {place}, 2))"


def _year(variable: str) -> str:
    return f'xsd:integer(REPLACE(STR({variable}), "^(-?[0-9]+).*$", "$1"))'


def _seconds_of(text: str) -> int | None:
    """Return the seconds of a time of day in UTC, as `bind_seconds` counts them; None if there is no such."""
    year = year_of(Literal(text)) or 0
    cycles = min(0, (year - 1) // _YEARS_OF_CYCLE)
    try:
        moment = datetime.fromisoformat(re.sub("^-?[0-9]+", f"{year - _YEARS_OF_CYCLE * cycles:04}", text))
    except ValueError:
        return None
    days = moment.toordinal() + _DAYS_BEFORE_YEAR_1 + _DAYS_OF_CYCLE * cycles
    east = (moment.utcoffset() or timedelta()) // timedelta(seconds=1)
    return 86_400 * days + 3_600 * moment.hour + 60 * moment.minute + moment.second - east


def is_one_of(variable: str, terms: Sequence[Term]) -> str:
    """Write the test that a node is one of some terms: literals by text, doubles by number too."""
    terms = [*map(plain_term, terms)]
    literals = [term for term in terms if isinstance(term, Literal)]
    iris = [write_iri(term.id)[1:-1] for term in terms if isinstance(term, Entity)]
    ids = ", ".join(serialise(Literal(iri)) for iri in iris)
    texts = ", ".join(serialise(Literal(each.value)) for each in literals)
    tests = [f"isIRI({variable}) && STR({variable}) IN ({ids})"] if ids else []
    tests += [f"isLiteral({variable}) && STR({variable}) IN ({texts})"] if texts else []
    for each in literals:
        if each.datatype in _APPROXIMATE and kind_of(each) == "number":
            cast = f"xsd:{local_name(each.datatype)}"
            number = f"{cast}(STR({variable})) = {cast}({serialise(Literal(each.value))})"
            is_number = f"IF({is_comparable(variable, 'number')}, {number}, false)"
            tests.append(f"DATATYPE({variable}) = <{each.datatype}> && {is_number}")
    return " || ".join(tests)
