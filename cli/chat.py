"""``kgqa chat``: a conversation over a graph, line by line."""

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import typer

from kgqa.cli import options, output
from kgqa.cli.show_record import show_record

if TYPE_CHECKING:
    from kgqa.graphs.chat import Chat


def chat(
    kg: options.Graph = None,
    model: options.Model = None,
    method: options.MethodName = "compose",
    prompts: options.Wordings = None,
    option: options.MethodOptions = None,
) -> None:
    """Ask, and go on asking ("and Ecuador?", "what is their capital?"), until the input ends.

    Each answer comes with the path that proves it. A line of its own asks; an empty one, or Ctrl-D, ends.
    """
    from kgqa.graphs import load_method
    from kgqa.graphs.chat import Chat
    from kgqa.runtime.context import Context

    named: dict[str, Any] = {"kg": tuple(kg) if kg else None, "model": model, "prompts": prompts}
    given = {key: value for key, value in named.items() if value is not None}
    with output.errors_in_one_line(ValueError):
        own = options.read_options(option)
        shared = {key: own.pop(key) for key in list(own) if key in Context.model_fields or key == "rewrite"}
        answering = load_method(options.read_method(method))
        context = Chat(answer_by=answering, answer_options=own, **given, **shared)
    asyncio.run(_converse(context))


async def _converse(context: "Chat") -> None:
    from kgqa.graphs.chat import graph

    messages: list[Any] = []
    while said := (await asyncio.to_thread(_read_line)).strip():
        state = await graph.ainvoke({"messages": [*messages, ("user", said)]}, context=context)
        messages = state["messages"]
        if state["record"]:
            if state["question"] != said:
                typer.echo(f"  {state['question']}")
            show_record(state["record"])
        else:
            typer.echo(messages[-1].text)


def _read_line() -> str:
    """Read what is said next; empty at the end of the input."""
    if sys.stdin.isatty():
        typer.echo("> ", nl=False)
    return sys.stdin.readline()
