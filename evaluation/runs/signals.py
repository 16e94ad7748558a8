"""What Ctrl-C and SIGTERM mean for a run."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping(say: Callable[[], None]) -> Iterator[asyncio.Event]:
    """Give an event that the first signal sets; the second cancels the task that entered.

    From the third on a signal does what it does without this. To be entered in the
    main thread, by a task. ``say`` is called at the first.
    """
    stop = asyncio.Event()
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def signalled() -> None:
        if not stop.is_set():
            stop.set()
            say()
            return
        restore()
        if task is not None:
            task.cancel()

    def handler(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(signalled)

    def restore() -> None:
        for number, old in before.items():
            signal.signal(number, signal.SIG_DFL if old is None else old)

    for number in SIGNALS:
        signal.signal(number, handler)
    try:
        yield stop
    finally:
        restore()
