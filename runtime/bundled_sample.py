"""The sample graph and what is learned from its training questions: built once, into ``KGQA_HOME``."""

import asyncio
import gzip
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable
from contextvars import Context
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgqa.data import SAMPLE_GRAPH, SAMPLE_QUESTIONS
from kgqa.kg.graph import KnowledgeGraph
from kgqa.priors.encoder import CachedEncoder, cache_folder

if TYPE_CHECKING:
    from kgqa.priors.training_questions import TrainingQuestion


def sample_graph() -> Path:
    """Return the folder that the sample graph is built into, or its file where it cannot be (blocking)."""
    from kgqa.kg.errors import KGUnavailable
    from kgqa.kg.store.directory import STORE_VERSION, build_store, is_store

    folder = _folder("graphs", SAMPLE_GRAPH.read_bytes(), STORE_VERSION)
    try:
        _build_once(folder, is_store, lambda: build_store([SAMPLE_GRAPH], folder))
    except (KGUnavailable, OSError):
        return SAMPLE_GRAPH
    return folder


def sample_blueprints(encoder: CachedEncoder) -> Path:
    """Return the folder of the blueprints of the sample's training questions (blocking)."""
    from kgqa.priors.blueprints import LIBRARY_VERSION, build_blueprints

    return _learn("blueprints", LIBRARY_VERSION, build_blueprints, encoder)


def sample_exemplars(encoder: CachedEncoder, graph: KnowledgeGraph) -> Path:
    """Return the folder of the exemplars of the sample's training questions (blocking)."""
    from kgqa.priors.categories import find_topic_categories
    from kgqa.priors.exemplars import EXEMPLARS_VERSION, build_exemplars

    def build(questions: "Iterable[TrainingQuestion]", *rest: Any) -> object:
        known = list(questions)
        asked = find_topic_categories([topic for each in known for topic in each.topics], graph)
        categories = Context().run(asyncio.run, asked)  # no question's meter counts these queries
        return build_exemplars(known, *rest, categories=categories)

    return _learn("exemplars", EXEMPLARS_VERSION, build, encoder)


def _learn(kind: str, version: int, build: Callable[..., object], encoder: CachedEncoder) -> Path:
    """Build what is learned from the sample; where it cannot be kept, each process builds one of its own."""
    from kgqa.priors.training_questions import read_training_questions

    content = SAMPLE_QUESTIONS.read_bytes()

    def build_at(folder: Path) -> Path:
        lines = map(json.loads, gzip.decompress(content).splitlines())
        questions = read_training_questions(line for line in lines if line["split"] == "train")
        _build_once(folder, Path.exists, lambda: build(questions, folder, encoder.encode, encoder.name))
        return folder

    folder = _folder(kind, content + encoder.name.encode(), version)
    try:
        return build_at(folder)
    except OSError:
        return build_at(Path(_temporary_folder(kind).name) / folder.name)


def _folder(kind: str, content: bytes, version: int) -> Path:
    return cache_folder() / kind / f"sample-{hashlib.sha256(content).hexdigest()[:16]}-{version}"


def _build_once(folder: Path, is_built: Callable[[Path], bool], build: Callable[[], object]) -> None:
    """Build a folder if it is not there, one process while others wait; OSError if it cannot be written."""
    from filelock import FileLock

    if not is_built(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not is_built(folder):
                build()


@cache
def _temporary_folder(kind: str) -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="kgqa-")
