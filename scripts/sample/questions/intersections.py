"""Questions about two topics: which nodes do both lead to?"""

from collections.abc import Iterator
from typing import NamedTuple

from kgqa.scripts.sample.questions.draft import Branch, Draft, Kind, Topic, in_turns, path


class Crossing(NamedTuple):
    """Two branches that meet, and a tail from there; wordings take both names in order."""

    first: tuple[str, str]
    second: tuple[str, str]
    tail: str
    wordings: tuple[str, ...]
    topics: tuple[tuple[str, str], ...]


def drafts() -> Iterator[Draft]:
    """Every pair of topics in one wording, the first of each family in two."""
    for family in CROSSINGS:
        for names, wording in in_turns(family.topics, family.wordings):
            sides = zip((family.first, family.second), names, strict=True)
            branches = tuple(Branch(Topic(kind, name), path(way)) for (kind, way), name in sides)
            text = wording.format(*(branch.topic.mention for branch in branches))
            yield Draft(Kind.INTERSECTION, text, branches, path(family.tail))


CROSSINGS = (
    Crossing(
        ("Country", "borders"),
        ("Country", "borders"),
        "",
        (
            "Which countries lie next to both {} and {}?",
            "Who shares a land border with {} as well as with {}?",
        ),
        (("Brazil", "Peru"), ("France", "Germany"), ("Tanzania", "Uganda"), ("China", "Laos")),
    ),
    Crossing(
        ("Language", "^official_language"),
        ("Continent", "^located_in_continent"),
        "",
        (
            "In which countries of {1} is {0} an official language?",
            "Where in {1} does {0} have official status?",
        ),
        (("Portuguese", "Africa"), ("French", "Europe"), ("English", "Asia"), ("Spanish", "North America")),
    ),
    Crossing(
        ("Currency", "^official_currency"),
        ("Country", "borders"),
        "",
        (
            "Which neighbours of {1} use the {0}?",
            "In which countries bordering {1} do people pay with the {0}?",
        ),
        (("Euro", "Switzerland"), ("Euro", "Hungary"), ("West African CFA Franc", "Ghana")),
    ),
    Crossing(
        ("Person", "^discovered_by"),
        ("ElementGroup", "^element_family"),
        "",
        ("Which of the {1} did {0} discover?", "What members of the {1} are credited to {0}?"),
        (
            ("William Ramsay", "Noble gases"),
            ("Humphry Davy", "Alkaline earths"),
            ("Marie Curie", "Chalcogens"),
        ),
    ),
    Crossing(
        ("Country", "^production_country ^production_record"),
        ("Country", "^production_country ^production_record"),
        "",
        (
            "Of which elements are {} and {} both among the main producers?",
            "Which elements have both {} and {} as leading producers?",
        ),
        (("Chile", "Peru"), ("Canada", "Kazakhstan"), ("South Africa", "Zimbabwe")),
    ),
    Crossing(
        ("Country", "language_usage"),
        ("Language", "^spoken_language"),
        "percent_of_population",
        ("What percentage of people in {} speak {}?", "How large a share of the population of {} knows {}?"),
        (
            ("Kenya", "Swahili"),
            ("Ireland", "Irish"),
            ("Namibia", "Afrikaans"),
            ("Peru", "Quechua"),
            ("Mauritius", "French"),
        ),
    ),
    Crossing(
        ("Country", "currency_usage"),
        ("Currency", "^used_currency"),
        "used_from",
        ("Since when has {} used the {}?", "On what day did {} adopt the {}?"),
        (("Latvia", "Euro"), ("Ecuador", "US Dollar"), ("Ghana", "Ghanaian Cedi"), ("Malta", "Euro")),
    ),
    Crossing(
        ("Country", "currency_usage"),
        ("Currency", "^used_currency"),
        "used_until",
        ("When did {} give up the {}?", "What was the last day of the {1} in {0}?"),
        (("Germany", "German Mark"), ("Italy", "Italian Lira"), ("Estonia", "Estonian Kroon")),
    ),
    Crossing(
        ("Country", "holiday_observance"),
        ("Holiday", "^observed_holiday"),
        "observed_on",
        ("On which date did {} mark {} in 2025?", "When was {1} in {0} in the year 2025?"),
        (("Germany", "Ascension Day"), ("Finland", "Midsummer Day"), ("Mauritius", "Diwali")),
    ),
    Crossing(
        ("Country", "language_usage"),
        ("Language", "^spoken_language"),
        "legal_status",
        ("What legal status does {1} have in {0}?", "How does the law of {0} regard the {1} language?"),
        (("Spain", "Basque"), ("Russia", "Tatar"), ("Malta", "Maltese")),
    ),
)
