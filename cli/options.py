"""Options that several commands share, and ``--option key=value`` of a method."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kgqa.cli.output import ExitCode, exit_on_termination, fail

if TYPE_CHECKING:
    from kgqa.priors.encoder import Encoder


def read_options(pairs: list[str]) -> dict[str, Any]:
    """Read ``key=value`` pairs; a dotted key reaches into a group (``budget.llm_calls=9``).

    Raises:
        ValueError: for a pair without ``=``.
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise ValueError(f"an option is written key=value, not {pair!r}")
        *groups, last = key.split(".")
        inner = options
        for group in groups:
            inner = inner.setdefault(group, {})
            if not isinstance(inner, dict):
                raise ValueError(f"the option {group} is given as one value and in parts")
        inner[last] = _parse_value(text)
    return options


def _parse_value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or deeper than Python reads
        return text


DatasetOption = Annotated[
    list[str],
    typer.Option(help='"sample", or a file of questions with SPARQL or gold paths, plain or gzipped.'),
]
FilesArgument = Annotated[list[str] | None, typer.Argument(metavar="[FILE]...", help="Further files.")]
SplitOption = Annotated[
    str | None,
    typer.Option(help='The part to learn from, or "all"; without it train, or all of a file without parts.'),
]
FormatOption = Annotated[str | None, typer.Option(help="Of the files; told from each if not given.")]
EncoderOption = Annotated[
    str | None, typer.Option(help="A sentence encoder, by name or folder; else the folder's own, or MiniLM.")
]
TopicOption = Annotated[list[str] | None, typer.Option(help="The name of a topic entity, to be masked.")]


def open_encoder(name: str | None, built_with: str | None = None) -> "Encoder":
    """Open the encoder of a name, else that which a folder was built with, else the bundled one."""
    from kgqa.priors import encoder

    return encoder.open_encoder(name or built_with)


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Turn whatever ends a command early into one line."""
    from kgqa.evaluation.datasets import DatasetError
    from kgqa.priors.errors import EncoderError, PriorError

    try:
        with exit_on_termination():
            yield
    except (DatasetError, PriorError, EncoderError) as error:
        fail(str(error), ExitCode.USAGE)
