"""What the tests of questions, options and outputs share."""

from pathlib import Path

import pytest

from kgqa.tests.hostile.inputs.calling import callers, reader
from kgqa.tests.hostile.inputs.commands import Kgqa

__all__ = ["callers", "reader", "run"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Kgqa:
    """Run commands in an empty folder."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    return Kgqa(monkeypatch, capsys)
