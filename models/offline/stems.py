"""Words of one stem: what a sentence encoder does not see in them."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile

import numpy as np
import numpy.typing as npt

from kgqa.models.offline.sides import content

_LEAST = 4
"""Letters that words of one stem share at least."""


def shared_stems(texts: Sequence[str], others: Sequence[str]) -> npt.NDArray[np.float64]:
    """Tell how far the words of other texts have their stems in texts: shape (texts, others), 0 to 1.

    >>> shared_stems(["film directed"], ["directors", "actor"]).round(2).tolist()
    [[0.67, 0.0]]
    """
    words = [content(other) for other in others]
    found = [[_shared(said, content(text)) for said in words] for text in texts]
    return np.array(found, np.float64).reshape(len(texts), len(others))


def _shared(words: Sequence[str], others: Sequence[str]) -> float:
    return sum(max((_stem(word, other) for other in others), default=0.0) for word in words) / max(
        1, len(words)
    )


@lru_cache(maxsize=1 << 16)
def _stem(one: str, two: str) -> float:
    if one == two:
        return 1.0
    length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))
    return length / max(len(one), len(two)) if length >= _LEAST else 0.0
