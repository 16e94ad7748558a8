"""Questions for the one at the end of a path that has most or least of something."""

from collections.abc import Iterator
from typing import NamedTuple

from kgqa.scripts.sample.questions.draft import Branch, Draft, Kind, Measure, Topic, in_turns, path


class Ranking(NamedTuple):
    """A path to candidates, and the relation and end of the scale that pick one."""

    topic_kind: str
    path: str
    relation: str
    aggregate: str
    wordings: tuple[str, ...]
    topics: tuple[str, ...]
    tail: str = ""


def drafts() -> Iterator[Draft]:
    """Every topic in one wording, the first of each family in two."""
    for family in RANKINGS:
        measure = Measure(family.relation, family.aggregate)
        for name, wording in in_turns(family.topics, family.wordings):
            branch = Branch(Topic(family.topic_kind, name), path(family.path))
            text = wording.format(branch.topic.mention)
            yield Draft(Kind.SUPERLATIVE, text, (branch,), path(family.tail), measure)


RANKINGS = (
    Ranking(
        "Country",
        "borders",
        "population",
        "MAX",
        (
            "Which neighbour of {} has the most inhabitants?",
            "Of the countries bordering {}, which is the most populous?",
        ),
        ("Nepal", "Bolivia", "Poland"),
    ),
    Ranking(
        "Country",
        "borders",
        "area_km2",
        "MIN",
        (
            "Which neighbour of {} is the smallest by area?",
            "Of all countries next to {}, which covers the least land?",
        ),
        ("France", "South Africa"),
    ),
    Ranking(
        "Country",
        "^located_in_country",
        "population",
        "MAX",
        ("What is the largest city in {}?", "Which city of {} has the most people?"),
        ("Turkey", "Morocco", "Kazakhstan"),
    ),
    Ranking(
        "City",
        "^serves_city",
        "elevation_feet",
        "MAX",
        (
            "Which of the airports of {} lies highest above the sea?",
            "What is the highest of the airports that serve {}?",
        ),
        ("London", "Rio de Janeiro"),
    ),
    Ranking(
        "Person",
        "^discovered_by",
        "melting_point_kelvin",
        "MAX",
        (
            "Which element discovered by {} melts last?",
            "Of the discoveries of {}, which element has the highest melting point?",
        ),
        ("Humphry Davy", "William Hyde Wollaston"),
    ),
    Ranking(
        "ElementGroup",
        "^element_category",
        "discovery_year",
        "MIN",
        ("Which of the {} was discovered first?", "Of the {}, which one has been known longest?"),
        ("Halogens", "Lanthanides"),
    ),
    Ranking(
        "ElementGroup",
        "^element_category",
        "density_g_per_cm3",
        "MAX",
        ("Which of the {} is the densest?", "What is the heaviest for its size among the {}?"),
        ("Alkali metals", "Metalloids"),
    ),
    Ranking(
        "Element",
        "^isotope_of",
        "half_life_seconds",
        "MAX",
        (
            "Which radioactive isotope of {} lives longest?",
            "What is the isotope of {} with the longest half-life?",
        ),
        ("Carbon", "Iodine", "Radium"),
    ),
    Ranking(
        "Country",
        "language_usage",
        "percent_of_population",
        "MAX",
        (
            "Which language is spoken by most people in {}?",
            "What language do the largest number of people in {} know?",
        ),
        ("Tanzania", "Paraguay"),
        tail="spoken_language",
    ),
    Ranking(
        "Country",
        "historical_record",
        "life_expectancy_years",
        "MIN",
        (
            "In which of the recorded years was life expectancy lowest in {}?",
            "When did people in {} live the shortest lives?",
        ),
        ("Cambodia", "Rwanda"),
        tail="record_year",
    ),
)
