"""``kgqa report`` on the command line."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from kgqa.cli import main as command
from kgqa.tests.unit.evaluation.report.folders import Json, answered, write_dataset, write_run


class Ended(NamedTuple):
    status: int
    out: str
    err: str


Report = Callable[..., Ended]


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Report:
    """Run the command in this process."""
    monkeypatch.chdir(tmp_path)

    def ended(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["kgqa", "report", *arguments])
        with pytest.raises(SystemExit) as end:
            command.main()
        out, err = capsys.readouterr()
        return Ended(int(end.value.code or 0), out, err)

    return ended


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    return answered(tmp_path_factory.mktemp("town"))


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path)


@pytest.fixture
def run(tmp_path: Path, dataset: Path, records: list[Json]) -> str:
    return str(write_run(tmp_path / "run", records, dataset))


def one_line(ended: Ended) -> str:
    """Return the one line that a failed command says."""
    assert (ended.status, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith("kgqa: ")
    return ended.err


def test_a_page_is_written_and_named(report: Report, run: str) -> None:
    assert report(run, "--out", "page.html") == (0, "page.html\n", "")
    assert Path("page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_an_unfinished_run_is_shown_as_one(
    report: Report, tmp_path: Path, dataset: Path, records: list[Json]
) -> None:
    half = write_run(tmp_path / "half", records[:2], dataset, measured=False)
    assert report(str(half)).status == 0
    assert "unfinished: 2 of 6 questions" in Path("report.html").read_text(encoding="utf-8")


def test_a_run_without_the_hash_of_its_configuration_is_shown(report: Report, run: str) -> None:
    about = Path(run, "run.json")
    head = json.loads(about.read_text())
    del head["config"]["hash"]
    about.write_text(json.dumps(head))
    assert report(run).status == 0
    assert "without a hash" in Path("report.html").read_text(encoding="utf-8")


def test_a_run_with_a_wrong_field_is_one_clear_line(report: Report, run: str) -> None:
    Path(run, "metrics.json").write_text('{"n": "x"}')
    assert "metrics.json, field n: " in one_line(report(run))


def test_lone_surrogates_do_not_keep_a_page_from_being_written(report: Report, run: str) -> None:
    about = Path(run, "run.json")
    about.write_text(about.read_text().replace("town:1", "\\udcff"))
    assert report(run).status == 0


def test_a_dataset_that_moved_is_named(report: Report, run: str, dataset: Path) -> None:
    dataset.rename("moved.jsonl")
    assert report(run, "--dataset", "moved.jsonl").status == 0
    assert "Shown without gold" not in Path("report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere is no run"),
        (["."], "run.json"),
        (["run", "--out", "no/where/page.html"], "cannot write no/where/page.html"),
        (["run", "--out", "."], "name another file with --out"),
        (["run", "--dataset", "nowhere.jsonl"], "nowhere.jsonl"),
        (["run", "--dataset", "other.jsonl"], "other.jsonl is not the dataset of any of these runs"),
    ],
)
def test_bad_input_is_one_clear_line(report: Report, run: str, arguments: list[str], words: str) -> None:
    assert Path(run).is_dir()
    Path("other.jsonl").write_text('{"id": "1", "question": "Where?", "topic_entities": [], "answers": []}\n')
    assert words in one_line(report(*arguments))


def test_no_folder_is_usage(report: Report) -> None:
    assert report().status == 2


def test_tables_are_written_beside_the_page(report: Report, run: str, tmp_path: Path) -> None:
    ended = report(run, "--tables", "tables")
    written = sorted(file.name for file in (tmp_path / "tables").iterdir())
    assert ended.status == 0
    assert ended.out.splitlines()[0] == "report.html"
    assert sorted(Path(line).name for line in ended.out.splitlines()[1:]) == written
    assert any(name.endswith("-runs.tex") for name in written)


def test_a_folder_for_tables_that_cannot_be_is_told(report: Report, run: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = report(run, "--tables", "file")
    assert ended.status == 2
    assert ended.err == "kgqa: cannot write file: File exists; give another --tables\n"
