"""``kgqa exemplars``: build what guides methods and teaches the offline model, and look into it."""

import asyncio
import math
import shlex
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from kgqa.cli import options, output

if TYPE_CHECKING:
    from kgqa.kg.sparql.intent import QuestionIntent
    from kgqa.priors.exemplars import ExemplarLibrary
    from kgqa.priors.slots import Slot
    from kgqa.priors.solutions import RecalledSolution
    from kgqa.priors.training_questions import Topic

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
    dataset: options.Datasets,
    out: Annotated[Path, typer.Option(help="The folder of the exemplars; earlier ones are replaced.")],
    more: options.MoreFiles = None,
    kg: GraphOption = None,
    split: options.Split = None,
    format: options.Format = None,
    encoder: options.EncoderName = None,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published",
            help="As the paper does (EGP 4.1): templates are encoded with kinds in place, and of each topic "
            "all chains count, not the shortest.",
        ),
    ] = False,
) -> None:
    """Build exemplars from questions."""
    from kgqa.evaluation.datasets import DatasetError
    from kgqa.evaluation.datasets.training import load_training_material
    from kgqa.priors import exemplars
    from kgqa.priors.encoder import open_encoder

    started = time.perf_counter()
    with output.errors_in_one_line(DatasetError), output.exit_on_termination():
        examples, sources = load_training_material([*dataset, *(more or ())], split, format)
        opened = open_encoder(encoder)
        kinds = _categories([topic for each in examples for topic in each.topics], kg)
        built = exemplars.build_exemplars(
            examples,
            out,
            opened.encode,
            opened.name,
            sources=sources,
            categories=kinds,
            as_published=as_published,
        )
    counts = f"{built.exemplars:,} exemplars and {built.templates:,} templates"
    made = f"{counts} in {out}, {time.perf_counter() - started:.1f} s"
    output.print_build(built.questions, built.without, "chain", made)


@app.command()
def add(
    exemplars: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; a new one is begun.")],
    question: Annotated[str, typer.Argument(help="The question, as it was asked.")],
    query: Annotated[str, typer.Option(help="The SPARQL that answers it.")],
    topic: Annotated[
        list[str],
        typer.Option(help="What the question calls that from which the query sets out, in its order."),
    ],
    encoder: options.EncoderName = None,
) -> None:
    """Add a question and its query to exemplars, so that similar questions are read as it is."""
    from kgqa.priors.encoder import open_encoder
    from kgqa.priors.exemplars import EXEMPLAR_STORE, add_exemplar, read_exemplar_header

    with output.errors_in_one_line(), output.exit_on_termination():
        known = EXEMPLAR_STORE.exists(exemplars)
        opened = open_encoder(encoder or (read_exemplar_header(exemplars).encoder if known else None))
        built = add_exemplar(question, query, topic, exemplars, opened.encode, opened.name)
    output.print_line(f"{built.exemplars:,} exemplars and {built.templates:,} templates in {exemplars}")
    output.print_line(f"Questions are read like them with --option exemplars={shlex.quote(str(exemplars))}")


@app.command()
def show(
    exemplars: FolderArgument,
    question: Annotated[str | None, typer.Argument(help="Without one, what there is is shown.")] = None,
    topic: options.Topics = None,
    kg: GraphOption = None,
    top: Annotated[int, typer.Option(min=1, help="Exemplars, and hops of a position, to show.")] = 5,
    encoder: options.EncoderName = None,
) -> None:
    """Show what exemplars say of a question for the first of its topics, or what they are."""
    from kgqa.priors import exemplars as priors, masking, solutions
    from kgqa.priors.encoder import open_encoder
    from kgqa.priors.training_questions import Topic

    with output.errors_in_one_line(), output.exit_on_termination():
        opened = open_encoder(encoder or priors.read_exemplar_header(exemplars).encoder)
        folder = priors.EXEMPLAR_STORE.open(exemplars, opened.name)
        found = priors.read_exemplars(folder, opened.encode)
        if question is None:
            _print_exemplars(found, top)
        else:
            names = topic or []
            _print_advice(found, masking.mask_topic(question, next(iter(names), None), names[1:]), top)
            kinds = _categories([Topic(None, name) for name in names], kg)
            template = masking.make_template(question, {name: kinds.get(Topic(None, name)) for name in names})
            index = priors.read_solution_index(folder, opened.encode)
            recalled = index.recall(question, template, pool=solutions.DEFAULT_POOL_SIZE, shown=top)
            _print_recalled(template, recalled)


