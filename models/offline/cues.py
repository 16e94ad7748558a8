"""English words that ask for a number, the largest or the smallest.

>>> by_words("Which of the lanthanides has been known longest?")
Asked(kind='smallest', by='', back=0, union=False)
"""

import re
from typing import NamedTuple

from kgqa.kg.asked import Asked, Kind


class Cue(NamedTuple):
    """A word that asks for an extreme: where it stands, what it asks for, and of what."""

    text: str
    kind: Kind
    of: str
    """Words for the attribute that it is about, empty where it does not tell."""


_PEOPLE = "(?:people|inhabitants|residents|citizens|population)"
_LAND = "(?:land|ground|territory|space|surface)"
_FAR = "(?:farthest|furthest|farther|further)(?: to the)?"
_LIVES = "(?:lives?|lived|lasts?|lasted|survives?)"
_DATE = "date"

_CUES: tuple[tuple[str, Kind, str], ...] = (
    (
        r"(?:known|used|been)(?: the| for)* longest|longest[- ](?:known|standing|established)",
        "smallest",
        _DATE,
    ),
    (rf"(?:most|more|(?:largest|larger|greatest) number of) {_PEOPLE}", "largest", "population"),
    (rf"(?:fewest|fewer|least|less|smallest number of) {_PEOPLE}", "smallest", "population"),
    (
        r"(?:most|more) (?:densely |heavily )?(?:populous|populated)|most of the people",
        "largest",
        "population",
    ),
    (r"(?:least|less) (?:densely |heavily )?(?:populous|populated)", "smallest", "population"),
    (rf"(?:most|more) {_LAND}", "largest", "area"),
    (rf"(?:least|less) {_LAND}", "smallest", "area"),
    (rf"{_FAR} north|northernmost|most northern", "largest", "latitude"),
    (rf"{_FAR} south|southernmost|most southern", "smallest", "latitude"),
    (rf"{_FAR} east|easternmost|most eastern", "largest", "longitude"),
    (rf"{_FAR} west|westernmost|most western", "smallest", "longitude"),
    (r"youngest|younger", "largest", "date of birth"),
    (r"oldest|older|eldest", "smallest", "date of birth, date founded"),
    (r"most recent(?:ly)?|more recent(?:ly)?|latest|newest|newer", "largest", _DATE),
    (r"earliest|earlier|most ancient", "smallest", _DATE),
    (rf"{_LIVES} (?:the )?(?:longest|longer)|longest[- ]lived", "largest", "duration, life"),
    (r"tallest|taller|highest|higher", "largest", "height, elevation"),
    (r"lowest|lower", "smallest", "height, elevation"),
    (r"deepest|deeper", "largest", "depth"),
    (r"longest|longer", "largest", "length, duration"),
    (r"shortest|shorter", "smallest", "length, height, duration"),
    (r"heaviest|heavier", "largest", "weight, mass"),
    (r"lightest|lighter", "smallest", "weight, mass"),
    (r"richest|richer|wealthiest", "largest", "wealth, income"),
    (r"poorest|poorer", "smallest", "wealth, income"),
    (r"hottest|hotter|warmest|warmer", "largest", "temperature"),
    (r"coldest|colder|coolest", "smallest", "temperature"),
    (r"fastest|faster|quickest", "largest", "speed"),
    (r"slowest|slower", "smallest", "speed"),
    (r"cheapest|cheaper|least expensive", "smallest", "price, cost"),
    (r"most expensive|costliest", "largest", "price, cost"),
    (r"densest|denser", "largest", "density"),
    (r"largest|larger|biggest|bigger|greatest|greater|maximum", "largest", "size, area"),
    (r"smallest|smaller|tiniest|minimum", "smallest", "size, area"),
    (r"fewest|fewer|(?<!at )least", "smallest", ""),
    (r"(?<!at )last(?! (?:name|year|week|month|night)\b)", "largest", _DATE),
    (r"first(?! (?:name|lady|language|nation|degree|world war)\b)", "smallest", _DATE),
    (
        r"(?<!at )most(?! (?:of|famous|likely|common|commonly|important|notable)\b)|more(?! about\b)",
        "largest",
        "",
    ),
)
"""What is asked for, most telling first. Capitals belong to names: they are no cue."""

_NUMBERED = "".join(
    rf"(?<!\b{number} )" for number in ("second", "third", "two", "three", "four", "five", "ten")
)
_CUE = re.compile(
    "|".join(
        rf"(?P<c{at}>{_NUMBERED}(?<!\d )\b(?:{cue})\b(?!(?: \w+)? than\b))"
        for at, (cue, *_) in enumerate(_CUES)
    )
)
_COUNT = re.compile(r"\bhow (?:many|often)\b|\bthe (?:total )?number of\b(?! people)", re.IGNORECASE)
_COMPARED = re.compile(
    r"\bor\b|\b(?:between|among|amongst|of|compar\w+)\b.*\band\b|\bmore\b|\b(?:furth|farth)er\b",
    re.IGNORECASE,
)


def find_cue(question: str) -> Cue | None:
    """Give the word that asks for an extreme; of several the one that says most, None where there is none."""
    text = question[:1].lower() + question[1:]
    found = [(int(match.lastgroup[1:]), match) for match in _CUE.finditer(text) if match.lastgroup]
    if not found:
        return None
    at, match = min(found, key=lambda each: (each[0], each[1].start()))
    return Cue(match[0], _CUES[at][1], _CUES[at][2])


def by_words(question: str) -> Asked:
    """Guess from its words what a question asks of the ends; ``by`` stays empty.

    The names in it are best masked: "The Last Frontier" asks for nothing.
    """
    if _COUNT.search(question):
        return Asked("count")
    if (cue := find_cue(question)) is None:
        return Asked()
    return Asked(cue.kind, union=_COMPARED.search(question) is not None)
