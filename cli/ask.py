"""``kgqa ask``: answer one question, and show the record and its steps."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.cli import options, output
from kgqa.cli.show_record import show_record, show_step

if TYPE_CHECKING:
    from kgqa.runtime.context import Context
    from kgqa.runtime.record import Record
    from kgqa.runtime.state import Input


def ask(
    question: Annotated[str, typer.Argument(help="The question, in natural language.")],
    method: options.MethodName = "compose",
    kg: Annotated[
        list[str] | None,
        typer.Option(
            help='"sample", an RDF file (several for one graph), a folder made by kgqa kg load, or the '
            "address of a SPARQL endpoint."
        ),
    ] = None,
    topic: Annotated[
        list[str] | None, typer.Option(help="Name or id of an entity that the question is about.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help='"provider:name", or "offline" for no language model.')
    ] = None,
    prompts: options.Wordings = None,
    option: options.MethodOptions = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole record as JSON.")] = False,
    sparql: Annotated[
        bool, typer.Option("--sparql", help="Print the query that gives the answers, and nothing else.")
    ] = False,
    watch: Annotated[bool, typer.Option(help="Show each step as it happens.")] = False,
) -> None:
    """Answer a question over a knowledge graph, with the path that proves the answer.

    Exit status: 0 answered, 1 no answer (or "unknown" instead of yes or no), 2 usage,
    3 knowledge graph unavailable, 4 model unavailable.
    """
    from kgqa.api import make_context, make_input

    try:
        named = {"kg": tuple(kg) if kg else None, "model": model, "prompts": prompts}
        given = {key: value for key, value in named.items() if value is not None}
        given |= options.read_options(option)
        context = make_context(options.read_method(method), given)
        state = make_input(question, topic or [])
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
