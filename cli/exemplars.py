"""``kgqa exemplars``: build what guides methods and teaches the offline model, and look into it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.cli.exits import Exit, fail
from kgqa.cli.learned import Datasets, Format, More, Sentences, Split, Topics, in_one_line, open_encoder

if TYPE_CHECKING:
    from kgqa.priors.blueprints import Topic

app = typer.Typer(help="Build exemplars from questions, or look into them.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by kgqa exemplars build.")]

Graph = Annotated[
    list[str] | None,
    typer.Option(
        help='Says what kind of thing the topic entities are: "sample", RDF files, or a folder made by '
        "kgqa kg load. Without it only the relations do, where they are named by types."
    ),
]


@app.command()
def build(
    dataset: Datasets,
    out: Annotated[Path, typer.Option(help="The folder of the exemplars; earlier ones are replaced.")],
    more: More = None,
    kg: Graph = None,
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
        kinds = _categories([topic for each in examples for topic in each.topics], kg)
        built = exemplars.build(examples, out, opened.encode, opened.name, sources=sources, categories=kinds)
    show_built(built, out, time.perf_counter() - started)


@app.command()
def show(
    exemplars: Folder,
    question: Annotated[str | None, typer.Argument(help="Without one, what there is is shown.")] = None,
    topic: Topics = None,
    kg: Graph = None,
    top: Annotated[int, typer.Option(min=1, help="Exemplars, and hops of a position, to show.")] = 5,
    encoder: Sentences = None,
) -> None:
    """Show what exemplars say of a question for the first of its topics, or what they are."""
    with in_one_line():
        from kgqa.cli.exemplar_tables import show_advice, show_all, show_recalled
        from kgqa.priors.blueprints import Topic
        from kgqa.priors.exemplars import POOL, masked, open_exemplars, open_index, templated
        from kgqa.priors.exemplars.header import read_header

        opened = open_encoder(encoder, read_header(exemplars).encoder)
        found = open_exemplars(exemplars, opened.encode, opened.name)
        if question is None:
            show_all(found, top)
        else:
            names = topic or []
            show_advice(found, masked(question, next(iter(names), None), names[1:]), top)
            kinds = _categories([Topic(None, name) for name in names], kg)
            template = templated(question, {name: kinds.get(Topic(None, name)) for name in names})
            index = open_index(exemplars, opened.encode, opened.name)
            show_recalled(template, index.recall(question, template, pool=POOL, shown=top))


def _categories(topics: "Sequence[Topic]", kg: list[str] | None) -> "dict[Topic, str]":
    """Ask a graph what kind of thing entities are; nothing without one."""
    if not kg:
        return {}
    import asyncio

    from kgqa.kg.errors import KGError
    from kgqa.kg.opening import open_graph
    from kgqa.priors.exemplars import categories_of
    from kgqa.session.resources import graph_sources

    try:
        return asyncio.run(categories_of(topics, open_graph(graph_sources(kg))))
    except KGError as error:
        fail(str(error), Exit.KG_UNAVAILABLE)