def _categories(topics: "Sequence[Topic]", kg: list[str] | None) -> "dict[Topic, str]":
    """Ask a graph what kind of thing entities are; nothing without one."""
    if not kg:
        return {}
    from kgqa.kg.opening import open_graph
    from kgqa.priors.categories import find_topic_categories

    return asyncio.run(find_topic_categories(topics, open_graph(kg)))


def _print_exemplars(exemplars: "ExemplarLibrary", top: int) -> None:
    console, header = output.open_console(), exemplars.header
    console.print(
        f"{header.questions:,} questions, {sum(header.without.values()):,} of them without a chain, "
        f"{header.exemplars:,} exemplars: a masked question and its chain, once for each topic entity; "
        f"{header.templates:,} templates: a question with categories for its topics, and all its chains"
    )
    console.print(output.styled_line(f"encoder {header.encoder}"))
    intents: Counter[QuestionIntent] = Counter()
    chains: Counter[tuple[Slot, ...]] = Counter()
    lengths: Counter[int] = Counter()
    for each in exemplars.exemplars:
        intents[each.asked] += each.weight
        chains[each.chain] += each.weight
        lengths[len(each.chain)] += each.weight
    rows = ((str(length), f"{questions:,}") for length, questions in sorted(lengths.items()))
    console.print(output.make_table("hops", "chains", rows=rows))
    asked = ((f"{times:,}", _describe_intent(intent)) for intent, times in intents.most_common(top))
    console.print(output.make_table("chains", "asked of their ends", rows=asked))
    drawn = ((f"{times:,}", output.draw_slots(chain)) for chain, times in chains.most_common(top))
    console.print(output.make_table("times", "chain", rows=drawn))


def _print_advice(exemplars: "ExemplarLibrary", masked: str, top: int) -> None:
    from kgqa.priors.masking import TOPIC_MASK

    console = output.open_console()
    console.print(output.styled_line(masked))
    if TOPIC_MASK not in masked:
        console.print("no topic entity is masked; name it, as the question does, with --topic")
    nearest = (
        (f"{similarity:.3f}", f"{near.weight:,}", near.question, output.draw_slots(near.chain))
        for near, similarity in exemplars.nearest(masked, top)
    )
    console.print(output.make_table("similarity", "questions", "exemplar", "chain", rows=nearest))
    hops = (
        (str(number), f"{math.exp(score):.1%}", "no further hop" if slot is None else str(slot))
        for number, likely in enumerate(exemplars.hops(masked)[:-1], 1)
        for slot, score in sorted(likely.items(), key=lambda pair: -pair[1])[:top]
    )
    console.print(output.make_table("hop", "probability", "relation", rows=hops))
    intent, share = max(exemplars.asked(masked).items(), key=lambda pair: pair[1])
    console.print(output.styled_line(f"asked: {_describe_intent(intent)} ({share:.1%})"))


def _print_recalled(template: str, recalled: "Sequence[RecalledSolution]") -> None:
    console = output.open_console()
    console.print(output.styled_line(f"as a template: {template}"))
    joint = Text(" & ")
    rows = (
        (
            f"{similarity or 0:.3f}",
            f"{each.questions:,}",
            each.template,
            joint.join(map(output.draw_slots, each.branches)),
        )
        for each, similarity in recalled
    )
    console.print(output.make_table("similarity", "questions", "solved question", "chains", rows=rows))


def _describe_intent(asked: "QuestionIntent") -> str:
    ends = "the ends of all chains together" if asked.union else "the ends"
    if asked.kind in {"all", "count"}:
        return f"{'all' if asked.kind == 'all' else 'the number of'} {ends}"
    return f"the {asked.kind} of {ends}{f' by {asked.by}' if asked.by else ''}"
