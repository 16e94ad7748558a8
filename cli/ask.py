"""``kgqa ask``: answer one question."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.exits import Exit, fail, outage
from kgqa.cli.options import read_options
from kgqa.cli.saying import say_json

if TYPE_CHECKING:
    from kgqa.session.context import Context
    from kgqa.session.record import Record
    from kgqa.session.state import Input


def ask(
    question: Annotated[str, typer.Argument(help="The question, in natural language.")],
    method: Annotated[str, typer.Option(help="How to answer it; see: kgqa methods.")] = "cor",
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
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the method, as key=value; see: kgqa methods.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole record as JSON.")] = False,
    watch: Annotated[bool, typer.Option(help="Show each step as it happens.")] = False,
) -> None:
    """Answer a question over a knowledge graph, with the path that proves the answer.

    Exit status: 0 answered, 1 no answer (or "unknown" instead of yes or no), 2 usage,
    3 knowledge graph unavailable, 4 model unavailable.
    """
    from kgqa.api import make_context, question_input

    try:
        given = {"kg": tuple(kg) if kg else None, "model": model, **read_options(option or [])}
        context = make_context(
            method.lower(), {key: value for key, value in given.items() if value is not None}
        )
        state = question_input(question, topic or [])
    except ValueError as error:
        fail(str(error), Exit.USAGE)
    record = _run(state, context, watch, as_json)
    if as_json:
        say_json(record)
    _complain(record)
    if not as_json:
        from kgqa.cli.show import show_record

        show_record(record)
    answered = record["answers"] and record["outcome"] != "none"
    raise SystemExit(int(Exit.ANSWERED if answered else Exit.NO_ANSWER))


def _run(state: "Input", context: "Context", watch: bool, quiet: bool) -> "Record":
    import asyncio

    async def run() -> "Record":
        from kgqa.api import record_of, steps

        async for now in steps(state, context):
            if watch:
                from kgqa.cli.show import show_step

                show_step(now["trace"][-1], to_stderr=quiet)
        return record_of(now)

    return asyncio.run(run())


def _complain(record: "Record") -> None:
    """End with the exit status of an outage, or of a topic that the graph does not have."""
    errors = [entry for entry in record["trace"] if "error" in entry]
    if status := outage(record):
        fail(_plain(errors), status)
    if not record["answers"] and errors and errors[0]["node"] == "link":
        fail(errors[0]["error"], Exit.USAGE)


def _plain(errors: list[dict[str, Any]]) -> str:
    return str(errors[-1]["error"]) if errors else "the run failed"
