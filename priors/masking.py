"""Masks the topic entities of a question, so that questions are alike by what they ask.

>>> mask_names("Who directed The Prestige's sequel?", ["Prestige", "the prestige"])
"Who directed [ENT]'s sequel?"
>>> mask_names("who is the wife of beyonce\u0301's father?", ["Beyonc\u00e9"])
"who is the wife of [ENT]'s father?"
>>> mask_topic("Which films has Ann made with Bob?", "Bob", ["Ann"])
'Which films has [OTHER] made with [ENT]?'
>>> mask_topic("what did wagner compose?", "Richard Wagner", [])
'what did [ENT] compose?'
>>> make_template("Which films has Ann made with Bob?", {"Ann": "actor", "Bob": None})
'Which films has [actor] made with [entity]?'
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from kgqa.kg.text import EVERYDAY_WORDS, FUNCTION_WORDS, fold, is_word

TOPIC_MASK = "[ENT]"  # stands for a topic entity (CoG §3.2.1)
OTHER_MASK = "[OTHER]"  # stands for a topic entity that is not the one at hand
DEFAULT_CATEGORY = "entity"  # the category label of an entity that nobody knows another of
_LABEL = re.compile(r"\[([^\[\]]+)\]")
_MIN_PART_CHARS = 3
_MIN_STEM_CHARS = 4
_MIN_STEM_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class _Word:
    folded: str
    start: int
    end: int


def mask_names(question: str, names: Iterable[str]) -> str:
    """Put `TOPIC_MASK` in place of the names; anchors and questions are both masked by this.

    A name is found as whole words in their order, in any case, accents and punctuation; of
    names that overlap the longest is masked.
    """
    return replace_names(question, dict.fromkeys(names, TOPIC_MASK))


def mask_topic(question: str, topic: str | None, others: Iterable[str]) -> str:
    """Put `TOPIC_MASK` in place of the topic's name and `OTHER_MASK` in place of the other topics' names.

    Names are found as `mask_names` finds them; in place of a name that does
    not occur, the longest part of it that does (a family name, a title without its series),
    its initials, or a word made of its stem (a people of its country).
    """
    own = _mention_of(question, topic or "")
    said = (_mention_of(question, name) for name in others)
    marks = {name: OTHER_MASK for name in said if fold(name) != fold(own)}
    return replace_names(question, {**marks, own: TOPIC_MASK})


def make_template(question: str, labels: Mapping[str, str | None]) -> str:
    """Put in place of each name, as `mask_topic` finds it, the category label of its entity (EGP §4.1)."""
    return replace_names(
        question,
        {_mention_of(question, name): f"[{label or DEFAULT_CATEGORY}]" for name, label in labels.items()},
    )


def blank_labels(text: str) -> str:
    """Put the label of an entity that nobody knows in place of all masks and labels.

    >>> blank_labels("Which films has [actor] made with [ENT]?")
    'Which films has [entity] made with [entity]?'
    """
    return _LABEL.sub(f"[{DEFAULT_CATEGORY}]", text)


def known_labels(template: str) -> list[str]:
    """Return the labels in a template, of the entities that somebody knows.

    >>> known_labels("Which films has [actor] made with [entity]?")
    ['actor']
    """
    return [label for label in _LABEL.findall(template) if label != DEFAULT_CATEGORY]


def replace_names(question: str, marks: Mapping[str, str]) -> str:
    """Put in place of each name the mark of its own, as `mask_names` does."""
    words = _split_words(question)
    spans: dict[tuple[int, int], str] = {}
    for name in sorted(marks, key=lambda name: (-len(name), name)):
        spans |= dict.fromkeys(_find_name(question, words, name, spans), marks[name])
    parts, place = [], 0
    for (start, end), mark in sorted(spans.items()):
        parts += [question[place:start], mark]
        place = end
    return "".join([*parts, question[place:]])


def _find_name(
    question: str, words: Sequence[_Word], name: str, taken: Collection[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the places of a name that are not taken yet, with the punctuation that ends the name."""
    wanted = _split_words(name)
    folded = [word.folded for word in wanted]
    if not folded:
        return []
    head, tail, found, at = name[: wanted[0].start], name[wanted[-1].end :], list[tuple[int, int]](), 0
    while at + len(folded) <= len(words):
        start, end = words[at].start, words[at + len(folded) - 1].end
        same = [word.folded for word in words[at : at + len(folded)]] == folded
        if same and not any(start < last and first < end for first, last in taken):
            if any(map(str.isalnum, head)) and question.endswith(head, 0, start):
                start -= len(head)  # letters that fold to nothing, such as a lone voicing mark
            found.append((start, end + len(tail) if question.startswith(tail, end) else end))
            at += len(folded)
        else:
            at += 1
    return found


def _split_words(text: str) -> list[_Word]:
    """Split into runs of letters, marks and digits, each folded; ``&`` is a word, too.

    Where nothing stands between words, each character is one.
    """

    def kind(at: int) -> tuple[bool, int]:
        wordy = text[at].isalnum() or unicodedata.category(text[at]).startswith("M")
        return wordy, at if is_word(text[at]) else -1

    words = []
    for (wordy, _), run in groupby(range(len(text)), key=kind):
        places = list(run)
        start, end = places[0], places[-1] + 1
        if wordy and (folded := fold(text[start:end])):
            words.append(_Word(folded, start, end))
        elif not wordy:
            words += [_Word("and", at, at + 1) for at in places if text[at] == "&"]
    return words


def _mention_of(question: str, name: str) -> str:
    """Return how a question says a name: in full, by the most words in a row, or by what comes of them."""
    text, words = f" {fold(question)} ", fold(name).split()
    if f" {' '.join(words)} " in text:
        return name
    for size in range(len(words) - 1, 0, -1):
        for at in range(len(words) - size + 1):
            part = words[at : at + size]
            if f" {' '.join(part)} " in text and _is_distinctive(part):
                return " ".join(part)
    said = text.split()
    letters = "".join(word[0] for word in words if word not in FUNCTION_WORDS)
    initials = {letters[:size] for size in range(2, len(letters) + 1)} - EVERYDAY_WORDS - FUNCTION_WORDS
    short = next((word for word in said if word in initials), None)
    return short or next((word for word in said if any(_share_stem(word, other) for other in words)), name)


def _is_distinctive(part: list[str]) -> bool:
    """Return whether a part of a name stands for it: neither common words alone, nor cut at a small one."""
    return (
        not EVERYDAY_WORDS.issuperset(part)
        and FUNCTION_WORDS.isdisjoint((part[0], part[-1]))
        and max(map(len, part)) >= _MIN_PART_CHARS
    )


def stem_similarity(one: str, two: str) -> float:
    """Return the share of the longer word that both begin with: 0 where that is less than a stem."""
    letters = len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))])
    return letters / max(len(one), len(two)) if letters >= _MIN_STEM_CHARS else 0.0


def _share_stem(word: str, other: str) -> bool:
    """Return whether two words have a stem in common, the most of both: Russia, russians."""
    return stem_similarity(word, other) >= _MIN_STEM_SHARE and not EVERYDAY_WORDS & {word, other}
