"""The content words of a question and of relations, and the order in which a question says hops."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgqa.kg.text import FUNCTION_WORDS
from kgqa.priors.masking import OTHER_MASK, TOPIC_MASK

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to rows of length 1, shape (texts, dimensions)."""


def relation_phrase(relation: str) -> str:
    """Turn a relation's name into words, the last two parts of a dotted one.

    >>> relation_phrase("people.person.place_of_birth")
    'person place of birth'
    >>> relation_phrase("officialLanguage")
    'official language'
    """
    parts = " ".join(relation.split(".")[-2:])
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", parts)
    return " ".join(re.split(r"[\W_]+", spaced)).strip().lower()


def text_similarities(question: str, texts: Sequence[str], encode: Encode) -> npt.NDArray[np.float32]:
    """Compare a question with each text: shape (texts,); a text that comes twice is encoded once."""
    unique = sorted(set(texts))
    if not unique:
        return np.zeros(0, np.float32)
    values = dict(zip(unique, encode(unique) @ encode([question])[0], strict=True))
    return np.array([values[text] for text in texts], np.float32)


# costs of a new hop; that of a hop left unsaid is 1
UNLINKED_HOP_COST = 0.5  # where no linking word stands before it
OTHER_SIDE_HOP_COST = 0.3  # on the other side of the entity: one may begin there, or the same goes on
VERB_TIED_HOP_COST = 1.0  # there in "which films did [ENT] direct": the verb ties both sides to the entity
LINKED_STAY_COST = 0.1  # of none after a linking word: "place of death" is one hop, most others are two

_MIN_STEM_LETTERS = 4  # that words of one stem share
_LINKING_WORDS = frozenset(
    {"of", "'s", "by", "in", "from", "that", "whose", "for", "with", "who", "which", "on", "at", "to"}
)
_IGNORED_WORDS = FUNCTION_WORDS | {"name", "names", "named", "list", "tell", "give", "please", "should"}
_QUESTION_WORD_NOUNS = {"when": "date", "where": "place"}  # not "who": most relations lead to people
_WORD = re.compile(r"'s\b|\w+")
_VERB_BEFORE = re.compile(
    r"\b(is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may)(\s+the)?\s*$"
)
_DETERMINED = re.compile(r"\b(the|a|an|this|that)\s+$")


class ContentWord(NamedTuple):
    """A content word and where it stands."""

    text: str
    begin: int
    end: int
    linked: bool
    """A linking word stands between it and the word before it, or the entity."""
    typed: bool
    """It is what is asked for, as far as the question word tells: "which films"."""


class ContextWords(NamedTuple):
    """Content words outwards from the entity; both fields have one item for each."""

    words: tuple[ContentWord, ...]
    spans: tuple[tuple[str, ...], ...]
    """What ends at the word: it, and it with the one before as the question has them, "death place"."""


def left_context(text: str) -> ContextWords:
    """Read what stands left of the entity, the nearest word first."""
    words, linked = _find_content_words(text)
    words = words if linked else words[: _apposition_start(text, words)]
    links = [*(word.linked for word in words), linked][1:]
    nearest_first = [word._replace(linked=link) for word, link in zip(words, links, strict=False)][::-1]
    return _context_words(text, nearest_first)


def right_context(text: str) -> ContextWords:
    """Read what stands right of the entity."""
    return _context_words(text, _find_content_words(text)[0])


