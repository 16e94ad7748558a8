"""How a command ends: exit statuses, and one clear line for what went wrong."""

from enum import IntEnum
from typing import NoReturn

import typer

LINE = 1000
"""Characters that an error says at most."""


class Exit(IntEnum):
    """Exit statuses of ``kgqa``."""

    ANSWERED = 0
    NO_ANSWER = 1
    USAGE = 2
    KG_UNAVAILABLE = 3
    MODEL_UNAVAILABLE = 4
    BUG = 70
    INTERRUPTED = 130


def fail(problem: str, status: Exit) -> NoReturn:
    """Say what went wrong in one line on stderr and end."""
    from kgqa.kg.terms import one_line

    typer.echo(f"kgqa: {one_line(problem, LINE)}", err=True)
    raise SystemExit(int(status))
