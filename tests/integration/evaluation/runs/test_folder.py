"""A folder: one process, one run."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.runs.folder import RunFolder
from kgqa.evaluation.runs.records import RunError

HEAD: dict[str, Any] = {
    "kgqa": "0",
    "config": {"method": "cor", "budget": {"tokens": 5}, "kg": ["a", "b"], "hash": "h"},
    "dataset": {"name": "d", "format": "kgqa", "sha256": "s", "split": "all", "limit": 2, "questions": 2},
    "graph": "g",
    "seed": 0,
    "started": "2026-10-20T12:00:00+00:00",
}


def head(**dataset: Any) -> dict[str, Any]:
    return {**HEAD, "dataset": {**HEAD["dataset"], **dataset}}


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run") as folder:
        folder.claim(HEAD)
        with pytest.raises(RunError, match=r"another process is at work in .*run; .* another --out"):
            RunFolder(tmp_path / "run")
    with RunFolder(tmp_path / "run"):
        pass


def test_the_lock_of_a_killed_process_holds_nobody_up(tmp_path: Path) -> None:
    code = "import filelock, os, sys; filelock.FileLock(sys.argv[1]).acquire(); os.kill(os.getpid(), 9)"
    (tmp_path / "run").mkdir()
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "run" / ".lock")], check=False)
    with RunFolder(tmp_path / "run") as folder:
        assert folder.claim(HEAD) == HEAD


def test_a_larger_limit_is_the_same_run(tmp_path: Path) -> None:
    for grown in (head(), head(limit=3, questions=3), head(limit=None, questions=9)):
        with RunFolder(tmp_path) as folder:
            assert folder.claim(grown) == grown
    assert json.loads((tmp_path / "run.json").read_text()) == grown


def test_a_smaller_limit_is_refused(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.claim(HEAD)
    with (
        RunFolder(tmp_path) as folder,
        pytest.raises(RunError, match="2 questions, not 1; give --limit 2 or more"),
    ):
        folder.claim(head(limit=1, questions=1))


def test_what_differs_is_named_with_both_values(tmp_path: Path) -> None:
    with RunFolder(tmp_path) as folder:
        folder.claim(HEAD)
    config = {"method": "cor", "budget": {"tokens": 6}, "kg": ["a"], "hash": "i"}
    with RunFolder(tmp_path) as folder, pytest.raises(RunError) as refused:
        folder.claim({**HEAD, "config": config, "seed": 7})
    assert str(refused.value) == (
        f"{tmp_path} holds another run: budget.tokens is 5 there and 6 here; "
        "kg is a, b there and a here; seed is 0 there and 7 here; give another --out"
    )


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"config": {**HEAD["config"], "hash": "i"}}, "the config hash is h there and i here"),
        ({"graph": "f"}, "the graph's fingerprint is g there and f here"),
        ({"blueprints": "b"}, "the blueprints' fingerprint is None there and b here"),
        ({"dataset": {**HEAD["dataset"], "sha256": "t"}}, "the dataset's sha256 is s there and t here"),
        ({"dataset": {**HEAD["dataset"], "format": "cwq"}}, "format is kgqa there and cwq here"),
    ],
)
def test_each_part_of_a_run_counts(tmp_path: Path, other: dict[str, Any], words: str) -> None:
    with RunFolder(tmp_path) as folder:
        folder.claim(HEAD)
    with RunFolder(tmp_path) as folder, pytest.raises(RunError, match=words):
        folder.claim({**HEAD, **other})


@pytest.mark.parametrize(
    ("there", "here", "words"),
    [
        (
            "listed",
            None,
            "its relations were listed there and not here; ask again when the endpoint is quiet",
        ),
        (
            None,
            "listed",
            "its relations were listed here and not there; ask again when the endpoint is quiet",
        ),
    ],
)
def test_an_endpoint_that_did_not_list_its_relations_is_told_from_another_graph(
    tmp_path: Path, there: str | None, here: str | None, words: str
) -> None:
    with RunFolder(tmp_path) as folder:
        folder.claim({**HEAD, "relations": there})
    with RunFolder(tmp_path) as folder, pytest.raises(RunError, match=words):
        folder.claim({**HEAD, "relations": here, "graph": "f"})


def test_a_look_at_the_run_of_a_folder_writes_nothing(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "new") as folder:
        assert folder.check(HEAD) is None
    assert not (tmp_path / "new").exists()
    with RunFolder(tmp_path) as folder:
        folder.claim(HEAD)
    with RunFolder(tmp_path) as folder:
        assert folder.check(head(limit=3, questions=3)) == HEAD
        with pytest.raises(RunError, match="holds another run"):
            folder.check({**HEAD, "seed": 7})
    assert json.loads((tmp_path / "run.json").read_text()) == HEAD


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"config": 1}', '{"config": {"hash": 1}, "dataset": []}', "{"]
)
def test_a_head_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with RunFolder(tmp_path) as folder, pytest.raises(RunError, match=r"run\.json is no head of a run"):
        folder.claim(HEAD)
    assert (tmp_path / "run.json").read_text() == content


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(RunError, match="holds other things and no run"):
        RunFolder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_what_a_run_killed_at_its_beginning_left_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    (tmp_path / ".kgqa-0123456789abcdef").mkdir()
    with RunFolder(tmp_path) as folder:
        folder.claim(HEAD)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "run.json"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"cannot use .*file"):
        RunFolder(tmp_path / "file")


def test_a_folder_in_which_nothing_began_is_taken_away(tmp_path: Path) -> None:
    with RunFolder(tmp_path / "run"):
        assert (tmp_path / "run").is_dir()
    assert not (tmp_path / "run").exists()
