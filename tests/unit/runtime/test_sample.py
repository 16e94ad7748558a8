"""The blueprints of the sample's training questions are built once, and where they cannot be kept."""

import errno
import threading
from pathlib import Path
from typing import Any

import pytest

from kgqa.priors import blueprints
from kgqa.priors.blueprints import open_library
from kgqa.runtime.bundled_sample import sample_blueprints
from kgqa.tests.conftest import MEMO


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders that were built."""
    folders: list[Path] = []
    real = blueprints.build_blueprints

    def build(questions: Any, folder: Path, *rest: Any) -> Any:
        folders.append(folder)
        return real(questions, folder, *rest)

    monkeypatch.setattr(blueprints, "build_blueprints", build)
    return folders


def templates(folder: Path) -> int:
    return len(open_library(folder, MEMO.encode, MEMO.name).records)


def test_those_who_ask_at_once_wait_for_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, built: list[Path]
) -> None:
    monkeypatch.setenv("KGQA_HOME", str(tmp_path))
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(templates(sample_blueprints(MEMO)))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(built), len(found), len(set(found))) == (1, 4, 1)


def test_a_home_that_cannot_be_written_is_done_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, built: list[Path]
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("KGQA_HOME", str(tmp_path / "file"))
    assert templates(sample_blueprints(MEMO)) > 20
    assert sample_blueprints(MEMO) == built[0]
    assert len(built) == 1


def test_a_home_without_room_is_done_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, built: list[Path]
) -> None:
    write = Path.write_bytes

    def write_elsewhere(path: Path, content: bytes) -> int:
        if path.is_relative_to(tmp_path):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", write_elsewhere)
    monkeypatch.setenv("KGQA_HOME", str(tmp_path))
    assert templates(sample_blueprints(MEMO)) > 20
    assert [folder.is_relative_to(tmp_path) for folder in built] in ([True], [True, False])
