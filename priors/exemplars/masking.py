"""Masks a question for one of its topics, or makes a template of it for all of them.

>>> masked("Which films has Ann made with Bob?", "Bob", ["Ann"])
'Which films has [OTHER] made with [ENT]?'
>>> masked("what did wagner compose?", "Richard Wagner", [])
'what did [ENT] compose?'
>>> templated("Which films has Ann made with Bob?", {"Ann": "actor", "Bob": None})
'Which films has [actor] made with [entity]?'
"""

from collections.abc import Iterable, Mapping
from itertools import takewhile

from kgqa.kg.text import COMMON, FUNCTION, fold
from kgqa.priors.blueprints.masking import MASK, mask_each

OTHER = "[OTHER]"
"""Stands for a topic entity that is not the one at hand."""

ENTITY = "entity"
"""The category label of an entity that nobody knows another of."""

_SHORTEST = 3
_STEM = 4
_MOST = 0.6


def masked(question: str, topic: str | None, others: Iterable[str]) -> str:
    """Put `MASK` in place of the topic's name and `OTHER` in place of the other topics' names.

    Names are found as `kgqa.priors.blueprints.mask` finds them; in place of a name that does
    not occur, the longest part of it that does (a family name, a title without its series),
    its initials, or a word made of its stem (a people of its country).
    """
    own = _said(question, topic or "")
    said = (_said(question, name) for name in others)
    marks = {name: OTHER for name in said if fold(name) != fold(own)}
    return mask_each(question, {**marks, own: MASK})


def templated(question: str, labels: Mapping[str, str | None]) -> str:
    """Put in place of each name the category label of its entity (EGP §4.1: entity templating).

    Names are found as `masked` finds them.
    """
    return mask_each(
        question, {_said(question, name): f"[{label or ENTITY}]" for name, label in labels.items()}
    )


def _said(question: str, name: str) -> str:
    """Give what a question says of a name: the name, the most words of it in a row, or what comes of them."""
    text, words = f" {fold(question)} ", fold(name).split()
    if f" {' '.join(words)} " in text:
        return name
    for size in range(len(words) - 1, 0, -1):
        for at in range(len(words) - size + 1):
            part = words[at : at + size]
            if f" {' '.join(part)} " in text and _names(part):
                return " ".join(part)
    said = text.split()
    short = next((word for word in said if word in _initials(words)), None)
    return short or next((word for word in said if any(_akin(word, other) for other in words)), name)


def _names(part: list[str]) -> bool:
    """Tell whether a part of a name stands for it: neither common words alone, nor cut at a small one."""
    return (
        not COMMON.issuperset(part)
        and FUNCTION.isdisjoint((part[0], part[-1]))
        and max(map(len, part)) >= _SHORTEST
    )


def _initials(words: list[str]) -> set[str]:
    """Give the first letters of a name's words, of two at least: United States of America, usa and us."""
    letters = "".join(word[0] for word in words if word not in FUNCTION)
    return {letters[:size] for size in range(2, len(letters) + 1)} - COMMON - FUNCTION


def _akin(word: str, other: str) -> bool:
    """Tell whether two words have a stem in common, the most of both: Russia, russians."""
    stem = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False)))
    return stem >= _STEM and stem >= _MOST * max(len(word), len(other)) and not COMMON & {word, other}
