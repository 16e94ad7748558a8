"""What the README shows is what happens."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kgqa
from kgqa.graphs import METHODS, cor

README = Path(kgqa.__file__).with_name("README.md")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def shown_answers() -> list[tuple[str, list[str]]]:
    """Give each command whose output is shown, with the lines but the last, which holds the time."""
    shown = (block.removeprefix("$ ").splitlines() for block in blocks("console"))
    return [(lines[0], lines[1:-1]) for lines in shown if len(lines) > 2 and "grounded" in lines[-1]]


@pytest.mark.parametrize(("command", "expected"), shown_answers())
def test_shown_answers(command: str, expected: list[str], tmp_path: Path) -> None:
    question = re.findall(r'"([^"]+)"', command)[0]
    run = [sys.executable, "-P", "-m", "kgqa.cli.main", "ask", question]
    said = subprocess.run(run, check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    assert said.splitlines()[: len(expected)] == expected


@pytest.mark.parametrize("code", blocks("python"))
def test_shown_python(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {})
    said = capsys.readouterr().out
    for promised in re.findall(r"# (\[.*|grounded)$", code, re.MULTILINE):
        assert promised in said


def test_an_answer_is_shown() -> None:
    assert shown_answers()


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert [target for target in targets if not (README.parent / target).exists()] == []


def test_each_node_stands_in_the_architecture() -> None:
    listed = re.findall(
        r"^\| `(\w+)` \|", (README.parent / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.M
    )
    assert [name for name in cor.graph.nodes if name != "__start__"] == [
        n for n in listed if n in cor.graph.nodes
    ]


def test_each_method_is_served() -> None:
    served = json.loads((README.parent / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert tuple(served) == METHODS


def test_each_setting_is_listed() -> None:
    code = " ".join(
        file.read_text(encoding="utf-8")
        for room in ("cli", "kg", "models", "priors", "session")
        for file in (README.parent / room).glob("*.py")
    )
    settings = set(re.findall(r'"(KGQA_\w+)"', code))
    listed = (README.parent / ".env.example").read_text(encoding="utf-8")
    assert settings
    assert {name for name in settings if f"{name}=" not in listed} == set()
