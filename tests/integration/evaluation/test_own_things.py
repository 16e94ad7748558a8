"""Metrics and datasets of a user's own: by name from a file, through a run, its scores and its report."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.datasets import DatasetError, load
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.report.run_folder import read_run
from kgqa.evaluation.scoring.own import load_metrics
from kgqa.evaluation.scoring.rescore import rescore
from kgqa.plugins import PluginError
from kgqa.tests.integration.cli.test_new import kgqa_command
from kgqa.tests.support import towns
from kgqa.tests.support.pages import build_page
from kgqa.tests.support.run_fixtures import Run

CODE = '''
import json
from pathlib import Path

from kgqa.evaluation.question import EntityRef, Question


def letters(record, question):
    """How long the answers are."""
    return sum(len(answer["name"]) for answer in record["answers"]) - 10


def seldom(record, question):
    return 1 if question.id == "q01" else None


def broken(record, question):
    return 1 / 0


def words(record, question):
    return "many"


def read():
    for line in Path("towns.jsonl").read_text().splitlines():
        yield json.loads(line)


def as_questions():
    yield Question("a", "Where?", readings=((EntityRef(None, "Sea 1"),),), splits={"split": "test"})


def without_ids():
    for text in ("Where?", "Who?", "Where?"):
        yield {"question": text, "answers": ["Sea 1"]}


def twice():
    return [*as_questions(), *as_questions()]


def nothing():
    return []


def raising():
    raise OSError("the disk is gone")


def no_records():
    return [{"id": "1"}]


number = 3
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Write the file of the user's own; return how a name of it is given."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    towns.write(tmp_path / "towns.jsonl")
    yield lambda name: f"mine.py:{name}"


async def test_a_metric_of_ones_own_has_its_interval_and_a_row(
    own: Callable[[str], str], run: Run, out: Path, questions: Path
) -> None:
    ended = await run(metrics=[own("letters"), own("seldom"), lambda record, question: None])
    assert ended.metrics is not None
    found = ended.metrics["own"]
    assert found["letters"] == {"value": -5.0, "low": -5.0, "high": -5.0, "n": 12}
    assert found["seldom"] == {"value": 1.0, "low": 1.0, "high": 1.0, "n": 1}
    assert found["<lambda>"] == {"value": None, "low": None, "high": None, "n": 0}
    assert json.loads((out / "metrics.json").read_text())["own"] == found
    page = build_page([out])
    assert "<h3><bdi>Own metrics</bdi></h3>" in page
    assert "-5.000<small>-5.000 – -5.000; n=12</small>" in page
    scored = rescore(out, metrics=[own("letters")])
    assert scored.metrics["own"] == {"letters": found["letters"]}


async def test_a_metric_that_fails_is_told_and_records_stay(
    own: Callable[[str], str], run: Run, out: Path
) -> None:
    with pytest.raises(PluginError, match="the metric broken fails at question q00: ZeroDivisionError"):
        await run(metrics=[own("broken")])
    assert len((out / "results.jsonl").read_text().splitlines()) == towns.TOWNS
    with pytest.raises(PluginError, match="the metric words fails at question q00: 'many' is no number"):
        rescore(out, metrics=[own("words")])
    assert (await run(metrics=[own("letters")])).metrics is not None  # the same command goes on


@pytest.mark.parametrize(
    "named, why",
    [
        (["mine.py:number"], r"mine.py:number is no function \(int\)"),
        (["mine.py:letters", "mine.py:letters"], "two metrics are called letters"),
        (["letters"], "no metric is called 'letters'; none are installed; or name yours as module:name"),
        (["mine.py:unknown"], "mine.py has no 'unknown'"),
    ],
)
def test_what_is_no_metric_is_told(named: list[str], why: str, own: Callable[[str], str]) -> None:
    with pytest.raises(PluginError, match=why):
        load_metrics(named)


def test_metrics_are_for_the_strict_protocol(own: Callable[[str], str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--metric goes with the strict protocol, not with pog"):
        rescore(tmp_path, protocol="pog", metrics=[own("letters")])


async def test_a_dataset_of_ones_own_is_asked_and_reported(
    own: Callable[[str], str], run: Run, out: Path, questions: Path
) -> None:
    ended = await run(dataset=own("read"), split="test")
    assert ended.metrics is not None
    assert (ended.metrics["n"], ended.metrics["hits_at_1"]["value"]) == (6, 1.0)
    assert {key: read_run(out).dataset[key] for key in ("name", "format")} == {
        "name": "mine.py:read",
        "format": "own",
    }
    assert load(questions).questions == load(own("read"), own=True).questions
    assert "Shown without gold answers" not in build_page([out], [Path(own("read"))])


def test_questions_may_be_given_as_they_are(own: Callable[[str], str]) -> None:
    (question,) = load(own("as_questions"), own=True).select("test")
    assert question == Question(
        "a", "Where?", readings=((EntityRef(None, "Sea 1"),),), splits={"split": "test"}
    )


def test_records_without_ids_have_those_that_a_file_gives_them(own: Callable[[str], str]) -> None:
    read = load(own("without_ids"), own=True).questions
    records = [{"question": each.text, "answers": ["Sea 1"]} for each in read]
    Path("records.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    assert [each.text for each in read] == ["Where?", "Who?", "Where?"]
    assert read == load("records.jsonl").questions


async def test_a_file_of_others_runs_no_reader(own: Callable[[str], str], run: Run, out: Path) -> None:
    await run(dataset=own("read"))
    Path("mine.py").write_text("open('ran', 'w')\nread = list\n")
    assert "Shown without gold answers: no such question file: mine.py:read" in build_page([out])
    with pytest.raises(ValueError, match="are not here; name them with --dataset"):
        rescore(out)
    with pytest.raises(DatasetError, match="no such question file"):
        load(own("read"))
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    "name, why",
    [
        ("twice", "mine.py:twice, record 2: the id 'a' is there twice"),
        ("nothing", "mine.py:nothing: no questions in it"),
        ("raising", "mine.py:raising fails: OSError: the disk is gone"),
        ("no_records", "mine.py:no_records, record 1, field question"),
        ("number", "mine.py:number fails: TypeError: 'int' object is not callable"),
    ],
)
def test_what_is_no_dataset_is_told(name: str, why: str, own: Callable[[str], str]) -> None:
    with pytest.raises(DatasetError, match=why):
        load(own(name), own=True)


def test_the_command_line_takes_both(own: Callable[[str], str], tmp_path: Path, kg: str) -> None:
    words = ["--dataset", own("read"), "--kg", kg, "--model", "simulated:accuracy=1", "--method", "cor"]
    ended: Any = kgqa_command(tmp_path, "eval", *words, "--metric", own("letters"), "--out", "run")
    assert isinstance(ended, subprocess.CompletedProcess)
    assert ended.returncode == 0, ended.stderr
    assert "letters" in ended.stdout
    wrong = kgqa_command(tmp_path, "eval", *words, "--metric", "mine.py:none", "--out", "run")
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "kgqa: mine.py has no 'none'; name one of its own after the colon\n",
    )
    again = kgqa_command(tmp_path, "score", "run", "--dataset", own("read"), "--metric", own("letters"))
    assert again.returncode == 0, again.stderr
    assert "-5.000" in again.stdout
