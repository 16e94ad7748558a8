"""``kgqa report``: one page of what some runs have measured."""

import os
from pathlib import Path
from typing import Annotated

import typer

from kgqa.cli.output import errors_in_one_line, fail, print_line


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders that kgqa eval wrote, finished or not.")
    ],
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    dataset: Annotated[
        list[Path] | None,
        typer.Option(help="The file of the questions, where it is not what the run was given (repeatable)."),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(help="A folder for the page's tables as well, each as .csv and, for papers, as .tex."),
    ] = None,
) -> None:
    """Make one HTML page of runs: tables, comparisons, plots, and every question with its trace.

    The page holds all it shows and loads nothing from elsewhere.
    """
    from kgqa.builds import replace_file
    from kgqa.evaluation.datasets import DatasetError
    from kgqa.evaluation.report.page import read_report, render_page
    from kgqa.evaluation.report.run_folder import ReportError
    from kgqa.evaluation.report.table_files import write_tables
    from kgqa.evaluation.result import ResultsError

    with errors_in_one_line(ReportError, DatasetError, ResultsError):
        report = read_report(runs, dataset or ())
        content = render_page(report).encode("utf-8", "replace")
    try:
        if out.exists() and not out.is_file():  # a pipe, a terminal
            out.write_bytes(content)
        else:  # what a link leads to is written, not the link
            replace_file(Path(os.path.realpath(out)), lambda file: file.write(content))
    except OSError as error:
        fail(f"cannot write {out}: {error.strerror}; name another file with --out")
    print_line(str(out))
    if tables is not None:
        try:
            named = ((each.group.name, table) for each in report.sections for table in each.tables)
            written = write_tables(named, tables)
        except OSError as error:
            fail(f"cannot write {error.filename or tables}: {error.strerror}; give another --tables")
        for file in written:
            print_line(str(file))
