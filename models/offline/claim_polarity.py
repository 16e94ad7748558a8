"""Do relations say what a claim says, or the opposite? By their words."""

import re
from collections.abc import Sequence

from kgqa.models.offline.question_words import Encode, content_words, stem_overlap, text_similarities

MIN_SIMILARITY = 0.35
"""Likeness from which a relation says what a question claims."""

MIN_STEM_SHARE = 0.5
"""Part of its letters that a word of the question shares with one of a relation that says the same."""

NEGATION = re.compile(r"\b(?:not|no|non|never|without|cannot|lacks?|\w+n t)\b")
"""What turns what a text says into its opposite."""

_LINKING_PHRASES = re.compile(
    r"\b(?:kind|type|subclass|instance|part) of\b|\bis a\b|\blocated (?:in|on|at)\b"
)
"""What a claim need not say: it says "of a gene on it", "of insects"."""

_TREATMENT = re.compile(
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


def polarity(claim: str, moves: Sequence[str], encode: Encode) -> bool | None:
    """Return whether relations one after the other say what a claim says, or its opposite; None: neither.

    Args:
        claim: a question in lower case, with "it" for the names in it.
        moves: what leads from one thing that it names to the other, in words.
        encode: a sentence encoder; blocks.
    """
    said = [(move, _move_polarity(claim, move, encode)) for move in moves]
    told = [each for move, each in said if each is not None or not _LINKING_PHRASES.search(move)]
    return None if None in told or not told else all(told)


def _move_polarity(claim: str, move: str, encode: Encode) -> bool | None:
    opposite = any(
        _are_opposite(claim, move, *pair) or _are_opposite(move, claim, *pair) for pair in _OPPOSITES
    )
    bare, words = (NEGATION.sub(" ", text) for text in (claim, move))
    if not opposite and not any(
        _is_similar(text, words, encode) for text in {bare, _TREATMENT.sub("treat", bare)}
    ):
        return None
    denied = (NEGATION.search(claim) is None) != (NEGATION.search(move) is None)
    return opposite == denied


def _is_similar(claim: str, words: str, encode: Encode) -> bool:
    stems = stem_overlap([words], content_words(claim)).max(initial=0.0)
    return bool(stems >= MIN_STEM_SHARE or text_similarities(claim, [words], encode)[0] >= MIN_SIMILARITY)


def _are_opposite(one: str, other: str, here: re.Pattern[str], there: re.Pattern[str]) -> bool:
    """Return whether one text says the one of two opposites alone, and the other text the other alone."""
    return all(map(bool, (here.search(one), there.search(other)))) and not (
        there.search(one) or here.search(other)
    )