def _context_words(text: str, words: Sequence[ContentWord]) -> ContextWords:
    spans: list[tuple[str, ...]] = [(word.text,) for word in words[:1]]
    for one, two in pairwise(words):
        both = text[min(one.begin, two.begin) : max(one.end, two.end)]
        spans.append((two.text, both))
    return ContextWords(tuple(words), tuple(spans))


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning; all words where none does."""
    words = re.findall(r"\w+", text.lower())
    return [word for word in words if word not in FUNCTION_WORDS] or words


def trim_function_words(relation: str) -> str:
    """Leave out what only joins a relation's words to its ends.

    >>> trim_function_words("has genre"), trim_function_words("place of birth")
    ('genre', 'place of birth')
    """
    words = relation.split()
    heavy = [at for at, word in enumerate(words) if word not in FUNCTION_WORDS]
    return " ".join(words[heavy[0] : heavy[-1] + 1]) if heavy else relation


def _find_content_words(text: str) -> tuple[list[ContentWord], bool]:
    """Return the content words in the order of the text, and whether a linking word comes after them."""
    found: list[ContentWord] = []
    linked = typed = False
    for match in _WORD.finditer(text):
        said = match[0]
        linked |= said in _LINKING_WORDS
        if said in {"what", "which"}:
            typed = True
        elif said in _QUESTION_WORD_NOUNS:
            found.append(ContentWord(_QUESTION_WORD_NOUNS[said], *match.span(), linked, typed=True))
            linked = typed = False
        elif said in _IGNORED_WORDS or said == "'s":
            typed = False
        elif not said.isdigit():
            found.append(ContentWord(said, *match.span(), linked, typed))
            linked = False
    return found, linked


def _apposition_start(text: str, words: list[ContentWord]) -> int:
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


def stem_overlap(texts: Sequence[str], others: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return how far the words of other texts have their stems in texts: shape (texts, others), 0 to 1.

    A sentence encoder does not see them.

    >>> stem_overlap(["film directed"], ["directors", "actor"]).round(2).tolist()
    [[0.67, 0.0]]
    """
    words = [content_words(other) for other in others]
    found = [[_overlap_share(said, content_words(text)) for said in words] for text in texts]
    return np.array(found, np.float64).reshape(len(texts), len(others))


def _overlap_share(words: Sequence[str], others: Sequence[str]) -> float:
    best = (max((_stem_similarity(word, other) for other in others), default=0.0) for word in words)
    return sum(best) / max(1, len(words))


@lru_cache(maxsize=1 << 16)
def _stem_similarity(one: str, two: str) -> float:
    if one == two:
        return 1.0
    letters = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))
    return letters / max(len(one), len(two)) if letters >= _MIN_STEM_LETTERS else 0.0


class WordOrder(NamedTuple):
    """Content words, one after the other outwards from the entity; each field has one item for each."""

    words: tuple[str, ...]
    spans: tuple[tuple[str, ...], ...]
    """See `ContextWords`."""
    begins: tuple[float, ...]
    """Cost of a new hop at the word."""
    stays: tuple[float, ...]
    """Cost of no new hop at the word."""


def word_orders(masked: str) -> tuple[WordOrder, ...]:
    """Return the orders in which a masked question may say hops, none where it has no words.

    What stands right of the entity comes first, or what stands left of it; a genitive is
    always first. Without the entity, all words are left of it.
    """
    before, _, after = masked.replace(OTHER_MASK, " ").partition(TOPIC_MASK)
    before, after = before.lower(), after.replace(TOPIC_MASK, " ").lower()
    left, right = left_context(before), right_context(after)
    verb = _VERB_BEFORE.search(before) is not None
    if after.lstrip().startswith("'s"):
        orders = [_genitive_order(right, left, verb)]
    else:
        across = VERB_TIED_HOP_COST if verb else OTHER_SIDE_HOP_COST
        orders = [_join_contexts(right, left, across)]
        if left.words and right.words:
            orders.append(_join_contexts(left, right, across))
    return tuple(order for order in orders if order.words)


def _join_contexts(first: ContextWords, then: ContextWords, across: float) -> WordOrder:
    """Put one side after the other, where beginning a new hop costs ``across``."""
    words = first.words + then.words
    begins = [0.0 if word.linked and not word.typed else UNLINKED_HOP_COST for word in words]
    stays = [LINKED_STAY_COST if word.linked else 0.0 for word in words]
    turn = len(first.words)
    if 0 < turn < len(words):
        begins[turn] = max(across, begins[turn]) if words[turn].typed else across
        stays[turn] = 0.0
    texts = tuple(word.text for word in words)
    return WordOrder(texts, first.spans + then.spans, tuple(begins), tuple(stays))


def _genitive_order(right: ContextWords, left: ContextWords, verb: bool) -> WordOrder:
    """Put the left side after a genitive, which ends a hop: "the spouse of [ENT] 's mother".

    After a verb, its last word is another hop: "where does [ENT] 's mother live".
    """
    order = _join_contexts(right, left, 0.0)
    begins, stays = list(order.begins), list(order.stays)
    turn = len(right.words)
    if 0 < turn < len(begins):
        begins[turn], stays[turn] = 0.0, LINKED_STAY_COST
    if verb and turn > 1:
        begins[turn - 1] = 0.0
    return order._replace(begins=tuple(begins), stays=tuple(stays))
