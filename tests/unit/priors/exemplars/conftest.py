from pathlib import Path
from typing import Any

import pytest

from kgqa.priors.exemplars import ExemplarLibrary, build_exemplars
from kgqa.priors.training_questions import read_training_questions
from kgqa.tests.support.builds import open_exemplars
from kgqa.tests.unit.priors.blueprints.conftest import words

ANN, BOB = {"id": "http://x/e/Ann", "name": "Ann"}, {"id": "http://x/e/Bob", "name": "Bob"}


def line(question: str, *path: str, topics: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    asked = {"question": question, "topic_entities": [ANN] if topics is None else topics}
    return {**asked, **({"gold_path": path} if path else {}), **fields}


BOTH = {"gold_paths": [{"topic": ANN["id"], "path": ["film"]}, {"topic": BOB["id"], "path": ["made"]}]}

LINES = [
    line("who married Ann?", "spouse"),
    line("who married Bob?", "spouse", topics=[BOB]),
    line("who was Ann's wife then?", "^spouse"),
    line("in which land was Ann born?", "born_in", "within"),
    line("where was Ann born?", "born_in"),
    line("which films has Ann made with Bob?", topics=[ANN, BOB], **BOTH),
    line("how is Ann?"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six exemplars of seven questions: one of two questions, two of one question, one of none."""
    build_exemplars(read_training_questions(LINES), tmp_path / "exemplars", words, "words")
    return tmp_path / "exemplars"


@pytest.fixture
def exemplars(folder: Path) -> ExemplarLibrary:
    return open_exemplars(folder, words, "words")
