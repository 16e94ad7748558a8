"""``kgqa chat``, and ``kgqa`` alone on a terminal: question after question, each answer with its proof."""

import asyncio
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

from kgqa import __version__
from kgqa.cli import options, output
from kgqa.cli.alternatives import show_alternatives, show_taken
from kgqa.cli.show_record import show_record, show_step
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage

    from kgqa.graphs.chat import Chat
    from kgqa.runtime.context import Context
    from kgqa.runtime.record import Record

PROMPT = "? "

HELP = """\
Ask, and go on asking ("and Ecuador?", "what is their capital?"); or give a command:
  :method NAME       how to answer (kgqa methods lists them)
  :kg NAME ...       the graph: "sample", files, a folder of kgqa kg load, an address, a name
  :model NAME        who answers prompts: provider:name, or "offline"
  :option KEY=VALUE  an option of the method
  :topic NAME, ...   what the next questions are about; without a name, they are searched for it
  :new               forget what was said
  :watch             show each step as it happens, or no longer
  :sparql            the query that gives the answers of the last question
  :quit              end, as Ctrl-D does"""


def chat(
    kg: options.Graph = None,
    model: options.Model = None,
    method: options.MethodName = "compose",
    prompts: options.Wordings = None,
    option: options.MethodOptions = None,
) -> None:
    """Ask, and go on asking ("and Ecuador?", "what is their capital?"), until the input ends.

    Each answer comes with the path that proves it. A line asks, or is a command; :help lists them.
    """
    with output.errors_in_one_line(ValueError):
        given = options.read_settings(kg, model, prompts, option)
        session = Session(options.read_method(method), given)
        session.open()
    converse(session)


@dataclass
class Session:
    """What has been set, what was said, and the record of the last question."""

    method: str = "compose"
    settings: dict[str, Any] = field(default_factory=dict)
    topics: list[str] = field(default_factory=list)
    watch: bool = False
    messages: "list[AnyMessage]" = field(default_factory=list)
    record: "Record | None" = None

    def context(self) -> "Context":
        """Make the context of a question; ValueError if an option is not taken."""
        from kgqa.api import make_context

        return make_context(self.method, self.settings)

    def open(self) -> None:
        """Open the graph that is set; ValueError or `KGError` if it cannot be."""
        from kgqa.runtime.resources import open_tools

        open_tools(self.context())

    def command(self, line: str) -> bool:
        """Carry out a command; return whether the session goes on. ValueError says what is wrong with it."""
        name, _, rest = line[1:].partition(" ")
        words = shlex.split(rest) if name == "kg" else rest.split()
        if name in ("quit", "q", "exit"):
            return False
        if name == "method" and len(words) == 1:
            self._change(method=options.read_method(words[0]))
        elif name == "kg" and words:
            self._change(kg=tuple(words))
            self.messages.clear()
        elif name == "model" and len(words) == 1:
            self._change(model=words[0])
        elif name == "option" and rest:
            self._change(**options.read_options([rest.strip()]))
        elif name == "topic":
            self.topics = [topic.strip() for topic in rest.split(",") if topic.strip()]
        elif name == "new":
            self.messages.clear()
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

    def _change(self, method: str | None = None, **settings: Any) -> None:
        """Set what is taken; else nothing is changed, and ValueError or `KGError` says why."""
        changed = Session(method or self.method, {**self.settings, **settings})
        changed.open() if "kg" in settings else changed.context()
        self.method, self.settings = changed.method, changed.settings

    def describe(self) -> str:
        """Say in one line what is set."""
        from kgqa.files import printable_path

        context = self.context()
        said = f"{self.method} · {context.model} · {', '.join(context.config()['kg'])}"
        said += f" · about {', '.join(self.topics)}" if self.topics else ""
        return printable_path(said + (" · steps are shown" if self.watch else ""))

    async def ask(self, said: str) -> None:
        """Make what is said a whole question, ask it and show the record; ValueError if it is not taken."""
        from langchain_core.messages import HumanMessage

        from kgqa.graphs.chat import graph
        from kgqa.nodes.chat.state import PROOF_KEY

        message = HumanMessage(said, additional_kwargs={PROOF_KEY: {"topics": self.topics}})
        given = {"messages": [*self.messages, message]}
        steps, state = 0, {}
        modes: dict[str, Any] = {"stream_mode": "values", "subgraphs": True}
        async for inside, seen in graph.astream(given, context=self._chat(), **modes):
            if not inside:
                state = seen
            elif self.watch and len(seen.get("trace", ())) > steps:
                steps = len(seen["trace"])
                show_step(seen["trace"][-1], to_stderr=False)
        self.messages = state["messages"]
        if (record := state["record"]) is None:
            typer.echo(self.messages[-1].text)
            return
        self.record = record
        if not state["question"]:
            return show_taken(record, in_sentence=True)
        if state["question"] != said:
            typer.echo(f"  {one_line(state['question'])}")
        errors = [entry["error"] for entry in record["trace"] if "error" in entry]
        if errors and not record["answers"]:
            raise ValueError(errors[-1])
        show_record(record, in_sentence=True)
        show_alternatives(record)

    def _chat(self) -> "Chat":
        from kgqa.graphs.chat import Chat
        from kgqa.runtime.context import Context

        method = self.context().method
        own = {key: value for key, value in self.settings.items() if key not in Context.model_fields}
        shared = {key: value for key, value in self.settings.items() if key in Context.model_fields}
        return Chat(answer_by=method, answer_options=own, **shared)


def read_line() -> str:
    """Read what is said next; EOFError at the end of the input."""
    return input(PROMPT if sys.stdin.isatty() else "")


def converse(session: Session, read: Callable[[], str] = read_line) -> None:
    """Answer line after line until Ctrl-D or ``:quit``; Ctrl-C stops the question at hand."""
    from kgqa.kg.errors import KGError

    with suppress(ImportError):  # lines of before, and keys to edit this one
        import readline  # noqa: F401

    if sys.stdin.isatty():
        typer.echo(f"kgqa {__version__} · {session.describe()}")
        typer.echo("Type a question; :help lists commands, Ctrl-D ends.")
    with asyncio.Runner() as runner:
        while True:
            try:
                line = read().strip()
            except EOFError:
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
            except (ValueError, KGError) as error:
                output.warn(error)
