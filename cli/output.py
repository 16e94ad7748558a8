"""What commands print, and the exit codes they end with."""

import json
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import Any, NoReturn

import typer

MAX_ERROR_CHARS = 1000
"""Characters that an error says at most."""


class ExitCode(IntEnum):
    """Exit statuses of ``kgqa``."""

    ANSWERED = 0
    NO_ANSWER = 1
    WARNED = 1
    USAGE = 2
    KG_UNAVAILABLE = 3
    MODEL_UNAVAILABLE = 4
    BUG = 70
    INTERRUPTED = 130


TERMINATION_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a process which does not heed them; Windows has no SIGHUP."""


@contextmanager
def exit_on_termination() -> Iterator[None]:
    """Let what ends a process (SIGTERM, SIGHUP) end a block as Ctrl-C does: nothing is left half done.

    The exit status is the usual one: 128 and the number of the signal. A signal that is ignored
    (``nohup``) stays so, and off the main thread, where no signal arrives, nothing is done.
    """

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    main = threading.current_thread() is threading.main_thread()
    before = {
        number: old
        for number in (TERMINATION_SIGNALS if main else ())
        if (old := _python_handler(number)) is not None
    }
    try:
        for number in before:
            signal.signal(number, end)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _python_handler(number: int) -> Any:
    """Return the handler of a signal; None where it is ignored, or set by other than Python."""
    handler = signal.getsignal(number)
    return None if handler is signal.SIG_IGN else handler


def outage_exit_code(record: Mapping[str, Any]) -> ExitCode | None:
    """Return the status of a question that could not be asked; None where it could.

    What was named on the command line and cannot be opened is wrong usage.
    """
    from kgqa.priors.errors import EncoderError, PriorError

    if record["outcome"] == "kg_unavailable":
        return ExitCode.KG_UNAVAILABLE
    if record["outcome"] != "model_unavailable":
        return None
    wrong = {EncoderError.__name__, *(kind.__name__ for kind in PriorError.__subclasses__())}
    failures = [entry["failure"] for entry in record["trace"] if "failure" in entry]
    return ExitCode.USAGE if failures and failures[-1] in wrong else ExitCode.MODEL_UNAVAILABLE


def fail(problem: str, status: ExitCode) -> NoReturn:
    """Say what went wrong in one line on stderr and end."""
    from kgqa.kg.terms import one_line

    typer.echo(f"kgqa: {one_line(problem, MAX_ERROR_CHARS)}", err=True)
    raise SystemExit(int(status))


def print_line(text: str) -> None:
    """Print one line, whatever names and paths are in it."""
    from kgqa.files import printable_path

    typer.echo(printable_path(text))


def print_json(value: object) -> None:
    """Print a value as JSON on one line, without a character that could command a terminal.

    Whoever reads it gets the same value: what is not printable, or not in the encoding of stdout,
    is written as JSON escapes it.
    """
    written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not written.isprintable():
        written = "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in written)
    try:
        written.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        written = json.dumps(value, allow_nan=False)
    typer.echo(written)


def escape_unencodable_output() -> None:
    """Have stdout and stderr show as an escape what their encoding does not have, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)  # what tests capture has none
        if reconfigure:
            reconfigure(errors="backslashreplace")
