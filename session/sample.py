"""The sample graph and what is learned from its training questions: built once, into ``KGQA_HOME``."""

import asyncio
import gzip
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import Context
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgqa.data import SAMPLE_GRAPH, SAMPLE_QUESTIONS
from kgqa.kg.graph import KnowledgeGraph
from kgqa.priors.memo import Memo
from kgqa.priors.settings import home

if TYPE_CHECKING:
    from kgqa.priors.blueprints import Example

Build = Callable[..., Any]
"""Builds a folder from examples: of blueprints or of exemplars."""


def sample_graph() -> Path:
    """Give the folder that the sample graph is built into once, or its file where that cannot be; blocks."""
    from kgqa.kg.directory import VERSION, build, is_store
    from kgqa.kg.errors import KGUnavailable

    digest = hashlib.sha256(SAMPLE_GRAPH.read_bytes()).hexdigest()[:16]
    folder = home() / "graphs" / f"sample-{digest}-{VERSION}"
    if is_store(folder):
        return folder
    try:
        with _alone(folder):
            if not is_store(folder):
                build([SAMPLE_GRAPH], folder)
    except (KGUnavailable, OSError):
        return SAMPLE_GRAPH
    return folder


def sample_blueprints(memo: Memo) -> Path:
    """Give the folder of the blueprints of the sample's training questions (blocking)."""
    from kgqa.priors.blueprints import build
    from kgqa.priors.blueprints.header import VERSION

    return _learned("blueprints", VERSION, build, memo)


def sample_exemplars(memo: Memo, graph: KnowledgeGraph) -> Path:
    """Give the folder of the exemplars of the sample's training questions (blocking)."""
    from kgqa.priors.exemplars import VERSION, build, categories_of

    def labelled(examples: "Iterable[Example]", *rest: Any) -> object:
        given = list(examples)
        asked = categories_of([topic for each in given for topic in each.topics], graph)
        categories = Context().run(asyncio.run, asked)  # no question's meter counts these queries
        return build(given, *rest, categories=categories)

    return _learned("exemplars", VERSION, labelled, memo)


def _learned(kind: str, version: int, build: Build, memo: Memo) -> Path:
    """Build what is learned from the sample once, by one process while others wait.

    Where it cannot be kept, each process builds one of its own.
    """
    digest = hashlib.sha256(SAMPLE_QUESTIONS.read_bytes() + memo.name.encode()).hexdigest()[:16]
    folder = home() / kind / f"sample-{digest}-{version}"
    if folder.exists():
        return folder
    try:
        with _alone(folder):
            if not folder.exists():
                _build(build, folder, memo)
    except OSError:
        folder = Path(_own(kind).name) / folder.name
        if not folder.exists():
            _build(build, folder, memo)
    return folder


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time build a folder.

    Raises:
        OSError: if nothing can be written there.
    """
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        yield


@cache
def _own(kind: str) -> "tempfile.TemporaryDirectory[str]":
    """Give a folder that goes when the process does."""
    return tempfile.TemporaryDirectory(prefix="kgqa-")


def _build(build: Build, folder: Path, memo: Memo) -> None:
    from kgqa.priors.blueprints import examples

    lines = (json.loads(line) for line in gzip.decompress(SAMPLE_QUESTIONS.read_bytes()).splitlines())
    build(examples(line for line in lines if line["split"] == "train"), folder, memo.encode, memo.name)
