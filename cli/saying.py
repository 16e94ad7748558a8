"""How commands say things to whatever stands behind stdout: a terminal, a pipe, a file of any encoding."""

import json
import sys
from typing import Any

import typer


def say(text: str) -> None:
    """Print one line, whatever names and paths are in it."""
    from kgqa.kg.files import shown

    typer.echo(shown(text))


def say_json(value: object) -> None:
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


def speak_any_encoding() -> None:
    """Have stdout and stderr show as an escape what their encoding does not have, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)  # what tests capture has none
        if reconfigure:
            reconfigure(errors="backslashreplace")
