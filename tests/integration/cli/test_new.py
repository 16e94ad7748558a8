"""From nothing to a row of one's own in a report: the commands of a user, in a folder that has nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kgqa
from kgqa.cli.main import main
from kgqa.evaluation.report.run_folder import read_run

ROOT = Path(kgqa.__file__).parent


def kgqa_files() -> dict[Path, int]:
    """Return when each file of the package was changed last."""
    rooms = ("cli", "graphs", "nodes", "runtime", "evaluation")
    return {file: file.stat().st_mtime_ns for room in rooms for file in (ROOT / room).rglob("*.py")}


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run one command in a folder."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    start = [sys.executable, "-P", "-m"]
    return subprocess.run(
        [*start, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=100
    )


def kgqa_command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return command(folder, "kgqa.cli.main", *words)


def test_from_the_template_to_a_row_in_the_report(tmp_path: Path) -> None:
    before = kgqa_files()
    evaluate = ["eval", "--dataset", "sample", "--limit", "6", "--model", "simulated:accuracy=1"]
    own = "first_walk/first_walk.py:graph"
    ended = [
        kgqa_command(tmp_path, "new", "method", "first_walk"),
        command(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "first_walk"),
        kgqa_command(tmp_path, *evaluate, "--method", own, "--out", "runs/own"),
        kgqa_command(tmp_path, *evaluate, "--method", "cor", "--out", "runs/cor"),
        kgqa_command(tmp_path, "report", "runs/own", "runs/cor"),
    ]
    assert [(each.returncode, each.stderr[-500:] if each.returncode else "") for each in ended] == [
        (0, "")
    ] * 5
    assert "2 passed" in ended[1].stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    row = page[page.index("<tbody>") : page.index("</tbody>")]
    assert '<td class="name" data-key="first_walk"><bdi>first_' in row
    run = read_run(tmp_path / "runs" / "own")
    assert run.method == "first_walk"
    assert run.metrics and run.metrics["hits_at_1"]["value"] > 0.5
    assert kgqa_files() == before


def test_what_is_written_is_whole(tmp_path: Path) -> None:
    assert kgqa_command(tmp_path, "new", "method", "choose_relation").returncode == 0
    written = {file.name for file in (tmp_path / "choose_relation").iterdir()}
    assert written == {"pyproject.toml", "choose_relation.py", "test_choose_relation.py", "README.md"}
    assert "$" not in "".join(file.read_text() for file in (tmp_path / "choose_relation").iterdir())
    rules = ["--isolated", "--line-length=110", "--select=D1,E,F,UP,B", "--ignore=D103"]
    linted = command(tmp_path, "ruff", "check", *rules, "choose_relation")
    assert linted.returncode == 0, linted.stdout
    listed = kgqa_command(tmp_path, "methods", "choose_relation/choose_relation.py:graph")
    assert listed.stdout.startswith("choose_relation  choose_relation: one relation chain")
    assert "depth" in listed.stdout


@pytest.mark.parametrize(
    "name, why",
    [
        ("cor", "there is a module or a method called cor already; give yours another name"),
        ("chat", "there is a module or a method called chat already; give yours another name"),
        ("json", "there is a module or a method called json already; give yours another name"),
        ("My-walk", "'My-walk' cannot be the name of a method: give small letters, digits and _"),
        ("../up", "'../up' cannot be the name of a method"),
        ("taken", "taken is there already; give another name, or go to another folder"),
    ],
)
def test_a_name_that_cannot_be_is_told(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["kgqa", "new", "method", name])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert why in told
    assert told.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


def test_once_installed_a_name_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kgqa_command(tmp_path, "new", "method", "by_name").returncode == 0
    pip = ["pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    installed = command(tmp_path, *pip, "--target", str(tmp_path / "site"), "./by_name")
    assert installed.returncode == 0, installed.stderr
    shutil.rmtree(tmp_path / "by_name")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site")])
    asked = kgqa_command(tmp_path, "ask", "What is the capital of Mongolia?", "--method", "by_name")
    assert (asked.returncode, asked.stdout.splitlines()[1]) == (0, "Ulan Bator"), asked.stderr
    overview = kgqa_command(tmp_path, "methods").stdout.split()
    assert "by_name by_name: one relation chain" in " ".join(overview)
    (tmp_path / "site" / "by_name.py").write_text("1 / 0")
    listed = kgqa_command(tmp_path, "methods")
    assert (listed.returncode, "sparql_qa" in listed.stdout) == (0, True)
    assert listed.stderr.startswith("kgqa: by_name cannot be imported: ZeroDivisionError: division by zero")
    refused = kgqa_command(tmp_path, "methods", "by_name")
    assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", listed.stderr)


def test_a_method_of_a_file_is_asked_from_several_processes(tmp_path: Path) -> None:
    assert kgqa_command(tmp_path, "new", "method", "side_walk").returncode == 0
    words = ["eval", "--dataset", "sample", "--limit", "200", "--model", "simulated:accuracy=1"]
    words += ["--method", "side_walk/side_walk.py:graph", "--concurrency", "16", "--out", "run"]
    ended = kgqa_command(tmp_path, *words)
    assert ended.returncode == 0, ended.stderr
    assert len((tmp_path / "run" / "results.jsonl").read_text().splitlines()) == 200
    with (tmp_path / "side_walk" / "side_walk.py").open("a") as file:
        file.write("# changed\n")
    again = kgqa_command(tmp_path, *words)
    assert again.returncode == 2
    assert "the method's file is" in again.stderr
