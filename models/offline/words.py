"""The words of questions and relations."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Chain

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to rows of length 1, shape (texts, dimensions)."""

_LINKS = re.compile(r"\b(of|whose|that|which|where|who|in|by|from|for|with|to)\b|'s\b", re.IGNORECASE)


def spoken(relation: str) -> str:
    """Turn a relation's name into words, the last two parts of a dotted one.

    >>> spoken("people.person.place_of_birth")
    'person place of birth'
    >>> spoken("officialLanguage")
    'official language'
    """
    parts = " ".join(relation.split(".")[-2:])
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", parts)
    return " ".join(re.split(r"[\W_]+", spaced)).strip().lower()


def likeness(question: str, texts: Sequence[str], encode: Encode) -> npt.NDArray[np.float32]:
    """Compare a question with each text: shape (texts,); a text that comes twice is encoded once."""
    unique = sorted(set(texts))
    if not unique:
        return np.zeros(0, np.float32)
    values = dict(zip(unique, encode(unique) @ encode([question])[0], strict=True))
    return np.array([values[text] for text in texts], np.float32)


def masked(question: str, chain: Chain) -> str:
    """Leave the topic's name out of the question: what is asked, not of whom."""
    name = chain.topic.name
    return re.sub(re.escape(name), "it", question, flags=re.IGNORECASE) if name else question


def hops_asked(question: str) -> int:
    """Guess from its linking words how many hops a question wants, at least 1."""
    head = re.sub(
        r"^\W*(in |on |at |by |for |from |to )?(which|who|what|where)\b", "", question, flags=re.IGNORECASE
    )
    return max(1, len(_LINKS.findall(head)))
