"""What the README shows is what happens."""

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import kgqa
from kgqa.evaluation.protocols import PROTOCOLS
from kgqa.evaluation.simulation import ErrorRates
from kgqa.graphs import METHODS
from kgqa.models.offline import PARTS

README = Path(kgqa.__file__).with_name("README.md")
EVALUATION = README.parent / "docs" / "evaluation.md"
OFFLINE = README.parent / "docs" / "offline.md"
PYTHON = README.parent / "docs" / "python.md"


def blocks(language: str, page: Path = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def shown_answers() -> list[tuple[str, list[str]]]:
    """Return each command whose output is shown, with the lines but the last, which holds the time."""
    shown = (block.removeprefix("$ ").splitlines() for block in blocks("console"))
    return [(lines[0], lines[1:-1]) for lines in shown if len(lines) > 2 and " graph queries" in lines[-1]]


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


def test_the_page_on_python_runs_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "python"}
    for code in blocks("python", PYTHON):
        exec(compile(code, str(PYTHON), "exec"), names)
        said = capsys.readouterr().out
        for promised in re.findall(r"^ *print\(.*\)  # (.*)$", code, re.MULTILINE):
            assert promised in said


def test_the_python_of_the_page_on_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    for code in blocks("python", EVALUATION):
        exec(compile(code, str(EVALUATION), "exec"), {})
    assert 0 < float(capsys.readouterr().out) <= 1


def test_every_setting_of_a_simulated_model_is_listed() -> None:
    listed = re.findall(
        r"^\| `(\w+)` \| .* \| (?:[\d.]+|as `\w+`) \|$", EVALUATION.read_text(encoding="utf-8"), re.M
    )
    assert sorted([*listed, "seed"]) == sorted(field.name for field in fields(ErrorRates))


def test_every_protocol_is_listed() -> None:
    listed = re.findall(r"^\| `(\w+)` \| [^|]* \|$", EVALUATION.read_text(encoding="utf-8"), re.M)
    assert set(PROTOCOLS) <= set(listed)


def test_every_part_of_the_offline_model_is_listed() -> None:
    page = OFFLINE.read_text(encoding="utf-8")
    parts = page.partition("## Parts")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|$", parts, re.M)) == PARTS


def test_an_answer_is_shown() -> None:
    assert shown_answers()


def test_each_method_is_served() -> None:
    served = json.loads((README.parent / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
    assert tuple(served) == (*METHODS, "chat")


def test_each_setting_is_listed() -> None:
    code = " ".join(
        file.read_text(encoding="utf-8")
        for room in ("cli", "kg", "models", "priors", "runtime", "serving")
        for file in (README.parent / room).rglob("*.py")
    )
    settings = set(re.findall(r'"(KGQA_\w+)"', code))
    listed = (README.parent / ".env.example").read_text(encoding="utf-8")
    assert settings
    assert {name for name in settings if f"{name}=" not in listed} == set()
