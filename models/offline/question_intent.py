"""What a question asks for, by its English words: a number, an extreme, a bound, or yes or no.

>>> intent_by_words("Which of the lanthanides has been known longest?")
QuestionIntent(kind='smallest', by='', back=0, union=False)
"""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from kgqa.kg.sparql.intent import AnswerKind, QuestionIntent
from kgqa.kg.terms import Entity, Term
from kgqa.kg.text import FUNCTION_WORDS, fold
from kgqa.prompts.judge_claim import is_yes_no_question
from kgqa.retrieval.candidate_chains import CandidateChain
from kgqa.retrieval.number_words import SEVERAL_ASKED
from kgqa.retrieval.years import BEFORE_ERA, ERA_YEAR, OF_ERA, era_years, read_era_year


class Modifier(NamedTuple):
    """What a word asks for that asks for an extreme, and of which attribute, as far as that tells."""

    kind: AnswerKind
    of: str


_PEOPLE = "(?:people|inhabitants|residents|citizens|population)"
_LAND = "(?:land|ground|territory|space|surface)"
_FAR = "(?:farthest|furthest|farther|further)(?: to the)?"
_LIFE = "(?:lives?|lived|lasts?|lasted|survives?)"
_DATE = "date"

_CUE_TABLE: tuple[tuple[str, AnswerKind, str], ...] = (
    (r"(?:known|used|been)(?: the| for)* longest", "smallest", _DATE),
    (r"longest[- ](?:known|standing|established)", "smallest", _DATE),
    (rf"(?:most|more|(?:largest|larger|greatest) number of) {_PEOPLE}", "largest", "population"),
    (rf"(?:fewest|fewer|least|less|smallest number of) {_PEOPLE}", "smallest", "population"),
    (r"(?:most|more) (?:densely |heavily )?(?:populous|populated)", "largest", "population"),
    (r"most of the people", "largest", "population"),
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
    (rf"{_LIFE} (?:the )?(?:longest|longer)|longest[- ]lived", "largest", "duration, life"),
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
    (r"fewest|(?<!\bor )fewer|(?<!at )least", "smallest", ""),
    (r"(?<!at )last(?! (?:name|year|week|month|night)\b)", "largest", _DATE),
    (r"first(?! (?:name|lady|language|nation|degree|world war)\b)", "smallest", _DATE),
    (r"(?<!at )most(?! (?:of|famous|likely|common|commonly|important|notable)\b)", "largest", ""),
    (r"(?<!\bor )more(?! about\b)", "largest", ""),
)
"""What is asked for, most telling first. Capitals belong to names: they are no modifier."""

_NUMBERS = ("two", "three", "four", "five", "ten")
_NUMBERED = "".join(rf"(?<!\b{number} )" for number in ("second", "third", *_NUMBERS))
_MODIFIERS = [
    (re.compile(rf"{_NUMBERED}(?<!\d )\b(?:{words})\b(?!(?: \w+)? than\b)"), Modifier(kind, of))
    for words, kind, of in _CUE_TABLE
]
_COUNT = re.compile(r"\bhow (?:many|often)\b|\bthe (?:total )?number of\b(?! people)", re.IGNORECASE)
_COMPARISON = re.compile(
    r"\bor\b|\b(?:between|among|amongst|of|compar\w+)\b.*\band\b|\bmore\b|\b(?:furth|farth)er\b",
    re.IGNORECASE,
)


class Bound(NamedTuple):
    """What values are to be: compared ``by`` with a number, or with a year where they are ``dated``."""

    by: Callable[[Decimal, Decimal], bool]
    value: Decimal
    dated: bool | None  # None where both may be meant


