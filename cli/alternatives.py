"""Shows what else a question may mean, and on a terminal the one that a key takes."""

import shlex
import sys
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from kgqa.cli import output
from kgqa.cli.show_record import show_record
from kgqa.runtime.record_alternatives import take_alternative
from kgqa.runtime.record_text import say_alternatives

if TYPE_CHECKING:
    from kgqa.runtime.record import Record


def show_alternatives(record: "Record") -> None:
    """Print a line for each other reading of a question."""
    for line in say_alternatives(record):
        _print(line)


def offer_alternatives(record: "Record") -> "Record":
    """Print the other readings of a question; on a terminal, return the one that was taken last by its key.

    Each one that is taken is shown as the answer, with its query, until another key is pressed.
    """
    show_alternatives(record)
    shown = [record]
    while record["alternatives"] and sys.stdin.isatty() and sys.stdout.isatty():
        numbers = [str(number) for number in range(2, 2 + len(record["alternatives"]))]
        _print(f"{', '.join(numbers)} shows it; any other key ends", "dim")
        key = _read_key()
        if key not in numbers:
            break
        record = take_alternative(shown, int(key))
        shown.append(record)
        show_taken(record)
    return record


def show_taken(record: "Record", *, in_sentence: bool = False) -> None:
    """Print a record with a reading that somebody has taken: its query, and how questions like it learn."""
    show_record(record, in_sentence=in_sentence)
    typer.echo(record["query"])
    show_alternatives(record)
    if kept := _words_to_keep(record):
        output.print_line(f"  to keep it: kgqa exemplars add {shlex.join(kept)}")


def _words_to_keep(record: "Record") -> list[str]:
    """Return what makes an exemplar of a record; nothing where its query and names make none."""
    from kgqa.priors.errors import ExemplarError
    from kgqa.priors.training_questions import query_starts, solved_question

    question, query = record["question"], " ".join(map(str.strip, (record["query"] or "").split("\n")))
    names = {topic["id"]: topic["name"] for topic in record["topics"]}
    try:
        topics = [names.get(start) or "" for start in query_starts(query)]
        solved_question(question, query, topics)
    except ExemplarError:
        return []
    return ["exemplars", question, "--query", query, *(word for name in topics for word in ("--topic", name))]


def _print(line: str, style: str = "") -> None:
    output.open_console().print(Text("  ").append_text(output.styled_line(line, style)))


def _read_key() -> str:
    """Return the key that is pressed; none where the terminal is closed, or Ctrl-C ends it."""
    try:
        return typer.getchar()
    except (EOFError, KeyboardInterrupt):
        return ""
