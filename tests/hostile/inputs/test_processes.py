"""What arrives in a real process, and what it writes to a stdout of any kind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa.tests.conftest import PREFIXES
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.inputs.commands import commands

TOWN = f"""{PREFIXES}
e:ulm rdfs:label "Ulm"@en ; r:river e:danube ; r:twin e:evil .
e:danube rdfs:label "D\u00f3nau \u2013 \u6771\u4eac"@en .
e:evil rdfs:label "\\u001b[2J\\u009b31m\\u202e[/] \\r\\u2028"@en .
"""

ASK = (sys.executable, "-P", "-m", "kgqa.cli.main", "ask", "--kg", "town.ttl", "--topic", "Ulm")


@pytest.fixture
def town(tmp_path: Path) -> Path:
    (tmp_path / "town.ttl").write_text(TOWN, encoding="utf-8")
    return tmp_path


def ended(
    town: Path, *arguments: str | bytes, shell: str = "", **environment: str
) -> "subprocess.CompletedProcess[bytes]":
    command = [*ASK, *arguments]
    if shell:
        quoted = " ".join(f"'{os.fsdecode(each)}'" for each in command)
        command = ["sh", "-c", f"{quoted} {shell}"]
    return subprocess.run(
        command, cwd=town, env={**os.environ, **environment}, capture_output=True, timeout=60, check=False
    )


def record(ran: "subprocess.CompletedProcess[bytes]") -> dict[str, object]:
    """Read the one line of ``--format json``: pure, and nothing in it for a terminal."""
    assert ran.stdout.count(b"\n") == 1
    assert not commands(ran.stdout.decode("utf-8", "surrogateescape"))
    read: dict[str, object] = json.loads(ran.stdout)
    return read


def test_bytes_that_are_no_text_are_asked_all_the_same(town: Path, tried: Tried) -> None:
    ran = ended(
        town,
        b"Which river \xff\xfe \x9b2J flows through Ulm?",
        "--format",
        "json",
        PYTHONIOENCODING="latin-1",
    )
    told = record(ran)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert told["question"] == "Which river ?? ?2J flows through Ulm?"
    assert told["answers"] == [{"id": "http://t/e/danube", "name": "D\u00f3nau \u2013 \u6771\u4eac"}]
    tried(inputs=1, faults=1, questions=1, records=1)


def test_people_are_shown_an_answer_on_a_stdout_that_has_not_its_letters(town: Path, tried: Tried) -> None:
    ran = ended(town, "Which river flows through Ulm?", "--watch", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"D\\xf3nau \\u2013 \\u6771\\u4eac\n" in ran.stdout
    tried(faults=1, questions=1, records=1)


@pytest.mark.parametrize("shell", ["--watch | head -c 0"])
def test_a_stdout_that_takes_nothing_is_no_bug(town: Path, shell: str, tried: Tried) -> None:
    ran = ended(town, "Which river flows through Ulm?", shell=shell)
    assert (ran.returncode, ran.stderr) == (0, b"")
    tried(faults=1)


def test_a_label_cannot_command_the_terminal(town: Path, tried: Tried) -> None:
    ran = ended(town, "What is the twin of Ulm?", "--watch", FORCE_COLOR="1", TERM="xterm")
    assert ran.returncode == 0
    assert b"[2J 31m [/]" in ran.stdout
    for found in (b"\x1b[2J", b"\x9b", "\u009b".encode(), "\u202e".encode(), b"\r", "\u2028".encode()):
        assert found not in ran.stdout
    tried(inputs=1, questions=1, records=1)