_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_FIGURE = rf"(?P<figure>\d[\d,]*(?:\.\d+)?(?: (?:{'|'.join(_SCALES)})\b)?)"
_BIGGER = "more|larger|bigger|greater|taller|longer|higher|older|heavier|faster|deeper"
_LESS = "less|fewer|smaller|shorter|lower|younger|lighter|slower"
_PLAIN_YEAR = r"(?P<plain>(?:1\d|20)\d\d)\b(?! \w+s\b)"
_NO_UNIT = rf"(?!(?i: (?!(?:{'|'.join(FUNCTION_WORDS)})\b)\w))"
_EARLY_YEAR = rf"(?P<early>\d{{3}})\b(?![.,]\d){_NO_UNIT}"
_YEAR = rf"(?:the year )?(?:{ERA_YEAR}|{_PLAIN_YEAR})"
_ANY_YEAR = rf"(?:the year )?(?:{ERA_YEAR}|{_PLAIN_YEAR}|{_EARLY_YEAR})"
_FIRST = rf"(?:from|between) (?:{OF_ERA} )?\d{{1,6}}(?: ?(?:{BEFORE_ERA}|{OF_ERA}))? (?:to|till|and)"
_DATED = {_YEAR: True, _ANY_YEAR: True, _FIGURE: False}
_BOUNDS = [
    (re.compile(rf"\b(?:{words}) {value}{after}"), by, _DATED.get(value))
    for value, words, after, by in (
        (_ANY_YEAR, "after", "", operator.gt),
        (_ANY_YEAR, "since", "", operator.ge),
        (_ANY_YEAR, "before|prior to", "", operator.lt),
        (_ANY_YEAR, "until", "", operator.le),
        (_ANY_YEAR, "in|during", "(?! or )", operator.eq),
        (_YEAR, "from|between", "", operator.ge),
        (_YEAR, f"by|up to|{_FIRST}", "", operator.le),
        (r"(?P<early>\d{1,4})", "from|between", rf"(?= (?:to|and) \d{{3,4}}\b{_NO_UNIT})", operator.ge),
        (rf"(?P<early>\d{{3,4}})\b{_NO_UNIT}", _FIRST, "", operator.le),
        (_FIGURE, rf"(?:{_BIGGER}) than|over|above|exceeding", "", operator.gt),
        (_FIGURE, rf"(?:{_LESS}) than|under|below", "", operator.lt),
        (_FIGURE, rf"at least|(?:no|not) (?:{_LESS}) than", "", operator.ge),
        (_FIGURE, rf"at most|up to|(?:no|not) (?:{_BIGGER}) than", "(?! or )", operator.le),
        (_FIGURE, "from|between", r"(?= (?:to|and) \d)", operator.ge),
        (_FIGURE, r"(?:from|between) [\d,.]+ (?:to|and)", "", operator.le),
        (_FIGURE, "", rf"(?= (?:\w+ )?or (?:{_BIGGER})\b)", operator.ge),
        (_FIGURE, "", rf"(?= (?:\w+ )?or (?:{_LESS})\b)", operator.le),
    )
]
"""How a question says a bound, whether of a year."""

_PLAIN_FIGURE = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-])")
DENIAL = re.compile(r"\b(?:no|not|never|without|neither|nor)\b|n't\b")
_DENIED_BOUND = re.compile(r"\b(?:no|not|never)\b|n't\b")

_MENTION_BONUS = 10.0  # of each thing that the question names, for a chain that passes it: words count less


def find_modifier(question: str) -> Modifier | None:
    """Return the word that asks for an extreme, of several the one that says most; None without any.

    Nor where it asks for several: "which two peaks are the highest".
    """
    placed = None if SEVERAL_ASKED.search(question) else place_modifier(question)
    return placed[0] if placed else None


def place_modifier(question: str) -> tuple[Modifier, int, int] | None:
    """Return the word that asks for an extreme, and where it begins and ends."""
    text = question[:1].lower() + question[1:]
    found = ((modifier, pattern.search(text)) for pattern, modifier in _MODIFIERS)
    return next(((modifier, *match.span()) for modifier, match in found if match), None)


def place_count(question: str) -> tuple[int, int] | None:
    """Return where the words begin and end that ask for a number of things; None without any."""
    match = _COUNT.search(question)
    return match.span() if match else None


def intent_by_words(question: str) -> QuestionIntent:
    """Guess from its words what a question asks of the ends; ``by`` stays empty.

    The names in it are best masked: "The Last Frontier" asks for nothing.
    """
    if _COUNT.search(question):
        return QuestionIntent("count")
    modifier = find_modifier(question)
    return (
        QuestionIntent(modifier.kind, union=bool(_COMPARISON.search(question)))
        if modifier
        else QuestionIntent()
    )


