"""``kgqa prompts``: write out the words of prompts, to be changed for a run."""

from pathlib import Path
from typing import Annotated

import typer

from kgqa.cli import output

app = typer.Typer(help="Write out the words of prompts, to be changed.", no_args_is_help=True)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that is new, or empty.")],
) -> None:
    """Write the text and examples of every prompt into a file of its name.

    What is changed there holds for runs with --prompts DIR; files that are as they were, or
    wanted as they are here, can be deleted.
    """
    from kgqa.runtime.wordings import write_wordings

    with output.errors_in_one_line():
        written = write_wordings(folder)
    output.print_line(f"{written} prompts in {folder}; ask with: --prompts {folder}")
