"""``kgqa kg``: look at a knowledge graph, check an endpoint, or build a graph on disk."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.cli.output import ExitCode, exit_on_termination, fail, print_json, print_line

if TYPE_CHECKING:
    from kgqa.kg.doctor.target import Report
if TYPE_CHECKING:
    from kgqa.kg.pages import GraphInfo
    from kgqa.kg.store.directory import KeepsName

LEVEL_COLOURS = {"good": "green", "note": "cyan", "warning": "yellow", "fatal": "bold red"}

LEVEL_SUMMARIES = {
    "good": "kgqa can use it",
    "warning": "kgqa can use it, but look at the warnings",
    "fatal": "kgqa cannot use it like this",
}


def check(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address of a SPARQL endpoint.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Measure a SPARQL endpoint and say what is wrong with it, and what to do; takes half a minute at most.

    Exit status: 0 good, 1 usable with warnings, 2 usage, 3 unusable.
    """
    import asyncio
    from dataclasses import asdict

    from kgqa.addresses import is_web_address
    from kgqa.kg.doctor.check import check_endpoint as look
    from kgqa.kg.errors import KGUnavailable

    if not is_web_address(url):
        fail("this is no address of an endpoint; write it as http://host:8890/sparql", ExitCode.USAGE)
    try:
        found = asyncio.run(look(url))
    except KGUnavailable as error:
        fail(f"{error}; write it as http://host:8890/sparql", ExitCode.USAGE)
    if as_json:
        print_json({"url": found.url, "level": found.level, **asdict(found)})
    else:
        _print_report(found)
    raise SystemExit({"good": 0, "warning": ExitCode.WARNED, "fatal": ExitCode.KG_UNAVAILABLE}[found.level])


def _print_report(found: "Report") -> None:
    from rich.console import Console
    from rich.text import Text

    from kgqa.kg.terms import one_line

    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(one_line(found.url), style="bold"))
    for each in found.findings:
        line = Text(f"{each.level:8}", style=LEVEL_COLOURS[each.level])
        line.append(f"{each.check}: {one_line(each.says, 1000)}", style="default")
        if each.advice:
            line.append(f"; to do: {one_line(each.advice, 1000)}", style="italic")
        console.print(line)
    console.print(
        Text(f"{LEVEL_SUMMARIES[found.level]} ({found.seconds:.0f} s)", style=LEVEL_COLOURS[found.level])
    )


app = typer.Typer(help="Look at a knowledge graph, or build one on disk.", no_args_is_help=True)

app.command("check")(check)

MAX_RELATIONS = 20
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
    from kgqa.runtime.resources import graph_sources

    try:
        found = asyncio.run(open_graph(graph_sources(kg)).info())
    except KGError as error:
        fail(str(error), ExitCode.KG_UNAVAILABLE)
    if as_json:
        print_json(asdict(found))
    else:
        _print_info(found)


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
    from kgqa.kg.errors import KGError
    from kgqa.kg.store.directory import build_store

    if any(file.parts[:1] in {("http:",), ("https:",)} for file in files):
        fail("an endpoint is not loaded; ask it with: kgqa ask QUESTION --kg URL", ExitCode.USAGE)
    try:
        with exit_on_termination():
            build_store(files, out, _name_filter(names_of) if names_of else None)
    except DatasetError as error:
        fail(str(error), ExitCode.USAGE)
    except KGError as error:
        fail(str(error), ExitCode.KG_UNAVAILABLE)
    print_line(f"built {out}; ask it with: kgqa ask QUESTION --kg {out}")


@app.command("filter")
def filter_triples(
    dumps: Annotated[list[Path], typer.Argument(metavar="DUMP...", help="N-Triples: .nt or .nt.gz files.")],
    out: Annotated[Path, typer.Option(help="The file to write: .nt or .nt.gz.")],
    dialect: Annotated[
        str | None,
        typer.Option(help="freebase, wikidata or plain; if not given, the first 100,000 lines tell it."),
    ] = None,
) -> None:
    """Leave out of a dump what kgqa never looks at, before it is loaded: other languages, noise."""
    from kgqa.kg.dialects import DIALECTS
    from kgqa.kg.errors import KGError
    from kgqa.kg.store.dump_filter import filter_dump

    if dialect and dialect not in DIALECTS:
        fail(f"no dialect is called {dialect!r}; there are: {', '.join(DIALECTS)}", ExitCode.USAGE)
    try:
        with exit_on_termination():
            found, counts = filter_dump(dumps, out, DIALECTS[dialect] if dialect else None)
    except KGError as error:
        fail(str(error), ExitCode.KG_UNAVAILABLE)
    print_line(
        f"{found.name}: kept {counts.kept:,} of {counts.lines:,} triples in {out}; left out: "
        f"{counts.relations:,} of other relations, {counts.languages:,} in other languages, "
        f"{counts.malformed:,} malformed"
    )


def _name_filter(questions: Path) -> "KeepsName":
    """Tell topics and answers of questions: by their ids, those without one by their names.

    Raises:
        DatasetError: if the file cannot be read.
    """
    from kgqa.evaluation.datasets import load
    from kgqa.evaluation.simulation.graph_cache import resolve_iri

    asked = load(questions).questions
    ends = [end for question in asked for end in (*question.topics, *question.gold)]
    ids = {resolve_iri(end.id) for end in ends}
    names = {name for end in ends if not resolve_iri(end.id) for name in (end.name, *end.aliases)}
    return lambda id, name: id in ids or name in names


def _print_info(found: "GraphInfo") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from kgqa.kg.terms import one_line

    console = Console(highlight=False)
    console.print(Text(one_line(f"{found.source} ({found.dialect})"), style="bold"))
    console.print(
        f"{_format_count(found.triples)} triples, {_format_count(found.entities)} entities ({_format_count(found.named)} named), "
        f"{_format_count(found.relations or None)} relations"
    )
    table = Table("relation", "triples", box=None)
    table.columns[1].justify = "right"
    for relation, count in found.relation_counts[:MAX_RELATIONS]:
        table.add_row(Text(one_line(relation)), f"{count:,}")
    if found.relations > MAX_RELATIONS:
        table.add_row(f"... and {found.relations - MAX_RELATIONS} more (--json gives all)", "")
    console.print(table)


def _format_count(number: int | None) -> str:
    return "not counted" if number is None else f"{number:,}"
