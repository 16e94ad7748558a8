"""``kgqa methods``: what there is to answer questions with."""

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer
from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgqa.cli.options import read_method
from kgqa.cli.output import fail
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


def methods(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[METHOD]...", help="Those whose options to list, your own as module:graph."),
    ] = None,
) -> None:
    """List the methods, or the options of some."""
    from kgqa.graphs import all_methods, context_of, headline_of, load_method
    from kgqa.plugins import PluginError

    console = Console(highlight=False)
    listed = {}
    for named in dict.fromkeys(map(read_method, names or all_methods())):
        try:
            name = load_method(named)
            listed[name] = context_of(name)
        except PluginError as error:  # of many that are installed, one that is broken hides no other
            if names:
                fail(error)
            typer.echo(f"kgqa: {error}", err=True)
        except ValueError as error:
            fail(error)
    if not names:
        overview = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for name in listed:
            overview.add_row(Text(name, "bold"), Text(headline_of(name)))
        console.print(overview)
        typer.echo("The options of one: kgqa methods METHOD")
        return
    for name, schema in listed.items():
        console.print(Text.assemble((name, "bold"), f"  {headline_of(name)}"))
        table = Table("option", "default", "", box=None, padding=(0, 2))
        for key, field in schema.model_fields.items():
            table.add_row(key, Text(one_line(option_default(field))), Text(option_help(field)))
        console.print(table)
        for preset, values in getattr(schema, "PRESETS", {}).items():
            says = " ".join(f"{key}={option_text(value)}" for key, value in values.items())
            console.print(Text(f"  preset={preset} sets {says}"), soft_wrap=True)
    typer.echo("Set an option with: kgqa ask QUESTION --option key=value (budget.llm_calls=9 for a group)")


def option_default(field: "FieldInfo") -> str:
    """Return the default of an option as ``--option`` takes it; "" where it has none."""
    if field.is_required():
        return ""
    return option_text(field.get_default(call_default_factory=True))


def option_text(value: Any) -> str:
    """Return the value of an option as ``--option`` takes it."""
    plain = to_jsonable_python(value, fallback=str)
    return plain if isinstance(plain, str) else json.dumps(plain)


def option_help(field: "FieldInfo") -> str:
    """Say what an option is for, and which words it can be."""
    parts = (field.annotation, *get_args(field.annotation))
    words = [str(word) for part in parts if get_origin(part) is Literal for word in get_args(part)]
    if words and bool in parts:
        words = ["true", "false", *words]
    if words and type(None) in parts:
        words.append("null")
    return (field.description or "") + (f"; one of: {', '.join(words)}" if words else "")
