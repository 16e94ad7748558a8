"""Scores without a language model: how alike texts are to the question; for the nodes that score (ToG)."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from kgqa.priors.lexical import bm25
from kgqa.session.step import Run

DIGITS = 6
"""Decimals by which likenesses are compared."""


async def likeness(
    texts: Sequence[str], question: str, by: Literal["bm25", "encoder"], run: Run
) -> list[float]:
    """Give how alike each text is to the question, from 0 to 1; the same for all where none is.

    Raises:
        EncoderError: if there is no encoder.
    """
    if not texts:
        return []
    if by == "bm25":
        scores = await run.in_time(asyncio.to_thread(bm25, texts, question))
    else:
        rows = await run.encode([*texts, question])
        scores = [max(0.0, round(float(row @ rows[-1]), DIGITS)) for row in rows[:-1]]
    return scores if any(scores) else [1 / len(texts)] * len(texts)
