"""``kgqa kg``: look at a knowledge graph, check an endpoint, or build a graph on disk."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from kgqa.cli import output
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.kg.pages import GraphInfo
    from kgqa.kg.profile.profile import ClassProfile, Profile
    from kgqa.kg.sparql_graph import SparqlGraph
    from kgqa.kg.store.directory import GraphReader, KeepsName

app = typer.Typer(help="Look at a knowledge graph, or build one on disk.", no_args_is_help=True)

LEVEL_COLOURS = {"good": "green", "note": "cyan", "warning": "yellow", "fatal": "bold red"}

LEVEL_SUMMARIES = {
    "good": "kgqa can use it",
    "warning": "kgqa can use it, but look at the warnings",
    "fatal": "kgqa cannot use it like this",
}

ADDRESS_ADVICE = "write it as http://host:8890/sparql"


@app.command()
def check(
    url: Annotated[
        str,
        typer.Argument(metavar="URL", help="The address of a SPARQL endpoint, or the name of a public one."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Measure a SPARQL endpoint and say what is wrong with it, and what to do; takes half a minute at most.

    Exit status: 0 good, 1 usable with warnings, 2 usage, 3 unusable.
    """
    from kgqa.addresses import is_web_address
    from kgqa.kg.doctor.check import check_endpoint
    from kgqa.kg.public_endpoints import named_endpoint

    with output.errors_in_one_line():
        url = known.url if (known := named_endpoint(url)) else url
    if not is_web_address(url):
        output.fail(f"this is no address of an endpoint; {ADDRESS_ADVICE}")
    try:
        found = asyncio.run(check_endpoint(url))
    except KGUnavailable as error:
        output.fail(f"{error}; {ADDRESS_ADVICE}")
    if as_json:
        output.print_json({"url": found.url, "level": found.level, **asdict(found)})
    else:
        console = output.open_console()
        console.print(Text(one_line(found.url), style="bold"))
        for each in found.findings:
            line = Text(f"{each.level:8}", style=LEVEL_COLOURS[each.level])
            line.append(f"{each.check}: {one_line(each.says, output.MAX_LINE_CHARS)}", style="default")
            if each.advice:
                line.append(f"; to do: {one_line(each.advice, output.MAX_LINE_CHARS)}", style="italic")
            console.print(line)
        summary = f"{LEVEL_SUMMARIES[found.level]} ({found.seconds:.0f} s)"
        console.print(Text(summary, style=LEVEL_COLOURS[found.level]))
    raise SystemExit(
        {"good": 0, "warning": output.ExitCode.WARNED, "fatal": output.ExitCode.KG_UNAVAILABLE}[found.level]
    )