def find_bounds(question: str) -> list[Bound]:
    """Return the bounds that a question sets to years and numbers; the names in it are best masked.

    What comes after a denial ("did not open after 1990") is none.

    >>> [(str(each.value), each.dated) for each in find_bounds("Which huts of 1,200 m or so opened by 1930?")]
    [('1930', True)]
    >>> [str(each.value) for each in find_bounds("Which towns have more than 2.5 million people?")]
    ['2500000.0']
    """
    return [bound for bound, *_ in place_bounds(question)]


def place_bounds(question: str) -> list[tuple[Bound, int, int]]:
    """Return the bounds that a question sets, and where the words of each begin and end."""
    found: dict[int, tuple[Bound, int, int]] = {}
    text = question[:1].lower() + question[1:]
    denial = _DENIED_BOUND.search(text)
    for pattern, by, dated in _BOUNDS:
        for match in pattern.finditer(text):
            if denial and denial.start() < match.start():
                continue
            value, start = _read_value(match)
            found.setdefault(start, (Bound(by, value, dated), *match.span()))
    return list(found.values())


def _read_value(match: re.Match[str]) -> tuple[Decimal, int]:
    """Return the number that a bound has, and where its figures begin."""
    group = str(match.lastgroup)
    if group in {"before", "after", "of"}:
        return Decimal(read_era_year(match)), match.start(group)
    figure, _, scale = match[group].rstrip(",").partition(" ")
    return Decimal(figure.replace(",", "").rstrip(".")) * _SCALES.get(scale, 1), match.start(group)


def find_figures(question: str) -> list[Bound]:
    """Return the numbers of a question, each as what a value is to equal; the names in it are best masked.

    >>> [(str(each.value), each.dated) for each in find_figures("Which tools of 1969 cost 14 dollars?")]
    [('1969', True), ('14', False)]
    """
    years = [*era_years(question)]
    rest = re.sub(ERA_YEAR, "", question)
    numbers = [found.group() for found in _PLAIN_FIGURE.finditer(rest)]
    figures = [Bound(operator.eq, Decimal(each.number), True) for each in years]
    return figures + [
        Bound(operator.eq, Decimal(each.replace(",", "")), bool(re.fullmatch(_PLAIN_YEAR, each)))
        for each in numbers
    ]


def named_terms(question: str, terms: Iterable[Term], topics: Collection[Term]) -> set[Term]:
    """Return those terms that a question names: its topics, and whatever has its name in it.

    A name of function words alone names nothing.
    """
    folded = f" {fold(question)} "

    def is_named(name: str) -> bool:
        in_question = any(f" {name}{ending} " in folded for ending in ("", "s", "es"))
        return in_question and not FUNCTION_WORDS.issuperset(name.split())

    return {term for term in terms if term in topics or is_named(fold(term.name or ""))}


def find_claimed_chains(
    question: str, rated: Mapping[Entity, Sequence[CandidateChain]]
) -> dict[Entity, list[CandidateChain]]:
    """Return the chains that a question for yes or no asks about; empty where there are none.

    They lead to something else that the question names: what it claims is how the two are joined. A chain
    goes on from there only to something that it names and that is no topic, which has chains of its own.
    """
    if not is_yes_no_question(question):
        return {}
    ends = {end.term for found in rated.values() for each in found for end in each.ends}
    named = named_terms(question, ends, rated.keys())
    claimed = {topic: _chains_to(named, found, set(rated)) for topic, found in rated.items()}
    return claimed if any(claimed.values()) else {}


def _chains_to(
    named: Collection[Term], found: Sequence[CandidateChain], topics: set[Entity]
) -> list[CandidateChain]:
    reached = {
        chain.hops: {end.term for end in each.ends if end.term in named and not end.returning}
        for each in found
        for chain in each.chains
    }
    chains = []
    for each in found:
        hops = each.chain.hops
        # what is named and met before the end, as far as that is known
        passed = set().union(*(reached.get(hops[:size], set()) for size in range(1, len(hops))))
        fresh = reached[hops] - passed
        if fresh - topics if passed else fresh:
            beyond = len((fresh | passed) - topics)
            chains.append(replace(each, share=each.share + _MENTION_BONUS * beyond))
    return chains
