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
from kgqa.priors.encoder import CachedEncoder, cache_folder

if TYPE_CHECKING:
    from kgqa.priors.blueprints import TrainingQuestion

Build = Callable[..., Any]
"""Builds a folder from examples: of blueprints or of exemplars."""


def sample_graph() -> Path:
    """Return the folder that the sample graph is built into once, or its file where that cannot be; blocks."""
    from kgqa.kg.errors import KGUnavailable
    from kgqa.kg.store.directory import STORE_VERSION, build_store, is_store

    digest = hashlib.sha256(SAMPLE_GRAPH.read_bytes()).hexdigest()[:16]
    folder = cache_folder() / "graphs" / f"sample-{digest}-{STORE_VERSION}"
    if is_store(folder):
        return folder
    try:
        with _lock_folder(folder):
            if not is_store(folder):
                build_store([SAMPLE_GRAPH], folder)
    except (KGUnavailable, OSError):
        return SAMPLE_GRAPH
    return folder


def sample_blueprints(memo: CachedEncoder) -> Path:
    """Return the folder of the blueprints of the sample's training questions (blocking)."""
    from kgqa.priors.blueprints import build_blueprints
    from kgqa.priors.blueprints.building import LIBRARY_VERSION

    return _build_once("blueprints", LIBRARY_VERSION, build_blueprints, memo)


def sample_exemplars(memo: CachedEncoder, graph: KnowledgeGraph) -> Path:
    """Return the folder of the exemplars of the sample's training questions (blocking)."""
    from kgqa.priors.exemplars import EXEMPLARS_VERSION, build_exemplars, find_topic_categories

    def labelled(examples: "Iterable[TrainingQuestion]", *rest: Any) -> object:
        given = list(examples)
        asked = find_topic_categories([topic for each in given for topic in each.topics], graph)
        categories = Context().run(asyncio.run, asked)  # no question's meter counts these queries
        return build_exemplars(given, *rest, categories=categories)

    return _build_once("exemplars", EXEMPLARS_VERSION, labelled, memo)


def _build_once(kind: str, version: int, build: Build, memo: CachedEncoder) -> Path:
    """Build what is learned from the sample once, by one process while others wait.

    Where it cannot be kept, each process builds one of its own.
    """
    digest = hashlib.sha256(SAMPLE_QUESTIONS.read_bytes() + memo.name.encode()).hexdigest()[:16]
    folder = cache_folder() / kind / f"sample-{digest}-{version}"
    if folder.exists():
        return folder
    try:
        with _lock_folder(folder):
            if not folder.exists():
                _build(build, folder, memo)
    except OSError:
        folder = Path(_temporary_folder(kind).name) / folder.name
        if not folder.exists():
            _build(build, folder, memo)
    return folder


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Let one process at a time build a folder.

    Raises:
        OSError: if nothing can be written there.
    """
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        yield


@cache
def _temporary_folder(kind: str) -> "tempfile.TemporaryDirectory[str]":
    """Return a folder that goes when the process does."""
    return tempfile.TemporaryDirectory(prefix="kgqa-")


def _build(build: Build, folder: Path, memo: CachedEncoder) -> None:
    from kgqa.priors.blueprints import read_training_questions

    lines = (json.loads(line) for line in gzip.decompress(SAMPLE_QUESTIONS.read_bytes()).splitlines())
    build(
        read_training_questions(line for line in lines if line["split"] == "train"),
        folder,
        memo.encode,
        memo.name,
    )
