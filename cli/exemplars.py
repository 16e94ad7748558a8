"""``kgqa exemplars``: build what the offline model learns from training questions, and look into it."""

from pathlib import Path
from typing import Annotated

import typer

from kgqa.cli.learned import Datasets, Format, More, Sentences, Split, Topics, in_one_line, open_encoder

app = typer.Typer(help="Build exemplars from questions, or look into them.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by kgqa exemplars build.")]


@app.command()
def build(
    dataset: Datasets,
    out: Annotated[Path, typer.Option(help="The folder of the exemplars; earlier ones are replaced.")],
    more: More = None,
    split: Split = None,
    format: Format = None,
    encoder: Sentences = None,
) -> None:
    """Build exemplars from questions."""
    import time

    started = time.perf_counter()
    with in_one_line():
        from kgqa.cli.exemplar_tables import show_built
        from kgqa.evaluation.learning import material
        from kgqa.priors import exemplars

        examples, sources = material([*dataset, *(more or ())], split, format)
        opened = open_encoder(encoder)
        built = exemplars.build(examples, out, opened.encode, opened.name, sources=sources)
    show_built(built, out, time.perf_counter() - started)


@app.command()
def show(
    exemplars: Folder,
    question: Annotated[str | None, typer.Argument(help="Without one, what there is is shown.")] = None,
    topic: Topics = None,
    top: Annotated[int, typer.Option(min=1, help="Exemplars, and hops of a position, to show.")] = 5,
    encoder: Sentences = None,
) -> None:
    """Show what exemplars say of a question for the first of its topics, or what they are."""
    with in_one_line():
        from kgqa.cli.exemplar_tables import show_advice, show_all
        from kgqa.priors.exemplars import masked, open_exemplars
        from kgqa.priors.exemplars.header import read_header

        opened = open_encoder(encoder, read_header(exemplars).encoder)
        found = open_exemplars(exemplars, opened.encode, opened.name)
        if question is None:
            show_all(found, top)
        else:
            names = topic or []
            show_advice(found, masked(question, next(iter(names), None), names[1:]), top)
