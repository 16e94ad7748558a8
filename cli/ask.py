"""``kgqa ask``: answer one question, and show the record and its steps."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from kgqa.cli import options, output
from kgqa.cli.alternatives import offer_alternatives
from kgqa.cli.ask_file import ask_file
from kgqa.cli.show_record import draw_table, show_record, show_step
from kgqa.cli.suggest import show_suggestions
from kgqa.runtime.record_table import table_of, to_csv
from kgqa.runtime.record_text import say_answers

if TYPE_CHECKING:
    from kgqa.runtime.context import Context
    from kgqa.runtime.record import Record
    from kgqa.runtime.state import Input


def ask(
    question: Annotated[
        str | None,
        typer.Argument(help="The question, in natural language; without one, ten of the graph are shown."),
    ] = None,
    method: options.MethodName = "compose",
    kg: options.Graph = None,
    topic: Annotated[
        list[str] | None, typer.Option(help="Name or id of an entity that the question is about.")
    ] = None,
    model: options.Model = None,
    prompts: options.Wordings = None,
    option: options.MethodOptions = None,
    form: Annotated[
        Literal["table", "csv", "json"] | None,
        typer.Option(
            "--format", help="Print the answers alone, as a table or CSV; or the whole record, as JSON."
        ),
    ] = None,
    sparql: Annotated[
        bool, typer.Option("--sparql", help="Print the query that gives the answers, and nothing else.")
    ] = False,
    watch: Annotated[bool, typer.Option(help="Show each step as it happens.")] = False,
    file: Annotated[
        str | None,
        typer.Option(
            help="Ask the questions of a file instead: a line each, CSV, TSV or JSON with columns question, "
            'id, topics, or any format of kgqa eval; "-" for standard input. Prints one record a line.'
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--output", help="With --file: where the records go; what it has is not asked again."),
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="With --file: questions asked at a time.")] = 8,
) -> None:
    """Answer a question over a knowledge graph, with the path that proves the answer.

    Exit status: 0 answered, 1 no answer (or "unknown" instead of yes or no), 2 usage,
    3 knowledge graph unavailable, 4 model unavailable. With --file: 0 complete, 1 questions failed.
    """
    from kgqa.api import make_context, make_input

    if question is not None and file is not None:
        output.fail("give one question, or --file with many")
    if form and sparql:
        output.fail("give --format or --sparql, not both")
    if out is not None and file is None:
        output.fail("--output goes with --file; one record is printed by --format json")
    if question is None and file is None:
        if form in ("table", "csv") or sparql or watch or topic:
            output.fail("only an answer has a format, a query, steps or topics; give a question")
        show_suggestions(kg, as_json=form == "json")
    if file is not None:
        if form or sparql or watch:
            output.fail("--file prints whole records, one a line; leave --format, --sparql and --watch out")
        with output.errors_in_one_line(ValueError):
            given = options.read_settings(kg, model, prompts, option)
        named = {name: given.pop(name, None) for name in ("kg", "model")}
        arguments = {"method": options.read_method(method), **named, "options": given}
        ask_file(file, out, topic or [], concurrency, arguments)
    try:
        given = options.read_settings(kg, model, prompts, option)
        context = make_context(options.read_method(method), given)
        state = make_input(question or "", topic or [])
    except ValueError as error:
        output.fail(error)
    _show(asyncio.run(_run(state, context, watch=watch, to_stderr=bool(form or sparql))), form, sparql=sparql)


def _show(record: "Record", form: str | None, *, sparql: bool) -> NoReturn:
    """Print a record as it was asked for, and end with its status."""
    answered = bool(record["answers"]) and record["outcome"] != "none"
    if form == "json":
        output.print_json(record)
    errors = [entry for entry in record["trace"] if "error" in entry]
    if status := output.outage_exit_code(record):
        output.fail(errors[-1]["error"] if errors else "the run failed", status)
    if not record["answers"] and errors and errors[0]["node"] == "link":
        output.fail(errors[0]["error"])
    if sparql:
        if not record["query"]:
            why = f"no query gives these answers ({record['outcome']})"
            output.fail(why if record["answers"] else say_answers(record), output.ExitCode.NO_ANSWER)
        typer.echo(record["query"])
    elif form in ("table", "csv"):
        if not answered:
            output.fail(say_answers(record), output.ExitCode.NO_ANSWER)
        table = table_of(record)
        if form == "csv":
            typer.echo(to_csv(table), nl=False)
        else:
            output.open_console().print(draw_table(table))
        if table["truncated"]:
            output.warn("the table is cut: there are more rows")
    elif form is None:
        show_record(record)
        answered |= offer_alternatives(record) is not record
    raise SystemExit(int(output.ExitCode.ANSWERED if answered else output.ExitCode.NO_ANSWER))


async def _run(state: "Input", context: "Context", *, watch: bool, to_stderr: bool) -> "Record":
    from kgqa.api import extract_record, stream_states

    async for now in stream_states(state, context):
        if watch:
            show_step(now["trace"][-1], to_stderr=to_stderr)
    return extract_record(now)
