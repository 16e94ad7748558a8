"""Questions that weigh what one topic leads to against what another leads to."""

from collections.abc import Iterator
from typing import NamedTuple

from kgqa.scripts.sample.questions.draft import Branch, Draft, Kind, Measure, Topic, in_turns, path


class Duel(NamedTuple):
    """The same path from two topics, and the measure that decides between its ends."""

    topic_kind: str
    path: str
    relation: str
    aggregate: str
    wordings: tuple[str, ...]
    topics: tuple[tuple[str, str], ...]


def drafts() -> Iterator[Draft]:
    """Every pair of topics in one wording, the first of each family in two."""
    for family in DUELS:
        measure = Measure(family.relation, family.aggregate)
        for names, wording in in_turns(family.topics, family.wordings):
            branches = tuple(Branch(Topic(family.topic_kind, name), path(family.path)) for name in names)
            text = wording.format(*(branch.topic.mention for branch in branches))
            yield Draft(Kind.COMPARISON, text, branches, measure=measure)


DUELS = (
    Duel(
        "Country",
        "capital",
        "population",
        "MAX",
        (
            "Which has more inhabitants, the capital of {} or the capital of {}?",
            "Between the capitals of {} and {}, which is home to more people?",
        ),
        (("Kenya", "Uganda"), ("Norway", "Finland"), ("Chile", "Peru")),
    ),
    Duel(
        "Country",
        "capital",
        "latitude",
        "MAX",
        ("Which capital lies further north, that of {} or that of {}?",),
        (("Iceland", "Norway"), ("Spain", "Turkey"), ("Japan", "South Korea")),
    ),
    Duel(
        "City",
        "^capital",
        "area_km2",
        "MAX",
        (
            "Which country is larger, the one governed from {} or the one governed from {}?",
            "Of the countries ruled from {} and {}, which covers more land?",
        ),
        (("Lima", "Bogotá"), ("Hanoi", "Warsaw")),
    ),
    Duel(
        "City",
        "^serves_city",
        "elevation_feet",
        "MAX",
        ("Which of all the airports of {} and {} is the highest?",),
        (("Quito", "Addis Ababa"), ("Denver", "Mexico City")),
    ),
    Duel(
        "Person",
        "^discovered_by",
        "atomic_number",
        "MAX",
        ("Among the elements found by {} and those found by {}, which has the highest atomic number?",),
        (("Humphry Davy", "William Ramsay"), ("Carl Wilhelm Scheele", "Jöns Jacob Berzelius")),
    ),
)
