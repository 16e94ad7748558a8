"""``kgqa blueprints``: build, look into and calibrate a library of blueprints (CoG §3.1)."""

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

from kgqa.cli import options, output

if TYPE_CHECKING:
    from kgqa.priors.blueprints import BlueprintLibrary
    from kgqa.priors.copy_threshold import ThresholdCalibration

app = typer.Typer(
    help="Build a library of blueprints from questions, look into it, or calibrate it.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by kgqa blueprints build.")]
Relations = Annotated[
    Path | None, typer.Option(help="A file with a relation a line: a blueprint with any other is left out.")
]


@app.command()
def build(
    dataset: options.Datasets,
    out: Annotated[Path, typer.Option(help="The folder of the library; an earlier one is replaced.")],
    more: options.MoreFiles = None,
    split: options.Split = None,
    format: options.Format = None,
    add: Annotated[
        bool, typer.Option("--add", help="Add the questions to the library that is there.")
    ] = False,
    anchor: Annotated[
        Literal["longest", "shortest", "medoid", "all"] | None,
        typer.Option(help="The question that stands for a template; longest as in the paper if not given."),
    ] = None,
    reading: Annotated[
        Literal["query", "text"] | None,
        typer.Option(
            help="How queries are read: by their algebra if not given; text: by a regular expression, and "
            "anchors are not masked (CoG's paper)."
        ),
    ] = None,
    relations: Relations = None,
    encoder: options.EncoderName = None,
) -> None:
    """Build a library of blueprints from questions."""
    from kgqa.evaluation.datasets import DatasetError
    from kgqa.evaluation.datasets.training import load_training_material
    from kgqa.priors import blueprints
    from kgqa.priors.blueprints import read_library_header
    from kgqa.priors.encoder import open_encoder
    from kgqa.priors.training_questions import read_relations

    started = time.perf_counter()
    with output.errors_in_one_line(DatasetError), output.exit_on_termination():
        if add and (anchor or reading):
            output.fail(
                "--add keeps the library's choice of anchors and reading; leave --anchor and --reading out"
            )
        known = read_relations(relations) if relations else None
        examples, sources = load_training_material([*dataset, *(more or ())], split, format)
        opened = open_encoder(encoder or (read_library_header(out).encoder if add else None))
        material = (examples, out, opened.encode, opened.name, anchor or "longest")
        built = blueprints.build_blueprints(
            *material, reading=reading or "query", add=add, sources=sources, relations=known
        )
    made = f"{built.templates:,} templates in {out}, {time.perf_counter() - started:.1f} s"
    output.print_build(built.questions, built.without, "blueprint", made)


@app.command()
def show(
    library: Folder,
    question: Annotated[
        str | None, typer.Argument(help="Without one, what the library holds is shown.")
    ] = None,
    topic: options.Topics = None,
    top: Annotated[int, typer.Option(min=1, help="Blueprints to show.")] = 5,
    encoder: options.EncoderName = None,
) -> None:
    """Show the blueprints nearest to a question, or what a library holds."""
    from kgqa.priors.blueprints import open_library, read_library_header
    from kgqa.priors.encoder import open_encoder
    from kgqa.priors.masking import mask_names

    with output.errors_in_one_line(), output.exit_on_termination():
        opened = open_encoder(encoder or read_library_header(library).encoder)
        found = open_library(library, opened.encode, opened.name)
        if question is None:
            _print_library(found, top)
        else:
            _print_nearest(found, mask_names(question, topic or ()), top)


