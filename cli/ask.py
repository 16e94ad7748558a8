"""``kgqa ask``: answer one question, and show the record and its steps."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.cli import options, output
from kgqa.cli.ask_file import ask_file
from kgqa.cli.show_record import show_record, show_step
from kgqa.cli.suggest import show_suggestions

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
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole record as JSON.")] = False,
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
    if question is None and file is None:
        show_suggestions(kg, as_json=as_json)
    if file is not None:
        if as_json or sparql or watch:
            output.fail("--file prints whole records, one a line; leave --json, --sparql and --watch out")
        with output.errors_in_one_line(ValueError):
            given = options.read_settings(kg, model, prompts, option)
        named = {name: given.pop(name, None) for name in ("kg", "model")}
        arguments = {"method": options.read_method(method), **named, "options": given}
        ask_file(file, out, topic or [], concurrency, arguments)
    if out is not None:
        output.fail("--output goes with --file; one record is printed by --json")
    try:
        given = options.read_settings(kg, model, prompts, option)
        context = make_context(options.read_method(method), given)
        state = make_input(question or "", topic or [])
    except ValueError as error:
        output.fail(error)
    record = asyncio.run(_run(state, context, watch=watch, to_stderr=as_json or sparql))
    if as_json:
        output.print_json(record)
    elif sparql and record["query"]:
        typer.echo(record["query"])
    errors = [entry for entry in record["trace"] if "error" in entry]
    if status := output.outage_exit_code(record):
        output.fail(errors[-1]["error"] if errors else "the run failed", status)
    if not record["answers"] and errors and errors[0]["node"] == "link":
        output.fail(errors[0]["error"])
    if sparql and not record["query"] and record["answers"]:
        output.fail(f"no query gives these answers ({record['outcome']})", output.ExitCode.NO_ANSWER)
    if not (as_json or (sparql and record["query"])):
        show_record(record)
    answered = record["answers"] and record["outcome"] != "none"
    raise SystemExit(int(output.ExitCode.ANSWERED if answered else output.ExitCode.NO_ANSWER))


async def _run(state: "Input", context: "Context", *, watch: bool, to_stderr: bool) -> "Record":
    from kgqa.api import extract_record, stream_states

    async for now in stream_states(state, context):
        if watch:
            show_step(now["trace"][-1], to_stderr=to_stderr)
    return extract_record(now)
