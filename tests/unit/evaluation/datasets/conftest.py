"""Writes question files, plain and gzipped."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import Question

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write text, bytes, or any other value as JSON."""

    def write(content: Any, name: str = "questions.json") -> Path:
        if not isinstance(content, str | bytes):
            content = json.dumps(content, ensure_ascii=False)
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
        return path

    return write


@pytest.fixture
def one(write: Write) -> Callable[..., Question]:
    """Load a file with one question in the format that is expected."""

    def one(content: Any, format: str) -> Question:
        dataset = load(write(content))
        assert dataset.format == format
        (question,) = dataset.questions
        return question

    return one
