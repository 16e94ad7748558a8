"""How alike texts are to another, such as a question."""

import asyncio
from collections.abc import Sequence
from typing import Literal, TypeAlias

from kgqa.priors.candidate_ranking import bm25_scores
from kgqa.priors.errors import EncoderError
from kgqa.runtime.node import NodeRuntime

SIMILARITY_DECIMALS = 6  # decimals that count: in further ones two products of equal rows may differ

MIN_MISSING_SIMILARITY = 0.5  # to what is missing, of what may be it
SAME_SIMILARITY = 0.8  # of what says the same in other words

Measure: TypeAlias = Literal["encoder", "bm25"]


async def similarity(
    texts: Sequence[str],
    text: str,
    runtime: NodeRuntime,
    by: Measure | None = None,
    encoder: str | None = None,
) -> list[float]:
    """Return how alike texts are to another: cosines of an encoder, or BM25 scores.

    Where nobody says by which, by the encoder, and by words where there is none. ``encoder`` names another
    one than that of the context.
    """
    if not texts:
        return []
    if by == "bm25":
        return await runtime.within_time_limit(asyncio.to_thread(bm25_scores, texts, text))
    try:
        rows = await runtime.encode([*texts, text], encoder)
    except EncoderError:
        if by:
            raise
        return await similarity(texts, text, runtime, "bm25")
    return [round(float(row @ rows[-1]), SIMILARITY_DECIMALS) for row in rows[:-1]]


async def similarity_scores(
    texts: Sequence[str],
    text: str,
    runtime: NodeRuntime,
    by: Measure | None = None,
    encoder: str | None = None,
) -> list[float]:
    """Return similarity as scores from 0 to 1; the same for all where none is alike."""
    scores = [max(0.0, like) for like in await similarity(texts, text, runtime, by, encoder)]
    return scores if any(scores) else [1 / len(texts) for _ in texts]


async def are_missing(
    found: Sequence[Sequence[str]], missing: str, shown: Sequence[str], runtime: NodeRuntime
) -> list[bool]:
    """Return of each thing, which has several texts, whether it may be what is missing.

    It may, where it is said in nearly the same words; or where it is new, and more like that than what was
    ``shown``, which is not it.
    """
    known = dict(zip(shown, await similarity(shown, missing, runtime), strict=True))
    least = max([MIN_MISSING_SIMILARITY, *known.values()])
    texts = [text for each in found for text in each]
    likes = dict(zip(texts, await similarity(texts, missing, runtime), strict=True))
    near = {
        text
        for text, like in likes.items()
        if like >= SAME_SIMILARITY or (like >= least and text not in known)
    }
    return [not near.isdisjoint(each) for each in found]


def most_similar(likes: Sequence[float], most: int) -> list[int]:
    """Return the places of what is most alike, best first, the first of equals first."""
    return sorted(range(len(likes)), key=lambda at: -likes[at])[:most]
