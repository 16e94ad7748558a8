"""The examples of ``docs/graphs.md``: its tables are written to files, and its commands are run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import kgqa

PAGE = (Path(kgqa.__file__).parent / "docs" / "graphs.md").read_text(encoding="utf-8")
FILES = re.findall(r"<!-- file (\S+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
SHOWN = [block for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) if block.count("\n") > 2]
COMMANDS = [block.removeprefix("$ kgqa ").splitlines() for block in SHOWN]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES:
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(folder: Path, command: str) -> list[str]:
    arguments = [sys.executable, "-P", "-m", "kgqa.cli.main", *shlex.split(command)]
    return subprocess.run(
        arguments, check=True, capture_output=True, text=True, cwd=folder
    ).stdout.splitlines()


@pytest.mark.parametrize(
    "lines", [each for each in COMMANDS if "neo4j" not in each[0]], ids=lambda lines: lines[0]
)
def test_shown_answers(folder: Path, lines: list[str]) -> None:
    command, *answer, _ = lines
    assert answer
    assert run(folder, command)[: len(answer)] == answer


def test_what_is_loaded_is_a_store_that_oxigraph_asks(folder: Path) -> None:
    assert run(folder, "kg load films.toml --out films") == [
        "built films; ask it with: kgqa ask QUESTION --kg films"
    ]
    query = "\n".join(run(folder, 'ask "When was the director of M born?" --kg films --sparql'))
    oxigraph = Path(sys.executable).with_name("oxigraph")
    asked = [oxigraph, "query", "--location", "films/store", "--query", query, "--results-format", "csv"]
    said = subprocess.run(asked, check=True, capture_output=True, text=True, cwd=folder).stdout
    assert said.split() == ["answer", "1890-12-05"]


def test_all_is_shown() -> None:
    assert len(FILES) == 6
    assert len(COMMANDS) >= 3
