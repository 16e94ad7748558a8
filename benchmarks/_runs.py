"""What the benchmarks of methods share: runs of ``kgqa eval``, side by side, and tables in pages."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from kgqa.docs.fill import filled

T = TypeVar("T")
U = TypeVar("U")

DOCS = Path(__file__).parents[1] / "docs"

SIDE_BY_SIDE = 2
"""Runs that are made at a time; each is a process that asks one question after the other."""


@dataclass(frozen=True)
class Ask:
    """What one run asks of whom.

    Attributes:
        dataset: "sample", or a file of questions.
        kg: "sample", or files.
        method: the method that asks.
        model: the model that is asked.
        split: the part of the dataset.
        limit: questions at most.
        seed: of the simulated model.
        options: of the method.
    """

    dataset: str
    kg: tuple[str, ...]
    method: str
    model: str
    split: str = "all"
    limit: int | None = None
    seed: int = 0
    options: Mapping[str, str] = field(default_factory=dict)

    def arguments(self, out: Path) -> list[str]:
        """Return the command's arguments."""
        given = {"dataset": self.dataset, "method": self.method, "model": self.model, "split": self.split}
        more = {"seed": str(self.seed), "concurrency": "1", "out": str(out)}
        limit = {} if self.limit is None else {"limit": str(self.limit)}
        pairs = [
            *(given | more | limit).items(),
            *(("kg", name) for name in self.kg),
            *(("option", f"{key}={value}") for key, value in self.options.items()),
        ]
        return [part for key, value in pairs for part in (f"--{key}", value)]


@dataclass(frozen=True)
class Ran:
    """A run that is over: its folder and what it has measured."""

    out: Path
    metrics: dict[str, Any]

    @property
    def failed(self) -> bool:
        """Whether no question could be asked."""
        return bool(self.metrics["errors"] == self.metrics["n"])


def kgqa(*arguments: str) -> None:
    """Run a command of kgqa; questions may fail, the command may not.

    Raises:
        RuntimeError: with what the command said.
    """
    command = [sys.executable, "-P", "-m", "kgqa.cli.main", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode not in (0, 1):
        raise RuntimeError(f"kgqa {' '.join(arguments)}: {ended.stderr.strip()[-500:]}")


def asked(ask: Ask, out: Path) -> Ran:
    """Make a run, or read it where it is made already."""
    if not (out / "metrics.json").is_file():
        kgqa("eval", *ask.arguments(out))
    return Ran(out, json.loads((out / "metrics.json").read_bytes()))


def side_by_side(do: Callable[[T], U], things: Iterable[T]) -> list[U]:
    """Do something with each of some things, a few at a time."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        return list(pool.map(do, things))


def drawn(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Draw a table; all columns but the first are numbers."""
    ruler = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ruler, *rows))


def put(page: Path, blocks: Mapping[str, str]) -> None:
    """Put blocks into a page, each between its own mark and the next end.

    Raises:
        ValueError: if a mark is missing.
    """
    text = filled(page, blocks)
    beside = page.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, page)
