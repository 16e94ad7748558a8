"""How a command ends: exit statuses, and one clear line for what went wrong."""

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import Any, NoReturn

import typer

LINE = 1000
"""Characters that an error says at most."""


class Exit(IntEnum):
    """Exit statuses of ``kgqa``."""

    ANSWERED = 0
    NO_ANSWER = 1
    WARNED = 1
    USAGE = 2
    KG_UNAVAILABLE = 3
    MODEL_UNAVAILABLE = 4
    BUG = 70
    INTERRUPTED = 130


ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a process which does not heed them; Windows has no SIGHUP."""


@contextmanager
def tidily() -> Iterator[None]:
    """Let what ends a process (SIGTERM, SIGHUP) end a block as Ctrl-C does: nothing is left half done.

    The exit status is the usual one: 128 and the number of the signal. A signal that is ignored
    (``nohup``) stays so, and off the main thread, where no signal arrives, nothing is done.
    """

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    main = threading.current_thread() is threading.main_thread()
    before = {number: old for number in (ENDING if main else ()) if (old := _heeded(number)) is not None}
    try:
        for number in before:
            signal.signal(number, end)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _heeded(number: int) -> Any:
    """Give the handler of a signal; None where it is ignored, or set by other than Python."""
    handler = signal.getsignal(number)
    return None if handler is signal.SIG_IGN else handler


def outage(record: Mapping[str, Any]) -> Exit | None:
    """Give the status of a question that could not be asked; None where it could.

    What was named on the command line and cannot be opened is wrong usage.
    """
    from kgqa.priors.errors import EncoderError, PriorError

    if record["outcome"] == "kg_unavailable":
        return Exit.KG_UNAVAILABLE
    if record["outcome"] != "model_unavailable":
        return None
    wrong = {EncoderError.__name__, *(kind.__name__ for kind in PriorError.__subclasses__())}
    failures = [entry["failure"] for entry in record["trace"] if "failure" in entry]
    return Exit.USAGE if failures and failures[-1] in wrong else Exit.MODEL_UNAVAILABLE


def fail(problem: str, status: Exit) -> NoReturn:
    """Say what went wrong in one line on stderr and end."""
    from kgqa.kg.terms import one_line

    typer.echo(f"kgqa: {one_line(problem, LINE)}", err=True)
    raise SystemExit(int(status))
