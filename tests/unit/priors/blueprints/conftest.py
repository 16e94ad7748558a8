from collections.abc import Callable, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from kgqa.priors.blueprints import BlueprintLibrary, build_blueprints, open_library
from kgqa.priors.encoder import Vectors
from kgqa.priors.training_questions import read_training_questions

LINES = [
    {
        "question": "who married Ann?",
        "topic_entities": [{"id": "m.1", "name": "Ann"}],
        "gold_path": ["spouse"],
    },
    {
        "question": "who was Bob's wife then?",
        "topic_entities": [{"id": "m.2", "name": "Bob"}],
        "gold_path": ["^spouse"],
    },
    {"question": "who wed Cy?", "topic_entities": [{"id": "m.3", "name": "Cy"}], "gold_path": ["^spouse"]},
    {
        "question": "where was Ann born?",
        "topic_entities": [{"id": "m.1", "name": "Ann"}],
        "gold_path": ["born_in", "within"],
    },
    {"question": "how is Ann?", "topic_entities": [{"id": "m.1", "name": "Ann"}]},
]


def words(texts: Sequence[str]) -> Vectors:
    """Encode by words: the cosine is that of the counts of 256 classes of words."""
    rows = np.zeros((len(texts), 256), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.split():
            row[crc32(word.encode()) % 256] += 1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def encode() -> Callable[[Sequence[str]], Vectors]:
    return words


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A library of two templates: three questions about spouses, one about a place."""
    build_blueprints(read_training_questions(LINES), tmp_path / "library", words, "words")
    return tmp_path / "library"


@pytest.fixture
def library(folder: Path) -> BlueprintLibrary:
    return open_library(folder, words, "words")
