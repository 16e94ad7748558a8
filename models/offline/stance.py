"""Do relations say what a claim says, or the opposite? By their words."""

import re
from collections.abc import Sequence

from kgqa.models.offline.sides import content
from kgqa.models.offline.stems import shared_stems
from kgqa.models.offline.words import Encode, likeness

ALIKE = 0.35
"""Likeness from which a relation says what a question claims."""

STEM = 0.5
"""Part of its letters that a word of the question shares with one of a relation that says the same."""

DENIAL = re.compile(r"\b(?:not|no|non|never|without|cannot|lacks?|\w+n t)\b")
"""What turns what a text says into its opposite."""

_LINKS = re.compile(r"\b(?:kind|type|subclass|instance|part) of\b|\bis a\b|\blocated (?:in|on|at)\b")
"""What a claim need not say: it says "of a gene on it", "of insects"."""

_USE = re.compile(
    r"\b(?:used|taken|given|prescribed|recommended|suitable|good|effective) (?:for|against|in)\b"
)
"""What says of a thing that it treats another."""

_OPPOSITES = tuple(
    (re.compile(rf"\b(?:{one})"), re.compile(rf"\b(?:{other})"))
    for one, other in (
        (
            r"contraindicat|avoid|harmful",
            r"indicat|treat|safe|suit|recommend|use[ds]?\b|tak(?:e|ing)\b|prescrib",
        ),
        (r"inhibit|block|suppress|antagoni", r"activat|stimulat|induc|agoni"),
        (r"increas|rais|worsen", r"decreas|reduc|lower|reliev"),
        (r"prevent|protect", r"caus|lead"),
    )
)
"""Beginnings of words that say the opposite of each other."""


def stance(claim: str, moves: Sequence[str], encode: Encode) -> bool | None:
    """Tell whether relations one after the other say what a claim says, or its opposite; None: neither.

    Args:
        claim: a question in lower case, with "it" for the names in it.
        moves: what leads from one thing that it names to the other, in words.
        encode: a sentence encoder; blocks.
    """
    said = [(move, _said(claim, move, encode)) for move in moves]
    told = [each for move, each in said if each is not None or not _LINKS.search(move)]
    return None if None in told or not told else all(told)


def _said(claim: str, move: str, encode: Encode) -> bool | None:
    opposite = any(_beside(claim, move, *pair) or _beside(move, claim, *pair) for pair in _OPPOSITES)
    bare, words = (DENIAL.sub(" ", text) for text in (claim, move))
    if not opposite and not any(_alike(text, words, encode) for text in {bare, _USE.sub("treat", bare)}):
        return None
    denied = (DENIAL.search(claim) is None) != (DENIAL.search(move) is None)
    return opposite == denied


def _alike(claim: str, words: str, encode: Encode) -> bool:
    stems = shared_stems([words], content(claim)).max(initial=0.0)
    return bool(stems >= STEM or likeness(claim, [words], encode)[0] >= ALIKE)


def _beside(one: str, other: str, here: re.Pattern[str], there: re.Pattern[str]) -> bool:
    """Tell whether one text says the one of two opposites alone, and the other text the other alone."""
    return all(map(bool, (here.search(one), there.search(other)))) and not (
        there.search(one) or here.search(other)
    )
