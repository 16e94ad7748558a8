"""Asks many questions at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from kgqa.evaluation.question import Question


async def work(
    questions: Sequence[Question],
    ask: Callable[[Question], Awaitable[None]],
    *,
    concurrency: int,
    stop: asyncio.Event,
) -> None:
    """Ask the questions in their order, ``concurrency`` of them at a time.

    Once ``stop`` is set no question is begun any more; those that are running end
    as they would have.

    Raises:
        Exception: the first that ``ask`` raises; whatever is running then is cancelled.
    """
    waiting = iter(questions)

    async def worker() -> None:
        for question in waiting:
            if stop.is_set() or _cancelled():
                return
            await ask(question)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, len(questions))):
                group.create_task(worker())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


def _cancelled() -> bool:
    """Tell a task that was cancelled while it awaited something that does not pass that on.

    One of these is `asyncio.wait_for` of Python 3.11, where its future is done already.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
