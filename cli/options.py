"""Options that several commands share, and ``--option key=value`` of a method."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

MethodName = Annotated[
    str,
    typer.Option(
        help="How to answer (kgqa methods lists them), or your own, as module:graph or file.py:graph."
    ),
]
MethodOptions = Annotated[
    list[str] | None, typer.Option(help="An option of the method, as key=value; see: kgqa methods METHOD.")
]
Wordings = Annotated[
    str | None,
    typer.Option(help="A folder of other words for prompts; see: kgqa prompts export."),
]
Graph = Annotated[
    list[str] | None,
    typer.Option(
        help='"sample" (default), an RDF file or a table (several for one graph), a folder of tables, one of '
        "kgqa kg load, the address of a SPARQL endpoint or a property graph, or a name that kgqa kg list has."
    ),
]
Model = Annotated[str | None, typer.Option(help='"provider:name", or "offline" for no language model.')]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        help="A metric of your own beside ours, as module:name or file.py:name: a function of a record and "
        "its question (repeatable).",
    ),
]
Limit = Annotated[int | None, typer.Option(min=1, help="Questions to ask at most.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Questions asked at a time.")]

Datasets = Annotated[
    list[str],
    typer.Option(help='"sample", or a file of questions with SPARQL or gold paths, plain or gzipped.'),
]
MoreFiles = Annotated[list[str] | None, typer.Argument(metavar="[FILE]...", help="Further files.")]
Split = Annotated[
    str | None,
    typer.Option(help='The part to learn from, or "all"; without it train, or all of a file without parts.'),
]
Format = Annotated[str | None, typer.Option(help="Of the files; told from each if not given.")]
EncoderName = Annotated[
    str | None, typer.Option(help="A sentence encoder, by name or folder; else the folder's own, or MiniLM.")
]
Topics = Annotated[list[str] | None, typer.Option(help="The name of a topic entity, to be masked.")]


def read_method(name: str) -> str:
    """Return the name of a method as it is known: what says where one stands is taken to the letter."""
    return name if ":" in name else name.lower()


def read_settings(
    kg: Sequence[str] | None, model: str | None, prompts: str | None, pairs: Sequence[str] | None
) -> dict[str, Any]:
    """Return what is set of a context, by switches of its own and by ``--option``, which wins."""
    named = {"kg": tuple(kg) if kg else None, "model": model, "prompts": prompts}
    return {name: given for name, given in named.items() if given is not None} | read_options(pairs)


def read_options(pairs: Sequence[str] | None) -> dict[str, Any]:
    """Read ``key=value`` pairs, else raise ValueError; ``budget.llm_calls=9`` reaches into a group."""
    options: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, text = pair.partition("=")
        if not equals or not all(key.split(".")):
            raise ValueError(f"an option is written key=value, not {pair!r}")
        *groups, last = key.split(".")
        inner = options
        for group in groups:
            inner = inner.setdefault(group, {})
            if not isinstance(inner, dict):
                raise ValueError(f"the option {group} is given as one value and in parts")
        if isinstance(inner.get(last), dict):
            raise ValueError(f"the option {key} is given as one value and in parts")
        try:
            inner[last] = json.loads(text)
        except (ValueError, RecursionError):  # no JSON, or deeper than Python reads
            inner[last] = text
    return options