@app.command()
def calibrate(
    library: Folder,
    dataset: options.Datasets,
    more: options.MoreFiles = None,
    split: options.Split = None,
    format: options.Format = None,
    held_out: Annotated[
        float, typer.Option(min=0.01, max=0.99, help="Share of the questions to copy for.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice of those questions.")] = 0,
    precision: Annotated[float, typer.Option(min=0, max=1, help="Share of the copies to be right.")] = 0.9,
    relations: Relations = None,
    write: Annotated[bool, typer.Option("--write", help="Store the threshold in the library.")] = False,
    encoder: options.EncoderName = None,
) -> None:
    """Find the similarity above which a blueprint can be copied.

    Some training questions are held out, a library like this one is made of the others, and
    what it would copy is compared with what the held-out questions have.
    """
    from kgqa.evaluation.datasets import DatasetError
    from kgqa.evaluation.datasets.training import load_training_material
    from kgqa.priors.blueprints import read_library_header, write_copy_threshold
    from kgqa.priors.copy_threshold import calibrate_copy_threshold
    from kgqa.priors.encoder import open_encoder
    from kgqa.priors.training_questions import extract_lessons, read_relations

    with output.errors_in_one_line(DatasetError), output.exit_on_termination():
        header = read_library_header(library)
        known = read_relations(relations) if relations else None
        examples, _ = load_training_material([*dataset, *(more or ())], split, format)
        learned, encode = (
            extract_lessons(examples, known, header.reading),
            open_encoder(encoder or header.encoder).encode,
        )
        found = calibrate_copy_threshold(learned, encode, header.anchors, held_out, seed)
        tau = found.recommended(precision)
        _print_calibration(found, tau, precision)
        if tau is None:
            raise SystemExit(int(output.ExitCode.NO_ANSWER))
        if write:
            write_copy_threshold(library, header, tau)


def _print_library(library: "BlueprintLibrary", top: int) -> None:
    """Print the statistics of Table 6 of the paper, and the templates that most questions have."""
    console, header = output.open_console(), library.header
    ratio = len(library.records) / header.questions
    console.print(
        f"{header.questions:,} questions, {len(library.records):,} templates ({ratio:.1%}), "
        f"{sum(header.without.values()):,} questions without a blueprint"
    )
    calibrated = "the encoder's default" if header.tau is None else "calibrated"
    about = f"encoder {header.encoder}, anchors {header.anchors}, tau {library.tau:g} ({calibrated})"
    about += ", read from the text of queries" if header.reading == "text" else ""
    console.print(output.styled_line(about))
    slots = sorted(Counter(len(each.blueprint.slots) for each in library.records).items())
    console.print(output.make_table("slots", "templates", rows=((str(n), f"{each:,}") for n, each in slots)))
    most = sorted(library.records, key=lambda record: -record.questions)[:top]
    rows = ((f"{each.questions:,}", each.blueprint.template, each.anchors[0].text) for each in most)
    console.print(output.make_table("questions", "template", "anchor", rows=rows))


def _print_nearest(library: "BlueprintLibrary", question: str, top: int) -> None:
    console, nearest = output.open_console(), library.nearest(question, top)
    console.print(output.styled_line(question))
    rows = ((f"{match.similarity:.3f}", match.anchor, match.blueprint.template) for match in nearest)
    console.print(output.make_table("similarity", "anchor", "template", rows=rows))
    copied = bool(nearest) and nearest[0].similarity > library.tau
    what = "copied" if copied else "nothing is copied, the nearest is to be adapted"
    console.print(Text(f"at tau {library.tau:g}: {what}", style="green" if copied else "yellow"))
    for number, branch in enumerate(nearest[0].blueprint, 1):
        console.print(Text(f"  {number}  ").append_text(output.draw_slots(branch)))


def _print_calibration(found: "ThresholdCalibration", tau: float | None, precision: float) -> None:
    from kgqa.priors.copy_threshold import MIN_COPIES

    console = output.open_console()
    console.print(
        f"{found.templates:,} templates of {found.learned:,} questions; {found.held_out:,} were held out"
    )
    table = output.make_table("tau", "copied", "share", "same slots", "same relations")
    for row in found.rows:
        right = ("–" if share is None else f"{share:.1%}" for share in (row.precision, row.same_relations))
        cells = (f"{row.tau:.2f}", f"{row.copied:,}", f"{row.share:.1%}", *right)
        table.add_row(*cells, style="bold green" if row.tau == tau else "")
    console.print(table)
    wanted = f"at least {precision:.0%} of at least {MIN_COPIES} copies right"
    console.print(f"no tau has {wanted}" if tau is None else f"tau {tau:g} is the least with {wanted}")
