from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.tests.unit.evaluation.report.folders import Json, answered, failed, write_dataset, write_run

Folder = Callable[..., Path]


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Json]]:
    """The records of a run that goes all the way, and of one that goes one hop and fails once."""
    folder = tmp_path_factory.mktemp("town")
    *most, last = answered(folder, hops=1, backtracking=False)
    return {"far": answered(folder), "near": [*most, failed(last)]}


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path)


@pytest.fixture
def folder(town: dict[str, list[Json]], tmp_path: Path, dataset: Path) -> Folder:
    """Write a run folder: ``far`` or ``near``, or the first so many records of it."""

    def written(which: str, *, first: int | None = None, name: str | None = None, **given: Any) -> Path:
        records = town[which][:first]
        return write_run(tmp_path / "runs" / (name or which), records, given.pop("dataset", dataset), **given)

    return written
