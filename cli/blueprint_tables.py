"""Shows libraries of blueprints to people."""

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgqa.kg.terms import one_line
from kgqa.priors.blueprints import Blueprint, Built, Library
from kgqa.priors.blueprints.calibration import LEAST, Calibration
from kgqa.priors.blueprints.records import histogram

LINE = 1000
"""Characters of a question or a blueprint that are shown at most."""


def show_built(built: Built, folder: Path, seconds: float) -> None:
    """Print what was read, what came of it, and why some questions have no blueprint."""
    console = _console()
    left_out = sum(built.without.values())
    console.print(f"{built.questions:,} questions, {built.questions - left_out:,} with a blueprint")
    for reason, questions in sorted(built.without.items(), key=lambda pair: (-pair[1], pair[0])):
        console.print(Text(f"  {questions:,} without: {one_line(reason)}", style="yellow"))
    console.print(f"{built.templates:,} templates in {folder}, {seconds:.1f} s")


def show_library(library: Library, top: int) -> None:
    """Print the statistics of Table 6 of the paper, and the templates that most questions have."""
    console, header = _console(), library.header
    ratio = len(library.records) / header.questions
    console.print(
        f"{header.questions:,} questions, {len(library.records):,} templates ({ratio:.1%}), "
        f"{sum(header.without.values()):,} questions without a blueprint"
    )
    calibrated = "the encoder's default" if header.tau is None else "calibrated"
    console.print(f"encoder {library.encoder}, anchors {header.anchors}, tau {library.tau:g} ({calibrated})")
    console.print(_lengths(library))
    table = _table("questions", "template", "anchor")
    for record in sorted(library.records, key=lambda record: -record.questions)[:top]:
        table.add_row(
            f"{record.questions:,}", _cell(record.blueprint.template), _cell(record.anchors[0].text)
        )
    console.print(table)


def show_nearest(library: Library, question: str, top: int) -> None:
    """Print the nearest blueprints of a masked question, and whether the nearest would be copied."""
    console, nearest = _console(), library.nearest(question, top)
    console.print(_cell(question))
    table = _table("similarity", "anchor", "template")
    for match in nearest:
        table.add_row(f"{match.similarity:.3f}", _cell(match.anchor), _cell(match.blueprint.template))
    console.print(table)
    copied = bool(nearest) and nearest[0].similarity > library.tau
    what = "copied" if copied else "nothing is copied, the nearest is to be adapted"
    console.print(Text(f"at tau {library.tau:g}: {what}", style="green" if copied else "yellow"))
    console.print(_tree(nearest[0].blueprint))


def show_calibration(found: Calibration, tau: float | None, precision: float) -> None:
    """Print what each threshold copies, and the one to take."""
    console = _console()
    console.print(
        f"{found.templates:,} templates of {found.learned:,} questions; {found.held_out:,} were held out"
    )
    table = _table("tau", "copied", "share", "same slots", "same relations")
    for row in found.rows:
        cells = (f"{row.tau:.2f}", f"{row.copied:,}", f"{row.share:.1%}", row.precision, row.same_relations)
        shown = (
            "–" if cell is None else f"{cell:.1%}" if isinstance(cell, float) else cell for cell in cells
        )
        table.add_row(*shown, style="bold green" if row.tau == tau else "")
    console.print(table)
    wanted = f"at least {precision:.0%} of at least {LEAST} copies right"
    console.print(f"no tau has {wanted}" if tau is None else f"tau {tau:g} is the least with {wanted}")


def _lengths(library: Library) -> Table:
    table = _table("slots", "templates")
    for slots, templates in histogram(library.records).items():
        table.add_row(str(slots), f"{templates:,}")
    return table


def _tree(blueprint: Blueprint) -> Text:
    """Draw the branches as arrows that meet in the answer."""
    drawn = Text()
    for number, branch in enumerate(blueprint):
        drawn.append("\n" if number else "")
        drawn.append(f"  {number + 1}  ")
        for slot in branch:
            name = one_line(slot.relation)
            drawn.append(f"-{name}-> " if slot.forward else f"<-{name}- ", style="cyan")
        drawn.append("answer", style="bold")
    return drawn


def _console() -> Console:
    return Console(highlight=False, soft_wrap=True)


def _table(*columns: str) -> Table:
    table = Table(box=None)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _cell(text: str) -> Text:
    return Text(one_line(text, LINE))
