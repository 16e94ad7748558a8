"""What the README shows is what happens."""

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kgqa
from kgqa.api import make_context
from kgqa.cli import main
from kgqa.cli.options import read_options
from kgqa.evaluation.protocols import PROTOCOLS
from kgqa.evaluation.simulation import Errors
from kgqa.graphs import METHODS, cog, cor, vog
from kgqa.models.offline.parts import PARTS
from kgqa.session.method import Graph

README = Path(kgqa.__file__).with_name("README.md")
EVALUATION = README.parent / "docs" / "evaluation.md"
COG = README.parent / "docs" / "cog.md"
VOG = README.parent / "docs" / "vog.md"
OFFLINE = README.parent / "docs" / "offline.md"


def blocks(language: str, page: Path = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


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


def test_the_python_of_the_page_on_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    for code in blocks("python", EVALUATION):
        exec(compile(code, str(EVALUATION), "exec"), {})
    assert 0 < float(capsys.readouterr().out) <= 1


def test_the_commands_of_the_pages_have_such_options() -> None:
    said = " ".join(
        page for path in (README, EVALUATION, COG, VOG, OFFLINE) for page in blocks("console", path)
    )
    said += COG.read_text(encoding="utf-8")
    groups = "blueprints (?:build|show|calibrate)|exemplars (?:build|show)"
    command = rf"kgqa (ask|eval|score|report|calibrate|{groups}) ([^\n`]*)"
    for name, options in re.findall(command, said):
        shown = CliRunner().invoke(main.app, [*name.split(), "--help"], env={"COLUMNS": "200"}).output
        assert [option for option in re.findall(r"--[a-z-]+", options) if option not in shown] == []


def test_every_setting_of_a_simulated_model_is_listed() -> None:
    listed = re.findall(
        r"^\| `(\w+)` \| .* \| (?:[\d.]+|as `\w+`) \|$", EVALUATION.read_text(encoding="utf-8"), re.M
    )
    assert [*listed, "seed"] == [field.name for field in fields(Errors)]


def test_every_protocol_is_listed() -> None:
    listed = re.findall(r"^\| `(\w+)` \| [^|]* \|$", EVALUATION.read_text(encoding="utf-8"), re.M)
    assert set(PROTOCOLS) <= set(listed)


def test_every_part_of_the_offline_model_is_listed() -> None:
    page = OFFLINE.read_text(encoding="utf-8")
    parts = page.partition("## Parts")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|$", parts, re.M)) == PARTS


def test_an_answer_is_shown() -> None:
    assert shown_answers()


@pytest.mark.parametrize(("page", "method"), [(COG, "cog"), (VOG, "vog")])
def test_the_options_of_the_page_on_a_method_are_its_own(page: Path, method: str) -> None:
    text = page.read_text(encoding="utf-8")
    named = dict(re.findall(r"(\w+)=([\w.]+)`", text)) | dict(re.findall(r"--option (\w+)=([\w.]+)", text))
    assert len(named) > 10
    for name, value in named.items():
        make_context(method, read_options([f"{name}={value}"]))


@pytest.mark.parametrize("page", [README, EVALUATION, COG, VOG, OFFLINE], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_each_node_stands_in_the_architecture() -> None:
    listed = {title: _rows(title) for title in ("CoR", "CoG")}
    assert listed["CoR"] == _nodes(cor.graph)
    assert listed["CoG"] == [name for name in _nodes(cog.graph) if name in listed["CoG"]]
    assert {*listed["CoR"], *listed["CoG"]} >= {*_nodes(cog.graph)}
    assert ["link", *_rows("VoG")] == _nodes(vog.graph)


def _rows(title: str) -> list[str]:
    """Give the nodes in the table of a method's section."""
    text = (README.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.M)


def _nodes(graph: Graph) -> list[str]:
    return [name for name in graph.nodes if name != "__start__"]


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
