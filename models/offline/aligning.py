"""Aligns the hops of chains to the words of a question, both in their order."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from kgqa.models.offline.reading import Order

Values = npt.NDArray[np.float64]

NAMED = 0.3
"""What the word counts that says a hop best, beside what all words count."""

LEFT = 0.5
"""What a word counts that is left for hops to come: less than one that says a hop."""

UNSAID = 1.0
"""Cost of a hop that no word is left for."""

_NEVER = -1e9


def aligned(likeness: Values, order: Order, columns: Mapping[str, int]) -> Values:
    """Say hops by words as well as it goes: shape (words, chains, hops).

    Every word goes to a hop, words nearer to the entity to hops nearer to it; some words in a
    row go together. At ``[n, :, k]`` is the best when the first ``n + 1`` words say ``k + 1``
    hops: likeness of words to their hops, less what it costs to begin hops where they begin.

    Args:
        likeness: of hops to spans of the question, shape (chains, hops, spans).
        order: the words, at least one.
        columns: which span is which.
    """
    chains, hops, _ = likeness.shape
    start = np.full((2, chains, hops), _NEVER)
    start[0, :, 0] = 0.0
    reached = [start]
    for at, spans in enumerate(order.spans):
        now = np.full_like(start, _NEVER)
        for size, span in enumerate(spans, 1):
            like = likeness[:, :, columns[span]]
            unnamed, named = _onwards(reached[at + 1 - size], order, at + 1 - size)
            now[0] = np.maximum(now[0], unnamed + size * like)
            now[1] = np.maximum(now[1], np.maximum(named, unnamed + NAMED * like) + size * like)
        reached.append(now)
    return np.stack([each.max(axis=0) for each in reached[1:]])


def _onwards(reached: Values, order: Order, at: int) -> tuple[Values, Values]:
    """Give the values before the word ``at`` is said: where its hop is not named yet, and where it is."""
    if not at:
        return reached[0], reached[1]
    begun = np.full_like(reached[0], _NEVER)
    begun[:, 1:] = reached.max(axis=0)[:, :-1] - order.begins[at]
    return np.maximum(reached[0] - order.stays[at], begun), reached[1] - order.stays[at]


def whole(said: Values) -> Values:
    """Give the best value of whole chains, of which only the first hops may be said: shape (chains,)."""
    hops = said.shape[2]
    return np.asarray((said[-1] - UNSAID * np.arange(hops - 1, -1, -1)).max(axis=1))


def begun(said: Values, order: Order) -> Values:
    """Give the best value of chains that may go on, for which words are left: shape (chains,)."""
    words = len(order.words)
    further = [LEFT * (words - at) - order.begins[at] for at in range(1, words)]
    return np.asarray((said.max(axis=2) + np.array([*further, 0.0])[:, np.newaxis]).max(axis=0))
