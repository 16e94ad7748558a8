"""``kgqa ask`` on a terminal: another reading is taken by its key, and kept as an exemplar."""

import os
import pty
import re
import select
import shlex
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

FAMILY = """
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm .
e:ben rdfs:label "Ben"@en ; r:lives_in e:bonn .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm .
e:ulm rdfs:label "Ulm"@en .
e:bonn rdfs:label "Bonn"@en .
"""

ASK = ("ask", "Where do the children of Ada live?", "--model", "offline", "--kg")

KGQA = (sys.executable, "-P", "-m", "kgqa.cli.main")

SECONDS = 60


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self._file, theirs = pty.openpty()
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        self._process = subprocess.Popen([*KGQA, *arguments], start_new_session=True, **streams)

    def press(self, key: str) -> str:
        """Press a key when the command waits for one, and return what it has written before."""
        written, end = "", time.monotonic() + SECONDS
        while not self._waits_for_key() or self._can_read():
            assert time.monotonic() < end, written
            written += self._read()
        os.write(self._file, key.encode())
        return written

    def _waits_for_key(self) -> bool:
        """Return whether keys are given to the command one by one: those before are lost."""
        return not termios.tcgetattr(self._file)[3] & termios.ICANON

    def _can_read(self) -> bool:
        return bool(select.select([self._file], [], [], 0.1)[0])

    def _read(self) -> str:
        return os.read(self._file, 4096).decode().replace("\r\n", "\n") if self._can_read() else ""

    def ended(self) -> int:
        """Return the exit status."""
        return self._process.wait(SECONDS)


def plain(written: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", written)


def answers(written: str) -> list[str]:
    return [line for line in plain(written).splitlines() if line in ("Ada", "Ben", "Cleo", "Bonn", "Ulm")]


def test_the_second_reading_is_taken_by_its_key_and_kept(
    turtle: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(*ASK, str(turtle(FAMILY)))
    first = terminal.press("2")
    assert answers(first) == ["Bonn", "Ulm"]
    reading, named = re.findall(r"\[2\] (.*): (.*)\n", plain(first))[0]
    taken = terminal.press("q")
    assert f"Read as: {reading}" in plain(taken)
    assert " and ".join(answers(taken)) == named
    assert "SELECT DISTINCT ?answer" in taken
    assert "[2] " in taken  # what was the answer
    assert terminal.ended() == 0
    keep = re.findall(r"to keep it: kgqa (.*)\n", plain(taken))[0]
    kept = subprocess.run([*KGQA, *shlex.split(keep)], capture_output=True, text=True, check=True)
    counted, use = kept.stdout.splitlines()
    assert counted == "1 exemplars and 1 templates in exemplars"
    options = [*ASK, str(turtle(FAMILY)), *use.partition("with ")[2].split()]
    again = subprocess.run([*KGQA, *options], capture_output=True, text=True, check=True, timeout=SECONDS)
    assert " and ".join(answers(again.stdout)) == named


def test_nothing_waits_for_a_key_where_there_is_no_terminal(turtle: Callable[..., Path]) -> None:
    command = [*KGQA, *ASK, str(turtle(FAMILY))]
    ended = subprocess.run(command, capture_output=True, text=True, input="2", check=True, timeout=SECONDS)
    assert answers(ended.stdout) == ["Bonn", "Ulm"]
    assert "or did you mean" in ended.stdout
    assert "any other key" not in ended.stdout
