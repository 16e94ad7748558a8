"""The content words left and right of the entity of a question."""

import re
from typing import NamedTuple

from kgqa.kg.text import FUNCTION

SPAN = 2
"""Words in a row that are compared with a hop together, at most: such as "death place"."""

_LINKS = frozenset(
    {"of", "'s", "by", "in", "from", "that", "whose", "for", "with", "who", "which", "on", "at", "to"}
)
_SILENT = FUNCTION | {"name", "names", "named", "list", "tell", "give", "please", "should"}
_ASKED = {"when": "date", "where": "place"}
"""What question words ask for; not "who", for most relations lead to people."""
_WORD = re.compile(r"'s\b|\w+")
_DETERMINED = re.compile(r"\b(the|a|an|this|that)\s+$")


class Word(NamedTuple):
    """A content word and where it stands."""

    text: str
    begin: int
    end: int
    linked: bool
    """A linking word stands between it and the word before it, or the entity."""
    typed: bool
    """It is what is asked for, as far as the question word tells: "which films"."""


class Side(NamedTuple):
    """Content words outwards from the entity; both fields have one item for each."""

    words: tuple[Word, ...]
    spans: tuple[tuple[str, ...], ...]
    """What ends at the word: it, it with the one before, and so on, as the question has it."""


def left_side(text: str) -> Side:
    """Read what stands left of the entity, the nearest word first."""
    words, linked = _words(text)
    words = words if linked else words[: _apposition(text, words)]
    links = [*(word.linked for word in words), linked][1:]
    return _side(text, [word._replace(linked=link) for word, link in zip(words, links, strict=False)][::-1])


def right_side(text: str) -> Side:
    """Read what stands right of the entity."""
    return _side(text, _words(text)[0])


def content(text: str) -> list[str]:
    """Give the words that carry meaning; all words where none does."""
    words = re.findall(r"\w+", text.lower())
    return [word for word in words if word not in FUNCTION] or words


def told(relation: str) -> str:
    """Leave out what only joins a relation's words to its ends.

    >>> told("directed by"), told("place of birth"), told("has genre")
    ('directed', 'place of birth', 'genre')
    """
    words = relation.split()
    heavy = [at for at, word in enumerate(words) if word not in FUNCTION]
    return " ".join(words[heavy[0] : heavy[-1] + 1]) if heavy else relation


def _side(text: str, words: list[Word]) -> Side:
    return Side(tuple(words), tuple(tuple(_spans(text, words[: at + 1])) for at in range(len(words))))


def _spans(text: str, words: list[Word]) -> list[str]:
    """Give the spans that end at the last of the words."""
    longer = [words[-size:] for size in range(2, min(SPAN, len(words)) + 1)]
    ends = [(min(word.begin for word in row), max(word.end for word in row)) for row in longer]
    return [words[-1].text, *(text[begin:end] for begin, end in ends)]


def _words(text: str) -> tuple[list[Word], bool]:
    """Give the content words in the order of the text, and whether a linking word comes after them."""
    found: list[Word] = []
    linked = typed = False
    for match in _WORD.finditer(text):
        said = match[0]
        linked |= said in _LINKS
        if said in {"what", "which"}:
            typed = True
        elif said in _ASKED:
            found.append(Word(_ASKED[said], *match.span(), linked, typed=True))
            linked = typed = False
        elif said in _SILENT or said == "'s":
            typed = False
        elif not said.isdigit():
            found.append(Word(said, *match.span(), linked, typed))
            linked = False
    return found, linked


def _apposition(text: str, words: list[Word]) -> int:
    """Tell from which word on the text only says what the entity is: "who wrote the film [ENT]".

    Where these are all words there are, they are no apposition.
    """
    end = len(words)
    if not words or text[words[-1].end :].strip():
        return end
    at = end - 1
    while at and not words[at].linked and not text[words[at - 1].end : words[at].begin].strip():
        at -= 1
    return at if at and _DETERMINED.search(text[: words[at].begin]) else end
