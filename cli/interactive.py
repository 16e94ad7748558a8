"""``kgqa`` on a terminal: asks for question after question, and shows each answer with its proof."""

import asyncio
import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from kgqa import __version__
from kgqa.cli import output
from kgqa.cli.options import read_method
from kgqa.cli.show_record import show_record, show_step

if TYPE_CHECKING:
    from kgqa.runtime.record import Record

PROMPT = "? "

HELP = """\
Type a question, or a command:
  :method NAME    how to answer (kgqa methods lists them)
  :kg NAME ...    the graph: "sample", files, a folder of kgqa kg load, an address, a name
  :model NAME     who answers prompts: provider:name, or "offline"
  :topic NAME ... what the next questions are about; without a name, they are searched for it
  :watch          show each step as it happens, or no longer
  :sparql         the query that gives the answers of the last question
  :quit           end, as Ctrl-D does"""


@dataclass
class Session:
    """What has been set, and the record of the last question."""

    settings: dict[str, Any] = field(default_factory=dict)
    method: str = "compose"
    topics: list[str] = field(default_factory=list)
    watch: bool = False
    record: "Record | None" = None

    def command(self, line: str) -> bool:
        """Carry out a command; return whether the session goes on. ValueError says what is wrong with it."""
        from kgqa.api import make_context

        name, *words = shlex.split(line[1:]) or [""]
        if name in ("quit", "q", "exit"):
            return False
        if name == "method" and len(words) == 1:
            make_context(read_method(words[0]), self.settings)
            self.method = read_method(words[0])
        elif name in ("kg", "model") and words and (name == "kg" or len(words) == 1):
            changed = {**self.settings, name: tuple(words) if name == "kg" else words[0]}
            make_context(self.method, changed)
            self.settings = changed
        elif name == "topic":
            self.topics = words
        elif name == "watch":
            self.watch = not self.watch
        elif name == "sparql":
            query = self.record["query"] if self.record else None
            typer.echo(query or "no query gives the last answers")
            return True
        elif name in ("help", "h"):
            typer.echo(HELP)
            return True
        else:
            raise ValueError(f"no such command, or not like this: {line}; :help lists them")
        typer.echo(self.describe())
        return True

    def describe(self) -> str:
        """Say in one line what is set."""
        from kgqa.api import make_context
        from kgqa.files import printable_path

        context = make_context(self.method, self.settings)
        said = f"{self.method} · {context.model} · {', '.join(context.config()['kg'])}"
        said += f" · about {', '.join(self.topics)}" if self.topics else ""
        return printable_path(said + (" · steps are shown" if self.watch else ""))

    async def ask(self, question: str) -> None:
        """Ask a question and show the record; ValueError if it or an option is not taken."""
        from kgqa.api import extract_record, make_context, make_input, stream_states

        context = make_context(self.method, self.settings)
        state: dict[str, Any] = {}
        async for state in stream_states(make_input(question, self.topics), context):
            if self.watch:
                show_step(state["trace"][-1], to_stderr=False)
        self.record = extract_record(state)
        errors = [entry["error"] for entry in self.record["trace"] if "error" in entry]
        if errors and not self.record["answers"]:
            raise ValueError(errors[-1])
        show_record(self.record)


def run(read: Callable[[str], str] = input) -> None:
    """Ask for questions until Ctrl-D or ``:quit``; Ctrl-C stops the question at hand."""
    with suppress(ImportError):  # lines of before, and keys to edit this one
        import readline  # noqa: F401

    session = Session()
    typer.echo(f"kgqa {__version__} · {session.describe()}")
    typer.echo("Type a question; :help lists commands, Ctrl-D ends.")
    with asyncio.Runner() as runner:
        while True:
            try:
                line = read(PROMPT).strip()
            except EOFError:
                typer.echo()
                return
            except KeyboardInterrupt:
                typer.echo()
                continue
            try:
                if line.startswith(":"):
                    if not session.command(line):
                        return
                elif line:
                    runner.run(session.ask(line))
            except KeyboardInterrupt:
                typer.echo("stopped")
            except ValueError as error:
                output.warn(error)
