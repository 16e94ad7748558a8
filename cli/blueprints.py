"""``kgqa blueprints``: build, look into and calibrate a library of blueprints (CoG §3.1)."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from kgqa.cli.exits import Exit, fail
from kgqa.cli.learned import Datasets, Format, More, Sentences, Split, Topics, in_one_line, open_encoder

app = typer.Typer(
    help="Build a library of blueprints from questions, look into it, or calibrate it.", no_args_is_help=True
)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by kgqa blueprints build.")]
Relations = Annotated[
    Path | None,
    typer.Option(help="A file with a relation a line: a blueprint with any other is left out."),
]


@app.command()
def build(
    dataset: Datasets,
    out: Annotated[Path, typer.Option(help="The folder of the library; an earlier one is replaced.")],
    more: More = None,
    split: Split = None,
    format: Format = None,
    add: Annotated[
        bool, typer.Option("--add", help="Add the questions to the library that is there.")
    ] = False,
    anchor: Annotated[
        Literal["longest", "shortest", "medoid", "all"] | None,
        typer.Option(help="The question that stands for a template; longest as in the paper if not given."),
    ] = None,
    relations: Relations = None,
    encoder: Sentences = None,
) -> None:
    """Build a library of blueprints from questions."""
    import time

    started = time.perf_counter()
    with in_one_line():
        from kgqa.cli.blueprint_tables import show_built
        from kgqa.evaluation.learning import material
        from kgqa.priors import blueprints
        from kgqa.priors.blueprints.header import read_header
        from kgqa.priors.blueprints.vocabulary import read_relations

        if add and anchor:
            fail("--add keeps the library's choice of anchors; leave --anchor out", Exit.USAGE)
        known = read_relations(relations) if relations else None
        examples, sources = material([*dataset, *(more or ())], split, format)
        opened = open_encoder(encoder, read_header(out).encoder if add else None)
        if add:
            built = blueprints.add(
                examples, out, opened.encode, opened.name, sources=sources, relations=known
            )
        else:
            built = blueprints.build(
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
    library: Folder,
    question: Annotated[
        str | None, typer.Argument(help="Without one, what the library holds is shown.")
    ] = None,
    topic: Topics = None,
    top: Annotated[int, typer.Option(min=1, help="Blueprints to show.")] = 5,
    encoder: Sentences = None,
) -> None:
    """Show the blueprints nearest to a question, or what a library holds."""
    with in_one_line():
        from kgqa.cli.blueprint_tables import show_library, show_nearest
        from kgqa.priors.blueprints import mask, open_library
        from kgqa.priors.blueprints.header import read_header

        opened = open_encoder(encoder, read_header(library).encoder)
        found = open_library(library, opened.encode, opened.name)
        if question is None:
            show_library(found, top)
        else:
            show_nearest(found, mask(question, topic or ()), top)


@app.command()
def calibrate(
    library: Folder,
    dataset: Datasets,
    more: More = None,
    split: Split = None,
    format: Format = None,
    held_out: Annotated[
        float, typer.Option(min=0.01, max=0.99, help="Share of the questions to copy for.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(min=0, help="Of the choice of those questions.")] = 0,
    precision: Annotated[float, typer.Option(min=0, max=1, help="Share of the copies to be right.")] = 0.9,
    relations: Relations = None,
    write: Annotated[bool, typer.Option("--write", help="Store the threshold in the library.")] = False,
    encoder: Sentences = None,
) -> None:
    """Find the similarity above which a blueprint can be copied.

    Some training questions are held out, a library like this one is made of the others, and
    what it would copy is compared with what the held-out questions have.
    """
    with in_one_line():
        from kgqa.cli.blueprint_tables import show_calibration
        from kgqa.evaluation.learning import material
        from kgqa.priors.blueprints import calibration, lessons
        from kgqa.priors.blueprints.header import read_header, write_tau
        from kgqa.priors.blueprints.vocabulary import read_relations

        header = read_header(library)
        known = read_relations(relations) if relations else None
        learned = lessons(material([*dataset, *(more or ())], split, format).examples, known)
        encode = open_encoder(encoder, header.encoder).encode
        found = calibration.calibrate(learned, encode, header.anchors, held_out, seed)
        tau = found.recommended(precision)
        show_calibration(found, tau, precision)
        if tau is None:
            raise SystemExit(int(Exit.NO_ANSWER))
        if write:
            write_tau(library, tau)
