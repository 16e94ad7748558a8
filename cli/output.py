"""What commands print, and the exit codes they end with."""

import json
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.priors.slots import Slot

MAX_LINE_CHARS = 1000  # characters that a line for people has at most

TERMINATION_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a process which does not handle them; Windows has no SIGHUP."""


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


def warn(problem: object) -> None:
    """Print what went wrong in one line on stderr."""
    typer.echo(f"kgqa: {one_line(str(problem), MAX_LINE_CHARS)}", err=True)


def fail(problem: object, status: ExitCode = ExitCode.USAGE) -> NoReturn:
    """Print what went wrong in one line on stderr, and end."""
    warn(problem)
    raise SystemExit(int(status))


@contextmanager
def errors_in_one_line(*usage_errors: type[Exception]) -> Iterator[None]:
    """End with one line and the exit code of what went wrong; ``usage_errors`` stand for wrong usage."""
    from kgqa.kg.errors import KGError
    from kgqa.models.errors import ModelError
    from kgqa.priors.errors import EncoderError, PriorError

    usage: tuple[type[Exception], ...] = (EncoderError, PriorError, *usage_errors)
    try:
        yield
    except KGError as error:
        fail(error, ExitCode.KG_UNAVAILABLE)
    except ModelError as error:
        fail(error, ExitCode.MODEL_UNAVAILABLE)
    except usage as error:
        fail(error)


def outage_exit_code(record: Mapping[str, Any]) -> ExitCode | None:
    """Return the status of an outage, or None; what was named and cannot be opened is wrong usage."""
    from kgqa.priors.errors import EncoderError, PriorError

    if record["outcome"] == "kg_unavailable":
        return ExitCode.KG_UNAVAILABLE
    if record["outcome"] != "model_unavailable":
        return None
    wrong = {EncoderError.__name__, *(kind.__name__ for kind in PriorError.__subclasses__())}
    failures = [entry["failure"] for entry in record["trace"] if "failure" in entry]
    return ExitCode.USAGE if failures and failures[-1] in wrong else ExitCode.MODEL_UNAVAILABLE


@contextmanager
def exit_on_termination() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a block as Ctrl-C does, so that nothing is left half done.

    The exit status is the usual one: 128 and the number of the signal. A signal that is ignored
    (``nohup``) stays so, and off the main thread, where no signal arrives, nothing is done.
    """

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in (TERMINATION_SIGNALS if main else ())}
    # None is a handler that was not set by Python.
    handlers = {number: old for number, old in handlers.items() if old not in (None, signal.SIG_IGN)}
    try:
        for number in handlers:
            signal.signal(number, end)
        yield
    finally:
        for number, old in handlers.items():
            signal.signal(number, old)


def print_line(text: str) -> None:
    """Print one line, whatever names and paths are in it."""
    from kgqa.files import printable_path

    typer.echo(printable_path(text))


def print_json(value: object) -> None:
    """Print a value as JSON on one line; what is not printable, or not in stdout's encoding, is escaped."""
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


def open_console(*, stderr: bool = False) -> Console:
    """Open the terminal for tables and for lines that are not wrapped."""
    return Console(highlight=False, soft_wrap=True, stderr=stderr)


def styled_line(text: str, style: str = "") -> Text:
    """Make one line of text that may come from a graph, a model or a file."""
    return Text(one_line(text, MAX_LINE_CHARS), style=style)


def make_table(*columns: str, rows: Iterable[Sequence[str | Text]] = ()) -> Table:
    """Make a table without lines."""
    table = Table(box=None)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(styled_line(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def draw_slots(slots: "Iterable[Slot]") -> Text:
    """Draw slots as arrows to the answer."""
    drawn = Text()
    for slot in slots:
        name = one_line(slot.relation)
        drawn.append(f"-{name}-> " if slot.forward else f"<-{name}- ", style="cyan")
    return drawn.append("answer", style="bold")


def print_build(questions: int, without: Mapping[str, int], what: str, made: str) -> None:
    """Print what was learned from questions, and why some were left out, the most frequent reason first."""
    console = open_console()
    console.print(f"{questions:,} questions, {questions - sum(without.values()):,} with a {what}")
    for reason, number in sorted(without.items(), key=lambda pair: (-pair[1], pair[0])):
        console.print(Text(f"  {number:,} without: {one_line(reason)}", style="yellow"))
    console.print(styled_line(made))
