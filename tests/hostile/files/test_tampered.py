"""Run folders, stores and settings that somebody has changed: one line, no wait, nothing overwritten."""

import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgqa.builds import replace_file
from kgqa.cli import main as command
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.store import directory
from kgqa.serving.settings import tracing_requested
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.inputs.commands import Kgqa

EVAL = ("eval", "--dataset", "sample", "--limit", "2", "--model", "simulated:accuracy=1", "--method", "io")


@pytest.fixture
def kgqa(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Kgqa:
    monkeypatch.chdir(tmp_path)
    return Kgqa(monkeypatch, capsys)


@pytest.fixture
def run(kgqa: Kgqa) -> Callable[[], Path]:
    """Copy a finished run afresh; by its folder."""
    assert kgqa(*EVAL, "--out", "whole").status == 0

    def copied() -> Path:
        shutil.rmtree("run", ignore_errors=True)
        return Path(shutil.copytree("whole", "run"))

    return copied


def test_records_of_other_types_end_a_resumed_run_in_one_line(
    kgqa: Kgqa, run: Callable[[], Path], tried: Tried
) -> None:
    first, rest = Path("whole/results.jsonl").read_text(encoding="utf-8").split("\n", 1)
    record = json.loads(first)
    wrong: dict[str, list[Any]] = {
        "outcome": [[], {}, 1],
        "answers": [None, 1, {}, [1], [{"id": []}]],
        "error": [1, []],
        "question": [1, None],
        "usage": [
            None,
            *({**record["usage"], "llm_calls": calls} for calls in ("x", -1, 10**400, float("nan"))),
        ],
    }
    cases = [{**record, name: value} for name, values in wrong.items() for value in values]
    for case in cases:
        for more in ((), ("--retry-failed",)):
            (run() / "results.jsonl").write_text(f"{json.dumps(case)}\n{rest}", encoding="utf-8")
            ended = kgqa(*EVAL, "--out", "run", *more)
            if more and "error" in case:  # a question that failed is asked again, whatever is said of it
                assert ended.status == 0
            else:
                assert ended.status == 2 and "delete the line" in ended.err, (case, ended.err)
    (run() / "timings.jsonl").write_text('{"id": "a", "seconds": []}\n', encoding="utf-8")
    assert kgqa(*EVAL, "--out", "run").status == 2
    tried(inputs=2 * len(cases) + 1)


def test_pipes_and_devices_in_a_run_folder_are_not_waited_for(
    kgqa: Kgqa, run: Callable[[], Path], tried: Tried
) -> None:
    names = ("results.jsonl", "timings.jsonl", "run.json", ".lock")
    for name in names:
        for device in (None, "/dev/zero", "/dev/full"):
            file = run() / name
            file.unlink(missing_ok=True)
            file.symlink_to(device) if device else os.mkfifo(file)
            for more in ((), ("--retry-failed",)):
                ended = kgqa(*EVAL, "--out", "run", *more)
                assert ended.status == 2 and "regular file" in ended.err, (name, device, ended.err)
    tried(inputs=2 * 3 * len(names))


def test_what_a_run_says_of_kgqa_is_text_and_commands_no_terminal(
    kgqa: Kgqa, run: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # those of pytest: a command has none
    monkeypatch.setattr(logging.lastResort, "formatter", None)
    head = json.loads(Path("whole/run.json").read_text(encoding="utf-8"))
    versions: list[Any] = [[], {}, [1]]
    for version in versions:
        (run() / "run.json").write_text(json.dumps(head | {"kgqa": version}), encoding="utf-8")
        ended = kgqa("report", "run", "whole")
        assert ended.status == 2 and "field kgqa" in ended.err
    (run() / "run.json").write_text(json.dumps(head | {"kgqa": "\x1b]0;x\x07\nkgqa: fine"}), encoding="utf-8")
    ended = kgqa(*EVAL, "--out", "run")
    assert ended.status == 0 and "was begun by kgqa ]0;x kgqa: fine and goes on" in ended.err
    assert ended.err.count("\n") == 1


def test_settings_that_are_no_text_are_one_line(kgqa: Kgqa, tmp_path: Path, tried: Tried) -> None:
    contents = (b"\xff\xfe\0KGQA=1", b"KGQA_X=a\0b\n", b"KGQA_MODEL=\xe9\n", os.urandom(300) + b"\xff\n")
    for content in contents:
        (tmp_path / ".env").write_bytes(content)
        ended = kgqa("methods", "io")
        assert ended.status == 2 and "cannot read .env" in ended.err
    (tmp_path / ".env").write_bytes(contents[0])
    with pytest.raises(ValueError, match=r"cannot read [^\n]*\.env: [^\n]*; write it as UTF-8[^\n]*$"):
        tracing_requested({}, tmp_path / ".env")
    tried(inputs=len(contents) + 1)


def test_pipes_and_devices_in_a_store_are_not_waited_for(kgqa: Kgqa, tmp_path: Path, tried: Tried) -> None:
    (tmp_path / "g.nt").write_text("<http://x/a> <http://x/r> <http://x/b> .\n", encoding="utf-8")
    directory.build_store([tmp_path / "g.nt"], tmp_path / "whole")
    (build,) = (tmp_path / "whole").glob("build-*")
    names = [path.name for path in (build / "store").iterdir()]
    for name in names:
        for device in ("nowhere", "/dev/zero", None):  # what does not wait comes first
            shutil.rmtree("store", ignore_errors=True)
            file = Path(shutil.copytree("whole", "store")) / build.name / "store" / name
            file.unlink()
            file.symlink_to(device) if device else os.mkfifo(file)
            ended = kgqa("kg", "info", "store")
            assert ended.status == 3 and "no regular file; build the store again" in ended.err
    tried(inputs=3 * len(names))


def test_a_folder_that_is_gone_and_memory_that_is_out_are_one_line(
    kgqa: Kgqa, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(command, "app", out_of)
    ended = kgqa("methods")
    assert ended.status == 2 and "not enough memory" in ended.err
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(KGUnavailable, match="the folder you are in is gone"):
        directory.build_store([tmp_path / "g.nt"], Path("y"))
    monkeypatch.chdir(tmp_path)


def test_a_link_beside_a_file_that_is_replaced_is_not_followed(tmp_path: Path) -> None:
    outside, file = tmp_path / "outside", tmp_path / "run" / "run.json"
    outside.write_text("kept")
    file.parent.mkdir()
    file.symlink_to(outside)
    replace_file(file, lambda new: new.write(b"new"))
    assert (outside.read_text(), file.read_text(), file.is_symlink()) == ("kept", "new", False)
