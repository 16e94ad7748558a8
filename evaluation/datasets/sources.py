"""Where benchmarks are published: what `kgqa data get` fetches by name, as ``sources.toml`` declares it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from kgqa.evaluation.datasets.format import DatasetError
from kgqa.kg.terms import one_line

Host = Literal["hub", "github", "hand"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a benchmark: its files, as they are named where they are published.

    ``files`` hold the questions; at the hub ``*`` in a name stands for anything. ``graph`` is the file of
    triples that they are about, ``questions`` how many there are, ``megabytes`` what is fetched.
    """

    files: tuple[str, ...]
    questions: int | None = None
    megabytes: float | None = None
    graph: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A benchmark and where it is published; the first part is the one that its name alone stands for."""

    name: str
    about: str
    citations: tuple[str, ...]
    host: Host
    repository: str
    parts: Mapping[str, Part]
    licence: str = "none stated by the publisher"
    revision: str = "main"
    checksums: Mapping[str, str] = field(default_factory=dict)
    format: str | None = None  # of the files; None tells it from them
    subgraphs: bool = False  # whether each question comes with a graph of its own, as RoG publishes them

    @property
    def place(self) -> str:
        """The address of the page where people find it."""
        if self.host == "hub":
            return f"https://huggingface.co/datasets/{self.repository}"
        return f"https://github.com/{self.repository}"


def _read_sources() -> dict[str, Source]:
    declared = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    sources: dict[str, dict[str, Any]] = declared["sources"]
    for name, about in sources.items():
        about |= {"name": name, "citations": [declared["citations"][key] for key in about["citations"]]}
    return TypeAdapter(dict[str, Source]).validate_python(sources)


SOURCES: Mapping[str, Source] = _read_sources()  # the benchmarks that are known by name


def find_part(text: str) -> tuple[Source, str] | None:
    """Return the source and the part that a name stands for; None where it is no name of a benchmark.

    >>> source, part = find_part("webqsp:train")
    >>> source.repository, part, find_part("cwq")[1], find_part("questions.jsonl")
    ('rmanluo/RoG-webqsp', 'train', 'test', None)

    Raises:
        DatasetError: if the benchmark has no such part.
    """
    name, _, part = text.lower().partition(":")
    if (source := SOURCES.get(name)) is None:
        return None
    if part and part not in source.parts:
        raise DatasetError(f"{name} has no part {one_line(part, 40)!r}; it has {', '.join(source.parts)}")
    return source, part or next(iter(source.parts))
