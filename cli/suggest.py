"""Prints questions that a graph answers: ``kgqa kg suggest``, and ``kgqa ask`` without a question."""

import asyncio
from collections.abc import Sequence
from typing import NoReturn

from rich.text import Text

from kgqa.cli import output
from kgqa.runtime.record_text import say_answers


def show_suggestions(kg: Sequence[str] | None, *, as_json: bool) -> NoReturn:
    """Print questions of a graph with their answers, each as soon as it is known, and end."""
    from kgqa.api import MAX_SUGGESTIONS, SUGGESTION_SECONDS, asuggest

    console = output.open_console()

    async def show() -> int:
        found = 0
        async for record in asuggest(kg):
            found += 1
            if as_json:
                output.print_json(record)
            else:
                console.print(output.styled_line(record["question"], "bold"))
                console.print(Text("  ").append_text(output.styled_line(say_answers(record), "green")))
        return found

    with output.errors_in_one_line(ValueError):
        found = asyncio.run(show())
    if found < MAX_SUGGESTIONS:
        bound = f"the search ends after {SUGGESTION_SECONDS:.0f} seconds, or once the graph gives no more"
        output.warn(f"{found} of {MAX_SUGGESTIONS} questions were found that are answered right; {bound}")
    raise SystemExit(int(output.ExitCode.ANSWERED if found else output.ExitCode.NO_ANSWER))
