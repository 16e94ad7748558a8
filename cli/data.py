"""``kgqa data``: benchmarks by name: which there are, bring them here, make a graph of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from kgqa.cli import output

if TYPE_CHECKING:
    from kgqa.evaluation.datasets.fetching import Watcher
    from kgqa.evaluation.datasets.sources import Source

app = typer.Typer(
    help="Benchmarks by name: list them, fetch them, make a graph of them.", no_args_is_help=True
)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Of kgqa data list; a part behind a colon: webqsp:train.")
]


@app.command("list")
def list_(as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False) -> None:
    """List the benchmarks: what each is, its parts, licence, where it is published, what of it is here."""
    from kgqa.evaluation.datasets.sources import SOURCES

    rows = [_describe(source) for source in SOURCES.values()]
    if as_json:
        output.print_json(rows)
        return
    console = output.open_console()
    for row in rows:
        console.print(Text(f"{row['name']}  ", style="bold").append(row["about"], style="default"))
        for part in row["parts"]:
            about = [f"{part['questions']:,} questions"] if part["questions"] else []
            about += [f"{part['megabytes']:g} MB"] if part["megabytes"] else []
            about += ["here"] if part["here"] else []
            style = "green" if part["here"] else ""
            console.print(Text(f"  {part['name']}: {', '.join(about) or 'size not known'}", style=style))
        console.print(Text(f"  licence: {row['licence']} · {row['published']}", style="dim"))


def _describe(source: "Source") -> dict[str, Any]:
    from kgqa.evaluation.datasets.published import files_here, read_record

    first = next(iter(source.parts))
    return {
        "name": source.name,
        "about": source.about,
        "licence": read_record(source).get("licence", source.licence),
        "published": source.place,
        "citations": list(source.citations),
        "parts": [
            {
                "name": source.name if name == first else f"{source.name}:{name}",
                "questions": part.questions,
                "megabytes": part.megabytes,
                "here": bool(files_here(source, name)),
            }
            for name, part in source.parts.items()
        ],
    }


@app.command()
def get(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="Of kgqa data list; a part behind a colon: webqsp:train."),
    ],
    origin: Annotated[
        Path | None,
        typer.Option("--from", help="A folder that has the files under their published names."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Ask the publisher again, and take what has changed.")
    ] = False,
) -> None:
    """Fetch benchmarks from where they are published; the same command goes on where it ended.

    The licence is shown before anything is fetched, the checksum of each file is verified. HF_ENDPOINT names
    a mirror of the Hugging Face hub, KGQA_GITHUB one of GitHub's files; HF_TOKEN lets you in.
    """
    from kgqa.evaluation.datasets import DatasetError, load
    from kgqa.evaluation.datasets.published import folder_of, get_part, locate

    with output.errors_in_one_line(DatasetError), output.exit_on_termination():
        parts = [_find(name) for name in names]
        for name, (source, part) in zip(names, parts, strict=True):
            output.print_line(f"{name}: {source.about}")
            output.print_line(f"  published: {source.place}")
            for citation in source.citations:
                output.print_line(f"  {citation}")

            with _download_bar() as watch:
                here = get_part(source, part, origin=origin, update=update, watch=watch, tell=_tell)
            for path, known in here.items():
                kind = "sha256" if len(known["checksum"]) == 64 else "git"
                size = f"{known['bytes']:,} bytes"
                output.print_line(f"  {path}: {size}, {kind} {known['checksum']}, verified")
            with _questions_bar(source.parts[part].questions) as watch_questions:
                locate(source, part, watch_questions)
            questions = len(load(name).questions)
            output.print_line(f"  {questions:,} questions, in {folder_of(source)}")


@app.command()
def graph(
    name: Name,
    out: Annotated[
        Path, typer.Option(help="The folder to build; it must be new, empty, or made by this command.")
    ],
) -> None:
    """Build one graph of what a benchmark is published with: of all its questions together.

    Then --kg names the folder. Without it, kgqa eval asks each question of webqsp and cwq over its own graph.
    """
    from kgqa.builds import scratch_folder
    from kgqa.evaluation.datasets import DatasetError, load
    from kgqa.evaluation.datasets.published import write_union
    from kgqa.kg.store.directory import build_store

    with output.errors_in_one_line(DatasetError), output.exit_on_termination():
        _find(name)
        dataset = load(name)
        if dataset.graph is None:
            raise DatasetError(f"{name} comes without a graph; name that of an endpoint with --kg")
        if dataset.graph.suffix != ".sqlite":
            facts = build_store([dataset.graph], out)
        else:
            out.absolute().parent.mkdir(parents=True, exist_ok=True)
            with scratch_folder(out.absolute().parent) as folder:
                triples = folder / f"{dataset.name.replace(':', '-')}.nt"
                write_union(dataset.graph, triples)
                facts = build_store([triples], out)
    output.print_line(f"{facts.triples:,} triples of {name}: {out}")


def _tell(line: str) -> None:
    output.print_line(f"  {line}")


def _find(name: str) -> "tuple[Source, str]":
    from kgqa.evaluation.datasets import DatasetError
    from kgqa.evaluation.datasets.sources import SOURCES, find_part

    if found := find_part(name):
        return found
    raise DatasetError(f"no benchmark is called {name!r}; there are {', '.join(SOURCES)}")


@contextmanager
def _questions_bar(total: int | None) -> Iterator[Callable[[int], None]]:
    """Show how many questions are made ready, where stderr is a terminal."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("made ready", total=total)
        yield lambda number: progress.update(task, completed=number)


@contextmanager
def _download_bar() -> "Iterator[Watcher]":
    """Show how far each file is, where stderr is a terminal."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:

        def watch(name: str, size: int, whole: int | None) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=whole)
            progress.update(tasks[name], completed=size, total=whole)

        yield watch
