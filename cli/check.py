"""``kgqa kg check``: measure a SPARQL endpoint, and say what is wrong with it."""

from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.cli.exits import Exit, fail
from kgqa.cli.saying import say_json

if TYPE_CHECKING:
    from kgqa.kg.checking.finding import Report

COLOURS = {"good": "green", "note": "cyan", "warning": "yellow", "fatal": "bold red"}

ENDS = {
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

    from kgqa.addresses import is_address
    from kgqa.kg.checking.check import check as look
    from kgqa.kg.errors import KGUnavailable

    if not is_address(url):
        fail("this is no address of an endpoint; write it as http://host:8890/sparql", Exit.USAGE)
    try:
        found = asyncio.run(look(url))
    except KGUnavailable as error:
        fail(f"{error}; write it as http://host:8890/sparql", Exit.USAGE)
    if as_json:
        say_json({"url": found.url, "level": found.level, **asdict(found)})
    else:
        _show(found)
    raise SystemExit({"good": 0, "warning": Exit.WARNED, "fatal": Exit.KG_UNAVAILABLE}[found.level])


def _show(found: "Report") -> None:
    from rich.console import Console
    from rich.text import Text

    from kgqa.kg.terms import one_line

    console = Console(highlight=False, soft_wrap=True)
    console.print(Text(one_line(found.url), style="bold"))
    for each in found.findings:
        line = Text(f"{each.level:8}", style=COLOURS[each.level])
        line.append(f"{each.check}: {one_line(each.says, 1000)}", style="default")
        if each.advice:
            line.append(f"; to do: {one_line(each.advice, 1000)}", style="italic")
        console.print(line)
    console.print(Text(f"{ENDS[found.level]} ({found.seconds:.0f} s)", style=COLOURS[found.level]))
