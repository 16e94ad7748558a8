"""The words of questions and relations."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to rows of length 1, shape (texts, dimensions)."""


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
