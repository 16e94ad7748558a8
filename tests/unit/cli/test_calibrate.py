"""``kgqa calibrate``: what it prints and how it ends."""

import re
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from kgqa.cli import main as command
from kgqa.evaluation.paper_analysis.trace import TracedRevision, read_revisions
from kgqa.evaluation.result import Result
from kgqa.evaluation.runs import asking
from kgqa.tests.support import towns
from kgqa.tests.unit.cli.test_eval import Ended

Kgqa = Callable[..., Ended]


@pytest.fixture
def calibrate(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    turtle: Callable[[str], Path],
) -> Kgqa:
    """Run the command on the towns, with a model whose plans and revisions are often wrong."""
    towns.write(tmp_path / "towns.jsonl")
    turtle(towns.graph())
    monkeypatch.chdir(tmp_path)

    def ended(*arguments: str) -> Ended:
        given = ["--dataset", "towns.jsonl", "--kg", "graph.ttl"]
        model = () if "--model" in arguments else ("--model", "simulated:accuracy=0.5")
        monkeypatch.setattr(sys, "argv", ["kgqa", "calibrate", *given, *model, *arguments])
        try:
            command.main()
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = capsys.readouterr()
        return Ended(status, out, err)

    return ended


def test_it_ends_with_the_option_to_pass(calibrate: Kgqa) -> None:
    ended = calibrate()
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("simulated:accuracy=0.5")
    assert lines[0].endswith(": 6 questions of towns")
    found = re.fullmatch(r"--option threshold=(0\.\d{1,3})", lines[-1])
    assert found
    rows = [line.split() for line in lines if re.match(r" *\d\.\d{3} ", line)]
    assert max(rows, key=lambda row: float(row[-1]))[0] == f"{float(found[1]):.3f}"
    assert {path.name for path in Path().iterdir()} == {"towns.jsonl", "graph.ttl"}


def test_the_whole_file_is_asked_where_told(calibrate: Kgqa) -> None:
    assert calibrate("--split", "all").out.splitlines()[0].endswith(": 12 questions of towns")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--option", "verification=no"], 2, "leave --option verification=false out"),
        (["--option", "revisions=0"], 2, "leave --option revisions=0 out"),
        (["--option", "max_revisions=0"], 2, "leave --option max_revisions=0 out"),
        (["--model", "simulated:accuracy=1"], 1, "no revision was made; take more questions, or others"),
        (["--option", "threshold=0.5"], 2, "the threshold is what is looked for"),
        (["--option", "encoder=/nowhere"], 2, "the encoder /nowhere"),
        (["--model", "openai:small"], 4, "6 of 6 questions failed (openai:small: cannot reach"),
        (["--option", "method=cor"], 2, "method is no option of vog"),
        (["--option", "nonsense=1"], 2, "vog has no option 'nonsense'"),
        (["--option", "threshold"], 2, "an option is written key=value"),
        (["--split", "dev"], 2, "dev"),
        (["--kg", "nowhere.ttl"], 3, "nowhere.ttl"),
    ],
)
def test_what_cannot_be_calibrated_is_one_line(
    calibrate: Kgqa, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int, words: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    ended = calibrate(*arguments)
    assert (ended.status, ended.out) == (status, "")
    assert ended.err.startswith("kgqa: ")
    assert words in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("option", ["reward=confidence", "beta=1"])
def test_a_reward_that_reaches_1_takes_no_plan_up_early(
    calibrate: Kgqa, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    seen: list[TracedRevision] = []

    def remembered(result: Result) -> list[TracedRevision]:
        seen.extend(read_revisions(result))
        return read_revisions(result)

    monkeypatch.setattr("kgqa.evaluation.paper_analysis.calibration.read_revisions", remembered)
    assert calibrate("--option", option).status == 0
    assert max(one.reward for one in seen) == 1
    assert not any(one.accepted for one in seen)


@pytest.mark.parametrize(
    ("arguments", "status"), [([], 0), (["--model", "simulated:accuracy=1"], 1)], ids=["found", "no revision"]
)
def test_how_many_questions_failed_is_told_with_the_reason(
    calibrate: Kgqa, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int
) -> None:
    usual, begun = asking.make_input, count(1)

    def breaking_twice(*given: Any) -> Any:
        if next(begun) <= 2:
            raise OSError("the disk hums")
        return usual(*given)

    monkeypatch.setattr(asking, "make_input", breaking_twice)
    ended = calibrate("--split", "all", *arguments)
    assert ended.status == status
    assert "2 of 12 questions failed (OSError: the disk hums)" in ended.out + ended.err
