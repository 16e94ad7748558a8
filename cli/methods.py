"""``kgqa methods``: what there is to answer questions with."""

import json
from typing import TYPE_CHECKING, Annotated, Literal, get_args, get_origin

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgqa.cli.output import errors_in_one_line
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


def methods(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[METHOD]...", help="Those to list; else all.")
    ] = None,
) -> None:
    """List the methods and their options."""
    from kgqa.graphs import METHODS, context_of, headline_of

    console = Console(highlight=False)
    with errors_in_one_line(ValueError):
        listed = {name: context_of(name) for name in dict.fromkeys(map(str.lower, names or METHODS))}
    for name, schema in listed.items():
        console.print(f"[bold]{name}[/bold]  {headline_of(name)}")
        table = Table("option", "default", "", box=None, padding=(0, 2))
        for key, field in schema.model_fields.items():
            table.add_row(key, Text(one_line(option_default(field))), Text(option_help(field)))
        console.print(table)
    typer.echo("Set an option with: kgqa ask QUESTION --option key=value (budget.llm_calls=9 for a group)")


def option_default(field: "FieldInfo") -> str:
    """Return the default of an option as ``--option`` takes it."""
    default = field.get_default(call_default_factory=True)
    if isinstance(default, str):
        return default
    return json.dumps(default.model_dump() if hasattr(default, "model_dump") else default)


def option_help(field: "FieldInfo") -> str:
    """Say what an option is for, and which words it can be."""
    parts = (field.annotation, *get_args(field.annotation))
    words = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    if words and type(None) in parts:
        words.append("null")
    return (field.description or "") + (f"; one of: {', '.join(words)}" if words else "")