@app.command("list")
def list_endpoints(
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """List the public endpoints that --kg knows by name."""
    from kgqa.kg.public_endpoints import ENDPOINTS

    if as_json:
        rows = ENDPOINTS.values()
        said = [{"name": e.name, "url": e.url, "dialect": e.dialect.name, "limits": e.limits} for e in rows]
        output.print_json(said)
        return
    for each in ENDPOINTS.values():
        output.print_line(f"{each.name}: {each.url} ({each.dialect.name})")
        output.print_line(f"  {each.limits}")


@app.command()
def info(
    kg: Annotated[
        list[str],
        typer.Argument(
            help='"sample", RDF files, tables or a mapping of tables, a folder made by kgqa kg load, the '
            "address of a SPARQL endpoint or a property graph, or the name of a public endpoint."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show what is in a knowledge graph: its size, its classes, and what their members have."""
    from kgqa.cli.show_profile import show_profile
    from kgqa.kg.opening import open_graph
    from kgqa.kg.profile.cards import make_cards

    with output.errors_in_one_line():
        graph = open_graph(kg)
        found, profile, classes = asyncio.run(_look(graph))
    cards = make_cards(profile, classes, graph.relation_label)
    if as_json:
        output.print_json(
            {**asdict(found), "classes": [*map(asdict, cards)], "summary": asdict(profile.summary)}
        )
    else:
        show_profile(found, profile.summary, cards, graph.relation_label)


async def _look(graph: "SparqlGraph") -> "tuple[GraphInfo, Profile, list[ClassProfile]]":
    from kgqa.kg.profile.cards import with_names

    profile = await graph.profile()
    return await graph.info(), profile, await with_names(graph, profile.classes)


@app.command()
def suggest(
    kg: Annotated[list[str] | None, typer.Argument(help="A graph, as kgqa kg info takes it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print whole records, one a line.")] = False,
) -> None:
    """Print ten questions that a knowledge graph answers, with their answers; no language model is asked.

    The search ends twenty seconds after the graph is open. Exit status: 0 some, 1 none, 3 graph unavailable.
    """
    from kgqa.cli.suggest import show_suggestions

    show_suggestions(kg, as_json=as_json)


@app.command()
def load(
    files: Annotated[
        list[str],
        typer.Argument(
            help="RDF files, tables, folders of tables, or a mapping of tables, several of which make one "
            "graph; or the address of a property graph: neo4j://user:password@host:7687/database."
        ),
    ],
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
    from kgqa.addresses import is_web_address
    from kgqa.evaluation.datasets import DatasetError
    from kgqa.kg.public_endpoints import ENDPOINTS
    from kgqa.kg.store.directory import build_store

    if any(is_web_address(file) or file in ENDPOINTS for file in files):
        output.fail("an endpoint is not loaded; ask it with: kgqa ask QUESTION --kg URL")
    with (
        output.errors_in_one_line(DatasetError),
        output.exit_on_termination(),
        loading_bar(output.open_console(stderr=True)) as watch,
    ):
        build_store(_source(files, watch), out, _name_filter(names_of) if names_of else None, watch)
    output.print_line(f"built {out}; ask it with: kgqa ask QUESTION --kg {out}")


def _source(names: Sequence[str], watch: Callable[[float], None]) -> "Sequence[Path] | GraphReader":
    """Return the files to load, or what reads a property graph."""
    from kgqa.kg.opening import is_address
    from kgqa.kg.property_graph import PropertyGraphReader

    if not any(map(is_address, names)):
        return list(map(Path, names))
    if len(names) > 1:
        raise KGUnavailable("a property graph is a whole graph and goes alone")
    return PropertyGraphReader(names[0], watch)


@app.command("map")
def write_mapping(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Tables (CSV, TSV, Parquet), or folders of them.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The file to write, such as mapping.toml beside the tables.")
    ] = None,
) -> None:
    """Write the mapping that is inferred for tables as TOML, with a reason for each guess."""
    from kgqa.builds import replace_file
    from kgqa.kg.store.loading import files_of
    from kgqa.kg.tables.inference import infer_mapping, is_triple_table
    from kgqa.kg.tables.mapping import MAPPING_SUFFIX
    from kgqa.kg.tables.mapping_text import write_toml
    from kgqa.kg.tables.reading import table_suffix

    with output.errors_in_one_line(OSError):
        tables = [path for file in files for path in files_of(file, mapped=False)]
        if others := [path for path in tables if not table_suffix(path)]:
            output.fail(f"{others[0]} is no table; name files of CSV, TSV or Parquet, or a folder of them")
        triples = [path for path in tables if is_triple_table(path)]
        if triples == tables:
            output.fail(f"{tables[0]} is a table of triples: --kg {tables[0]}")
        folder = out.absolute().parent if out else None
        inferred = infer_mapping(tables, folder, triples=triples)
        text = write_toml(inferred)
        if out is None:
            typer.echo(text, nl=False)
            return
        if out.suffix.lower() != MAPPING_SUFFIX:
            output.fail(f"call it {out.with_suffix(MAPPING_SUFFIX).name}: a mapping is a file of TOML")
        replace_file(out, lambda file: file.write(text.encode()))
    beside = "".join(f" --kg {path}" for path in triples if path.absolute() not in inferred.mapped.files)
    output.print_line(f"wrote {out}; ask it with: kgqa ask QUESTION --kg {out}{beside}")


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
    from kgqa.kg.store.dump_filter import filter_dump

    if dialect and dialect not in DIALECTS:
        output.fail(f"no dialect is called {dialect!r}; there are: {', '.join(DIALECTS)}")
    with output.errors_in_one_line(), output.exit_on_termination():
        found, counts = filter_dump(dumps, out, DIALECTS[dialect] if dialect else None)
    output.print_line(
        f"{found.name}: kept {counts.kept:,} of {counts.lines:,} triples in {out}; left out: "
        f"{counts.relations:,} of other relations, {counts.languages:,} in other languages, "
        f"{counts.malformed:,} malformed"
    )


def _name_filter(questions: Path) -> "KeepsName":
    """Return what tells topics and answers of questions: by their ids, else by their names."""
    from kgqa.evaluation.datasets import load
    from kgqa.evaluation.simulation.graph_cache import resolve_iri

    asked = load(questions).questions
    ends = [end for question in asked for end in (*question.topics, *question.gold)]
    ids = {resolve_iri(end.id) for end in ends}
    names = {name for end in ends if not resolve_iri(end.id) for name in (end.name, *end.aliases)}
    return lambda id, name: id in ids or name in names


@contextmanager
def loading_bar(console: Console) -> Iterator[Callable[[float], None]]:
    """Show a progress bar during a ``with`` block, and return what is told the share that is read.

    Nothing is shown where the console is no terminal.
    """
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        expand=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task("reading", total=1.0)

    def show(share: float) -> None:
        if share < 1.0:
            bar.update(task, completed=share)
        else:
            bar.update(task, description="indexing names", total=None)

    with bar:
        yield show
