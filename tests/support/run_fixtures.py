from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.runs.evaluate import Evaluation, evaluate
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.support import towns
from kgqa.tests.support.children import Start, children

Run = Callable[..., Awaitable[Evaluation]]
Command = Callable[..., list[str]]


@pytest.fixture(scope="session")
def kg(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("towns") / "towns.ttl"
    path.write_text(PREFIXES + towns.graph(), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="session")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return towns.write(tmp_path_factory.mktemp("towns") / "towns.jsonl")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def run(kg: str, questions: Path, out: Path) -> Run:
    """Evaluate on the towns; any argument may be given another value."""

    def evaluated(**given: Any) -> Awaitable[Evaluation]:
        arguments = {
            "dataset": questions,
            "kg": kg,
            "out": out,
            "model": towns.guide(),
            "method": "cor",
            **given,
        }
        return evaluate(**arguments)

    return evaluated


@pytest.fixture(scope="session")
def command(kg: str, questions: Path) -> Command:
    """Return the arguments of ``kgqa`` that evaluate a simulated model on the towns."""

    def given(out: Path, **other: Any) -> list[str]:
        flags = {
            "dataset": questions,
            "kg": kg,
            "method": "cor",
            "model": "simulated:accuracy=0.7",
            "out": out,
            "concurrency": 3,
            **other,
        }
        return ["eval", *(part for key, value in flags.items() for part in (f"--{key}", str(value)))]

    return given


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start ``kgqa`` in processes of their own."""
    with children(tmp_path_factory.mktemp("children")) as start:
        yield start
