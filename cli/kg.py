"""``kgqa kg``: look at a knowledge graph, or build one on disk."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.cli.check import check
from kgqa.cli.exits import Exit, fail, tidily
from kgqa.cli.saying import say, say_json

if TYPE_CHECKING:
    from kgqa.kg.directory import Keeps
    from kgqa.kg.pages import GraphInfo

app = typer.Typer(help="Look at a knowledge graph, or build one on disk.", no_args_is_help=True)

app.command("check")(check)

RELATIONS = 20
"""Relations that ``kgqa kg info`` lists at most."""


@app.command()
def info(
    kg: Annotated[
        list[str],
        typer.Argument(
            help='"sample", RDF files, a folder made by kgqa kg load, or the address of a SPARQL endpoint.'
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show the size and the relations of a knowledge graph."""
    import asyncio
    from dataclasses import asdict

    from kgqa.kg.errors import KGError
    from kgqa.kg.opening import open_graph
    from kgqa.session.resources import graph_sources

    try:
        found = asyncio.run(open_graph(graph_sources(kg)).info())
    except KGError as error:
        fail(str(error), Exit.KG_UNAVAILABLE)
    if as_json:
        say_json(asdict(found))
    else:
        _show(found)


@app.command()
def load(
    files: Annotated[list[Path], typer.Argument(help="RDF files; several make one graph.")],
    out: Annotated[
        Path, typer.Option(help="The folder to build; it must be new, empty, or made by this command.")
    ],
    names_of: Annotated[
        Path | None,
        typer.Option(
            metavar="QUESTIONS",
            help="Leave all nodes without a name but the topics and answers of these questions.",
        ),
    ] = None,
) -> None:
    """Build a knowledge graph on disk once, to be opened at once ever after."""
    from kgqa.evaluation.datasets import DatasetError
    from kgqa.kg.directory import build
    from kgqa.kg.errors import KGError

    if any(file.parts[:1] in {("http:",), ("https:",)} for file in files):
        fail("an endpoint is not loaded; ask it with: kgqa ask QUESTION --kg URL", Exit.USAGE)
    try:
        with tidily():
            build(files, out, _keeping(names_of) if names_of else None)
    except DatasetError as error:
        fail(str(error), Exit.USAGE)
    except KGError as error:
        fail(str(error), Exit.KG_UNAVAILABLE)
    say(f"built {out}; ask it with: kgqa ask QUESTION --kg {out}")


@app.command("filter")
def thin_out(
    dumps: Annotated[list[Path], typer.Argument(metavar="DUMP...", help="N-Triples: .nt or .nt.gz files.")],
    out: Annotated[Path, typer.Option(help="The file to write: .nt or .nt.gz.")],
    dialect: Annotated[
        str | None,
        typer.Option(help="freebase, wikidata or plain; if not given, the first 100,000 lines tell it."),
    ] = None,
) -> None:
    """Leave out of a dump what kgqa never looks at, before it is loaded: other languages, noise."""
    from kgqa.kg.dialect import DIALECTS
    from kgqa.kg.errors import KGError
    from kgqa.kg.filtering import filter_dump

    if dialect and dialect not in DIALECTS:
        fail(f"no dialect is called {dialect!r}; there are: {', '.join(DIALECTS)}", Exit.USAGE)
    try:
        with tidily():
            found, counts = filter_dump(dumps, out, DIALECTS[dialect] if dialect else None)
    except KGError as error:
        fail(str(error), Exit.KG_UNAVAILABLE)
    say(
        f"{found.name}: kept {counts.kept:,} of {counts.lines:,} triples in {out}; left out: "
        f"{counts.relations:,} of other relations, {counts.languages:,} in other languages, "
        f"{counts.malformed:,} malformed"
    )


def _keeping(questions: Path) -> "Keeps":
    """Tell topics and answers of questions: by their ids, those without one by their names.

    Raises:
        DatasetError: if the file cannot be read.
    """
    from kgqa.evaluation.datasets import load
    from kgqa.evaluation.simulation.steps import iri_of

    asked = load(questions).questions
    ends = [end for question in asked for end in (*question.topics, *question.gold)]
    ids = {iri_of(end.id) for end in ends}
    names = {name for end in ends if not iri_of(end.id) for name in (end.name, *end.aliases)}
    return lambda id, name: id in ids or name in names


def _show(found: "GraphInfo") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from kgqa.kg.terms import one_line

    console = Console(highlight=False)
    console.print(Text(one_line(f"{found.source} ({found.dialect})"), style="bold"))
    console.print(
        f"{_count(found.triples)} triples, {_count(found.entities)} entities ({_count(found.named)} named), "
        f"{_count(found.relations or None)} relations"
    )
    table = Table("relation", "triples", box=None)
    table.columns[1].justify = "right"
    for relation, count in found.relation_counts[:RELATIONS]:
        table.add_row(Text(one_line(relation)), f"{count:,}")
    if found.relations > RELATIONS:
        table.add_row(f"... and {found.relations - RELATIONS} more (--json gives all)", "")
    console.print(table)


def _count(number: int | None) -> str:
    return "not counted" if number is None else f"{number:,}"
