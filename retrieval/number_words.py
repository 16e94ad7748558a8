"""The words for numbers, cardinal and ordinal: the number that each says."""

import re

UNITS = (
    *("one first", "two second", "three third", "four fourth", "five fifth", "six sixth", "seven seventh"),
    *("eight eighth", "nine ninth", "ten tenth", "eleven eleventh", "twelve twelfth", "thirteen thirteenth"),
    *("fourteen fourteenth", "fifteen fifteenth", "sixteen sixteenth", "seventeen seventeenth"),
    *("eighteen eighteenth", "nineteen nineteenth"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

NUMBER_WORDS = {word: number for number, words in enumerate(UNITS, 1) for word in words.split()}
NUMBER_WORDS |= {ten: 10 * number for number, ten in enumerate(TENS, 2)} | {"zero": 0}

ORDINALS = {words.split()[1]: number for number, words in enumerate(UNITS, 1)}
"""The ordinal ones alone, but for those that figures write: `read_ordinal` reads both."""

_SEVERAL = "|".join(sorted({*NUMBER_WORDS} - {*ORDINALS} - {"zero", "one"}))
SEVERAL_ASKED = re.compile(
    rf"\b(?:which|what) ({_SEVERAL}|(?!1\b|(?:1\d|20)\d\d\b)[1-9]\d*)\b(?![-%]|[.,]\d| (?:BC|BCE|AD|CE)\b)",
    re.IGNORECASE,
)
"""How a question asks for several things: by which number, of words or in figures that are no year."""


def read_ordinal(word: str) -> int | None:
    """Return the place that a word says in a row.

    >>> read_ordinal("third"), read_ordinal("21st"), read_ordinal("three"), read_ordinal("1990s")
    (3, 21, None, None)
    """
    figure, ending = word[:-2], word[-2:]
    said = figure.isdigit() and ending in {"st", "nd", "rd", "th"}
    return int(figure) if said else ORDINALS.get(word)
