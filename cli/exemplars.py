"""``kgqa exemplars``: build what guides methods and teaches the offline model, and look into it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from kgqa.priors.blueprints import Topic

app = typer.Typer(help="Build exemplars from questions, or look into them.", no_args_is_help=True)

FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by kgqa exemplars build.")]

GraphOption = Annotated[
    list[str] | None,
    typer.Option(
        help='Says what kind of thing the topic entities are: "sample", RDF files, or a folder made by '
        "kgqa kg load. Without it only the relations do, where they are named by types."
    ),
]


@app.command()
def build(
    dataset: DatasetOption,
    out: Annotated[Path, typer.Option(help="The folder of the exemplars; earlier ones are replaced.")],
    more: FilesArgument = None,
    kg: GraphOption = None,
    split: SplitOption = None,
    format: FormatOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Build exemplars from questions."""
    import time

    started = time.perf_counter()
    with errors_in_one_line():
        from kgqa.cli.exemplar_tables import show_built
        from kgqa.evaluation.datasets.training import load_training_material
        from kgqa.priors import exemplars

        examples, sources = load_training_material([*dataset, *(more or ())], split, format)
        opened = open_encoder(encoder)
        kinds = _categories([topic for each in examples for topic in each.topics], kg)
        built = exemplars.build_exemplars(
            examples, out, opened.encode, opened.name, sources=sources, categories=kinds
        )
    show_built(built, out, time.perf_counter() - started)


@app.command()
def show(
    exemplars: FolderArgument,
    question: Annotated[str | None, typer.Argument(help="Without one, what there is is shown.")] = None,
    topic: TopicOption = None,
    kg: GraphOption = None,
    top: Annotated[int, typer.Option(min=1, help="Exemplars, and hops of a position, to show.")] = 5,
    encoder: EncoderOption = None,
) -> None:
    """Show what exemplars say of a question for the first of its topics, or what they are."""
    with errors_in_one_line():
        from kgqa.cli.exemplar_tables import show_advice, show_all, show_recalled
        from kgqa.priors.blueprints import Topic
        from kgqa.priors.exemplars import (
            DEFAULT_POOL_SIZE,
            make_template,
            mask_topic,
            open_exemplars,
            open_solution_index,
        )
        from kgqa.priors.exemplars.building import read_exemplar_header

        opened = open_encoder(encoder, read_exemplar_header(exemplars).encoder)
        found = open_exemplars(exemplars, opened.encode, opened.name)
        if question is None:
            show_all(found, top)
        else:
            names = topic or []
            show_advice(found, mask_topic(question, next(iter(names), None), names[1:]), top)
            kinds = _categories([Topic(None, name) for name in names], kg)
            template = make_template(question, {name: kinds.get(Topic(None, name)) for name in names})
            index = open_solution_index(exemplars, opened.encode, opened.name)
            show_recalled(template, index.recall(question, template, pool=DEFAULT_POOL_SIZE, shown=top))


def _categories(topics: "Sequence[Topic]", kg: list[str] | None) -> "dict[Topic, str]":
    """Ask a graph what kind of thing entities are; nothing without one."""
    if not kg:
        return {}
    import asyncio

    from kgqa.kg.errors import KGError
    from kgqa.kg.opening import open_graph
    from kgqa.priors.exemplars import find_topic_categories
    from kgqa.runtime.resources import graph_sources

    try:
        return asyncio.run(find_topic_categories(topics, open_graph(graph_sources(kg))))
    except KGError as error:
        fail(str(error), ExitCode.KG_UNAVAILABLE)
