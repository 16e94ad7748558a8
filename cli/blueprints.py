"""``kgqa blueprints``: build, look into and calibrate a library of blueprints (CoG §3.1)."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from kgqa.cli.options import (
    DatasetOption,
    EncoderOption,
    FilesArgument,
    FormatOption,
    SplitOption,
    TopicOption,
    errors_in_one_line,
    open_encoder,
)
from kgqa.cli.output import ExitCode, fail

app = typer.Typer(
    help="Build a library of blueprints from questions, look into it, or calibrate it.", no_args_is_help=True
)

FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="A folder made by kgqa blueprints build.")
]
RelationsOption = Annotated[
    Path | None,
    typer.Option(help="A file with a relation a line: a blueprint with any other is left out."),
]


@app.command()
def build(
    dataset: DatasetOption,
    out: Annotated[Path, typer.Option(help="The folder of the library; an earlier one is replaced.")],
    more: FilesArgument = None,
    split: SplitOption = None,
    format: FormatOption = None,
    add: Annotated[
        bool, typer.Option("--add", help="Add the questions to the library that is there.")
    ] = False,
    anchor: Annotated[
        Literal["longest", "shortest", "medoid", "all"] | None,
        typer.Option(help="The question that stands for a template; longest as in the paper if not given."),
    ] = None,
    relations: RelationsOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Build a library of blueprints from questions."""
    import time

    started = time.perf_counter()
    with errors_in_one_line():
        from kgqa.cli.blueprint_tables import show_built
        from kgqa.evaluation.datasets.training import load_training_material
        from kgqa.priors import blueprints
        from kgqa.priors.blueprints.building import read_library_header
        from kgqa.priors.training_questions import read_relations

        if add and anchor:
            fail("--add keeps the library's choice of anchors; leave --anchor out", ExitCode.USAGE)
        known = read_relations(relations) if relations else None
        examples, sources = load_training_material([*dataset, *(more or ())], split, format)
        opened = open_encoder(encoder, read_library_header(out).encoder if add else None)
        if add:
            built = blueprints.extend_blueprints(
                examples, out, opened.encode, opened.name, sources=sources, relations=known
            )
        else:
            built = blueprints.build_blueprints(
                examples,
                out,
                opened.encode,
                opened.name,
                anchor or "longest",
                sources=sources,
                relations=known,
            )
    show_built(built, out, time.perf_counter() - started)


@app.command()
def show(
    library: FolderArgument,
    question: Annotated[
        str | None, typer.Argument(help="Without one, what the library holds is shown.")
    ] = None,
    topic: TopicOption = None,
    top: Annotated[int, typer.Option(min=1, help="Blueprints to show.")] = 5,
    encoder: EncoderOption = None,
) -> None:
    """Show the blueprints nearest to a question, or what a library holds."""
    with errors_in_one_line():
        from kgqa.cli.blueprint_tables import show_library, show_nearest
        from kgqa.priors.blueprints import mask_names, open_library
        from kgqa.priors.blueprints.building import read_library_header

        opened = open_encoder(encoder, read_library_header(library).encoder)
        found = open_library(library, opened.encode, opened.name)
        if question is None:
            show_library(found, top)
        else:
            show_nearest(found, mask_names(question, topic or ()), top)


@app.command()
def calibrate(
    library: FolderArgument,
    dataset: DatasetOption,
    more: FilesArgument = None,
    split: SplitOption = None,
    format: FormatOption = None,
    held_out: Annotated[
        float, typer.Option(min=0.01, max=0.99, help="Share of the questions to copy for.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice of those questions.")] = 0,
    precision: Annotated[float, typer.Option(min=0, max=1, help="Share of the copies to be right.")] = 0.9,
    relations: RelationsOption = None,
    write: Annotated[bool, typer.Option("--write", help="Store the threshold in the library.")] = False,
    encoder: EncoderOption = None,
) -> None:
    """Find the similarity above which a blueprint can be copied.

    Some training questions are held out, a library like this one is made of the others, and
    what it would copy is compared with what the held-out questions have.
    """
    with errors_in_one_line():
        from kgqa.cli.blueprint_tables import show_calibration
        from kgqa.evaluation.datasets.training import load_training_material
        from kgqa.priors.blueprints import extract_lessons
        from kgqa.priors.blueprints.building import (
            calibrate_copy_threshold,
            read_library_header,
            write_copy_threshold,
        )
        from kgqa.priors.training_questions import read_relations

        header = read_library_header(library)
        known = read_relations(relations) if relations else None
        learned = extract_lessons(
            load_training_material([*dataset, *(more or ())], split, format).examples, known
        )
        encode = open_encoder(encoder, header.encoder).encode
        found = calibrate_copy_threshold(learned, encode, header.anchors, held_out, seed)
        tau = found.recommended(precision)
        show_calibration(found, tau, precision)
        if tau is None:
            raise SystemExit(int(ExitCode.NO_ANSWER))
        if write:
            write_copy_threshold(library, tau)
