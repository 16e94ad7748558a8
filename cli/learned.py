"""What the commands share that learn from questions: their options and how they end early."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from kgqa.cli.exits import Exit, fail, tidily

if TYPE_CHECKING:
    from kgqa.priors.encoder import Encoder

Datasets = Annotated[
    list[str],
    typer.Option(help='"sample", or a file of questions with SPARQL or gold paths, plain or gzipped.'),
]
More = Annotated[list[str] | None, typer.Argument(metavar="[FILE]...", help="Further files.")]
Split = Annotated[
    str | None,
    typer.Option(help='The part to learn from, or "all"; without it train, or all of a file without parts.'),
]
Format = Annotated[str | None, typer.Option(help="Of the files; told from each if not given.")]
Sentences = Annotated[
    str | None, typer.Option(help="A sentence encoder, by name or folder; else the folder's own, or MiniLM.")
]
Topics = Annotated[list[str] | None, typer.Option(help="The name of a topic entity, to be masked.")]


def open_encoder(name: str | None, built_with: str | None = None) -> "Encoder":
    """Open the encoder of a name, else that which a folder was built with, else the bundled one."""
    from kgqa.priors import encoder

    return encoder.open_encoder(name or built_with)


@contextmanager
def in_one_line() -> Iterator[None]:
    """Turn whatever ends a command early into one line."""
    from kgqa.evaluation.datasets import DatasetError
    from kgqa.priors.errors import EncoderError, PriorError

    try:
        with tidily():
            yield
    except (DatasetError, PriorError, EncoderError) as error:
        fail(str(error), Exit.USAGE)
