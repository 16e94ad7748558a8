"""Masks the topic entities of a question, so that questions are alike by what they ask.

>>> mask("Who directed The Prestige's sequel?", ["Prestige", "the prestige"])
"Who directed [ENT]'s sequel?"
>>> mask("who is the wife of beyonce\u0301's father?", ["Beyonc\u00e9"])
"who is the wife of [ENT]'s father?"
"""

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from kgqa.kg.text import fold

MASK = "[ENT]"
"""Stands for a topic entity (CoG §3.2.1)."""


@dataclass(frozen=True, slots=True)
class _Word:
    folded: str
    start: int
    end: int


def mask(question: str, names: Iterable[str]) -> str:
    """Put `MASK` in place of the names; anchors and questions are both masked by this.

    A name is found as whole words in their order, in any case, accents and punctuation; of
    names that overlap the longest is masked.
    """
    return mask_each(question, dict.fromkeys(names, MASK))


def mask_each(question: str, marks: Mapping[str, str]) -> str:
    """Put in place of each name the mark of its own, as `mask` does."""
    words = _words(question)
    spans: dict[tuple[int, int], str] = {}
    for name in sorted(marks, key=lambda name: (-len(name), name)):
        spans |= dict.fromkeys(_found(question, words, name, spans), marks[name])
    parts, place = [], 0
    for (start, end), mark in sorted(spans.items()):
        parts += [question[place:start], mark]
        place = end
    return "".join([*parts, question[place:]])


def _found(
    question: str, words: Sequence[_Word], name: str, taken: Collection[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Give the places of a name that are not taken yet, with the punctuation that ends the name."""
    wanted = _words(name)
    folded = [word.folded for word in wanted]
    if not folded:
        return []
    tail, found, at = name[wanted[-1].end :], list[tuple[int, int]](), 0
    while at + len(folded) <= len(words):
        start, end = words[at].start, words[at + len(folded) - 1].end
        same = [word.folded for word in words[at : at + len(folded)]] == folded
        if same and not any(start < last and first < end for first, last in taken):
            found.append((start, end + len(tail) if question.startswith(tail, end) else end))
            at += len(folded)
        else:
            at += 1
    return found


def _words(text: str) -> list[_Word]:
    """Split into runs of letters, marks and digits, each folded; ``&`` is a word, too."""
    words = []
    for wordy, run in groupby(range(len(text)), key=lambda at: _is_wordy(text[at])):
        places = list(run)
        start, end = places[0], places[-1] + 1
        if wordy and (folded := fold(text[start:end])):
            words.append(_Word(folded, start, end))
        elif not wordy:
            words += [_Word("and", at, at + 1) for at in places if text[at] == "&"]
    return words


def _is_wordy(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")
