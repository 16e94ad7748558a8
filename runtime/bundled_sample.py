"""What is learned from the training questions of the sample: built once, into ``KGQA_HOME``."""

import asyncio
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable
from contextvars import Context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgqa.data import SAMPLE_QUESTIONS
from kgqa.home import build_once, cache_folder, temporary_folder
from kgqa.kg.graph import KnowledgeGraph
from kgqa.priors.encoder import CachedEncoder
from kgqa.priors.errors import PriorError

if TYPE_CHECKING:
    from kgqa.priors.artifact_store import ArtifactStore
    from kgqa.priors.training_questions import TrainingQuestion


def sample_blueprints(encoder: CachedEncoder) -> Path:
    """Return the folder of the blueprints of the sample's training questions (blocking)."""
    from kgqa.priors.blueprints import LIBRARY_STORE, build_blueprints

    return _learn("blueprints", LIBRARY_STORE, build_blueprints, encoder)


def sample_exemplars(encoder: CachedEncoder, graph: KnowledgeGraph) -> Path:
    """Return the folder of the exemplars of the sample's training questions (blocking)."""
    from kgqa.priors.categories import find_topic_categories
    from kgqa.priors.exemplars import EXEMPLAR_STORE, build_exemplars

    def build(questions: "Iterable[TrainingQuestion]", *rest: Any) -> object:
        known = list(questions)
        asked = find_topic_categories([topic for each in known for topic in each.topics], graph)
        categories = Context().run(asyncio.run, asked)  # no question's meter counts these queries
        return build_exemplars(known, *rest, categories=categories)

    return _learn("exemplars", EXEMPLAR_STORE, build, encoder)


def _learn(
    kind: str, store: "ArtifactStore[Any]", build: Callable[..., object], encoder: CachedEncoder
) -> Path:
    """Build what is learned from the sample; where it cannot be kept, each process builds one of its own."""
    from kgqa.priors.training_questions import read_training_questions

    content = SAMPLE_QUESTIONS.read_bytes()

    def build_at(folder: Path) -> Path:
        lines = map(json.loads, gzip.decompress(content).splitlines())
        questions = read_training_questions(line for line in lines if line["split"] == "train")
        build_once(folder, store.exists, lambda: build(questions, folder, encoder.encode, encoder.name))
        return folder

    digest = hashlib.sha256(content + encoder.name.encode()).hexdigest()[:16]
    folder = cache_folder() / kind / f"sample-{digest}-{store.version}"
    try:
        return build_at(folder)
    except (OSError, PriorError):  # the folder cannot be written, or there is no room
        return build_at(temporary_folder() / kind / folder.name)
