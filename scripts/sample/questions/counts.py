"""Questions whose answer is the number of things at the end of a path."""

from collections.abc import Iterator
from typing import NamedTuple

from kgqa.scripts.sample.questions.draft import Branch, Draft, Kind, Topic, in_turns, path


class Counting(NamedTuple):
    """A path to the things to count."""

    topic_kind: str
    path: str
    wordings: tuple[str, ...]
    topics: tuple[str, ...]


def drafts() -> Iterator[Draft]:
    """Every topic in one wording, the first of each family in two."""
    for family in COUNTINGS:
        for name, wording in in_turns(family.topics, family.wordings):
            branch = Branch(Topic(family.topic_kind, name), path(family.path))
            yield Draft(Kind.COUNT, wording.format(branch.topic.mention), (branch,))


COUNTINGS = (
    Counting(
        "Country",
        "borders",
        (
            "How many countries does {} border?",
            "How many different countries can be entered by land from {}?",
        ),
        ("China", "Brazil", "Chad", "Germany"),
    ),
    Counting(
        "Person",
        "^discovered_by",
        ("How many elements did {} discover?", "How many chemical elements are to the credit of {}?"),
        ("Jöns Jacob Berzelius", "Glenn Seaborg"),
    ),
    Counting(
        "Language",
        "^official_language",
        (
            "How many countries and territories have {} as an official language?",
            "In how many places is {} official?",
        ),
        ("Spanish", "French", "German"),
    ),
    Counting(
        "Currency",
        "^official_currency",
        (
            "How many countries and territories use the {} today?",
            "In how many places is the {} legal tender?",
        ),
        ("Euro", "Central African CFA Franc"),
    ),
    Counting(
        "City",
        "^serves_city",
        ("How many airports does {} have?", "Among how many airports can a traveller to {} choose?"),
        ("Houston", "Paris"),
    ),
    Counting(
        "Element",
        "^isotope_of",
        ("How many isotopes of {} are known?", "In how many isotopes does {} come?"),
        ("Xenon", "Carbon"),
    ),
    Counting(
        "Country",
        "currency_usage used_currency",
        ("How many different currencies has {} had?", "Through how many currencies has {} gone?"),
        ("Zimbabwe", "Argentina"),
    ),
    Counting(
        "Holiday",
        "^observed_holiday ^holiday_observance",
        ("How many countries have {} as a public holiday?", "In how many countries is {} a day off?"),
        ("Diwali", "International Women's Day"),
    ),
)
