"""What becomes of a run whose steps can be neither kept nor read: it waits, then ends in one line.

Keeping a step twice is keeping it once, so whatever an outage has cut off is done again.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kgqa.kg.terms import one_line

MAX_OUTAGE_SECONDS = 30.0  # seconds that a step waits where its store is locked, or is starting again
PAUSE_SECONDS = 0.2

T = TypeVar("T")

_log = logging.getLogger("kgqa.serving")


class CheckpointsUnavailable(RuntimeError):
    """Steps can be neither kept nor read now; one line that names no place, as the caller sees it."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the steps of a run cannot be kept or read ({why}); ask again later; who runs the server "
            "finds the place in KGQA_CHECKPOINTS"
        )


async def outlast(
    work: Callable[[], Awaitable[T]],
    errors: tuple[type[Exception], ...],
    reason: Callable[[Exception], str | None],
) -> T:
    """Do something with a store, again and again while it is away, as its ``errors`` tell.

    ``reason`` says of such an error why it will not pass; None where it may.

    Raises:
        CheckpointsUnavailable: if the error does not pass, or not in time.
    """
    try:
        async with asyncio.timeout(MAX_OUTAGE_SECONDS):
            while True:
                try:
                    return await work()
                except errors as error:
                    _log.warning("checkpoints: %s", one_line(str(error)))
                    if why := reason(error):
                        raise CheckpointsUnavailable(why) from None
                await asyncio.sleep(PAUSE_SECONDS)
    except TimeoutError:
        raise CheckpointsUnavailable("they are locked, or do not answer") from None
