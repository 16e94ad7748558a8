"""How a command ends: exit statuses, and one clear line for what went wrong."""

from collections.abc import Mapping
from enum import IntEnum
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
