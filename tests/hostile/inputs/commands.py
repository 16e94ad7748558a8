"""Runs commands in this process, and looks at how they end."""

import sys
import unicodedata
from typing import NamedTuple

import pytest

from kgqa.cli import main as command

STATUSES = frozenset({0, 1, 2, 3, 4})

MARKS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class Ended(NamedTuple):
    status: int
    out: str
    err: str


def commands(text: str) -> set[str]:
    """The characters that a terminal may obey, or that nobody sees."""
    return {char for char in text if char != "\n" and unicodedata.category(char) in MARKS}


class Kgqa:
    """The command line, in this process."""

    def __init__(self, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self._patch, self._capture = patch, capture
        self.runs = 0

    def __call__(self, *arguments: str) -> Ended:
        """Run it: no traceback, a status of the documented ones, nothing that a terminal obeys.

        What is wrong is told in one line, or in the box that typer draws around a wrong call.
        """
        self._patch.setattr(sys, "argv", ["kgqa", *arguments])
        with pytest.raises(SystemExit) as end:
            command.main()
            raise SystemExit(0)
        ended = Ended(int(end.value.code or 0), *self._capture.readouterr())
        shown = [argument[:60] for argument in arguments]
        assert ended.status in STATUSES, (shown, ended.err[:300])
        assert not commands(ended.out + ended.err), shown
        assert "Traceback" not in ended.out + ended.err, shown
        assert len(ended.err) < 3_000, shown
        if ended.status > 1 and not ended.err.startswith("Usage: "):
            assert ended.err.startswith("kgqa: ") and ended.err.count("\n") == 1, (shown, ended.err[:300])
        self.runs += 1
        return ended
