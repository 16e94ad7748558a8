"""Shows libraries of blueprints to people."""

from pathlib import Path

from rich.table import Table
from rich.text import Text

from kgqa.cli.tables import draw_slots, make_table, one_line_cell, open_console, print_left_out
from kgqa.priors.blueprints import Blueprint, BlueprintLibrary, LibraryBuild
from kgqa.priors.blueprints.building import MIN_COPIES, ThresholdCalibration
from kgqa.priors.blueprints.templates import slot_histogram


def show_built(built: LibraryBuild, folder: Path, seconds: float) -> None:
    """Print what was read, what came of it, and why some questions have no blueprint."""
    out, left_out = open_console(), sum(built.without.values())
    out.print(f"{built.questions:,} questions, {built.questions - left_out:,} with a blueprint")
    print_left_out(out, built.without)
    out.print(one_line_cell(f"{built.templates:,} templates in {folder}, {seconds:.1f} s"))


def show_library(library: BlueprintLibrary, top: int) -> None:
    """Print the statistics of Table 6 of the paper, and the templates that most questions have."""
    out, header = open_console(), library.header
    ratio = len(library.records) / header.questions
    out.print(
        f"{header.questions:,} questions, {len(library.records):,} templates ({ratio:.1%}), "
        f"{sum(header.without.values()):,} questions without a blueprint"
    )
    calibrated = "the encoder's default" if header.tau is None else "calibrated"
    out.print(
        one_line_cell(
            f"encoder {library.encoder}, anchors {header.anchors}, tau {library.tau:g} ({calibrated})"
        )
    )
    out.print(_length_table(library))
    shown = make_table("questions", "template", "anchor")
    for record in sorted(library.records, key=lambda record: -record.questions)[:top]:
        shown.add_row(
            f"{record.questions:,}",
            one_line_cell(record.blueprint.template),
            one_line_cell(record.anchors[0].text),
        )
    out.print(shown)


def show_nearest(library: BlueprintLibrary, question: str, top: int) -> None:
    """Print the nearest blueprints of a masked question, and whether the nearest would be copied."""
    out, nearest = open_console(), library.nearest(question, top)
    out.print(one_line_cell(question))
    shown = make_table("similarity", "anchor", "template")
    for match in nearest:
        shown.add_row(
            f"{match.similarity:.3f}", one_line_cell(match.anchor), one_line_cell(match.blueprint.template)
        )
    out.print(shown)
    copied = bool(nearest) and nearest[0].similarity > library.tau
    what = "copied" if copied else "nothing is copied, the nearest is to be adapted"
    out.print(Text(f"at tau {library.tau:g}: {what}", style="green" if copied else "yellow"))
    out.print(_draw_branches(nearest[0].blueprint))


def show_calibration(found: ThresholdCalibration, tau: float | None, precision: float) -> None:
    """Print what each threshold copies, and the one to take."""
    out = open_console()
    out.print(
        f"{found.templates:,} templates of {found.learned:,} questions; {found.held_out:,} were held out"
    )
    shown = make_table("tau", "copied", "share", "same slots", "same relations")
    for row in found.rows:
        cells = (f"{row.tau:.2f}", f"{row.copied:,}", f"{row.share:.1%}", row.precision, row.same_relations)
        texts = (
            "–" if each is None else f"{each:.1%}" if isinstance(each, float) else each for each in cells
        )
        shown.add_row(*texts, style="bold green" if row.tau == tau else "")
    out.print(shown)
    wanted = f"at least {precision:.0%} of at least {MIN_COPIES} copies right"
    out.print(f"no tau has {wanted}" if tau is None else f"tau {tau:g} is the least with {wanted}")


def _length_table(library: BlueprintLibrary) -> Table:
    shown = make_table("slots", "templates")
    for slots, templates in slot_histogram(library.records).items():
        shown.add_row(str(slots), f"{templates:,}")
    return shown


def _draw_branches(blueprint: Blueprint) -> Text:
    """Draw the branches as arrows that meet in the answer."""
    drawn = [
        Text(f"  {number}  ").append_text(draw_slots(branch)) for number, branch in enumerate(blueprint, 1)
    ]
    return Text("\n").join(drawn)
