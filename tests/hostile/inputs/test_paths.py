"""Paths that somebody typed: pipes are read, links followed, and what is printed is the path itself."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from kgqa.cli.output import exit_on_termination
from kgqa.evaluation.datasets import DatasetError, load
from kgqa.evaluation.record_files import UnreadableFile, read_json_records
from kgqa.evaluation.result import ResultsError
from kgqa.evaluation.result_files import read_results
from kgqa.files import printable_path, read_file
from kgqa.kg.store import dump_filter
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.inputs.commands import Kgqa

FACT = "<http://t/e/a> <http://t/r/p> <http://t/e/b> .\n"

ASKED = {
    "id": "q1",
    "question": "What is p of a?",
    "topic_entities": [{"id": "http://t/e/a", "name": "A"}],
    "answers": [{"id": "http://t/e/b", "name": "B"}],
    "gold_path": ["http://t/r/p"],
}

QUESTIONS = json.dumps(ASKED).encode()

REFUSED = re.compile("no regular file|No such device")
"""A terminal is not there, or is none."""

KGQA = (sys.executable, "-P", "-m", "kgqa.cli.main")


@contextmanager
def written(path: Path, content: bytes) -> Iterator[str]:
    """Have somebody write to a pipe, once it is read."""
    os.mkfifo(path)

    def write() -> None:
        with suppress(BrokenPipeError):
            path.write_bytes(content)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    yield str(path)
    writer.join(10)
    path.unlink()


@pytest.fixture
def graph(tmp_path: Path) -> str:
    path = tmp_path / "graph.nt"
    path.write_text(FACT, encoding="utf-8")
    return str(path)


def test_questions_and_results_come_from_pipes(run: Kgqa, tmp_path: Path, graph: str, tried: Tried) -> None:
    out, pipe = str(tmp_path / "out"), tmp_path / "pipe"
    with written(pipe, gzip.compress(QUESTIONS)) as asked:
        assert (
            run("eval", f"--dataset={asked}", f"--kg={graph}", f"--out={out}", "--model=offline").status == 0
        )
    found = (tmp_path / "out" / "results.jsonl").read_bytes()
    with written(pipe, QUESTIONS) as asked, written(tmp_path / "results", found) as results:
        assert run("score", results, f"--dataset={asked}").status == 0
    with written(pipe, QUESTIONS) as asked:
        assert run("exemplars", "build", f"--dataset={asked}", f"--out={out}-learned").status == 0
    tried(inputs=4)


def test_questions_come_from_stdin(tmp_path: Path) -> None:
    given = subprocess.run(
        [*KGQA, "exemplars", "build", "--dataset", "/dev/stdin", "--out", "learned"],
        input=QUESTIONS,
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (given.returncode, (tmp_path / "learned").is_dir()) == (0, True), given.stderr


def test_a_pipe_that_never_ends_is_read_to_the_limit(tmp_path: Path, tried: Tried) -> None:
    with (
        written(tmp_path / "pipe", b"x" * 1_000_000) as path,
        pytest.raises(OSError, match="more than 70,000"),
    ):
        read_file(Path(path), 70_000, pipes=True)
    with written(tmp_path / "pipe", b"x" * 1_000_000) as path:
        assert len(read_file(Path(path), 1_000_000, pipes=True)) == 1_000_000
    tried(inputs=2)


def test_what_a_file_names_or_a_folder_holds_is_not_waited_for(
    run: Kgqa, tmp_path: Path, tried: Tried
) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "run"
    os.mkfifo(pipe)
    folder.mkdir()
    (folder / "run.json").write_text(
        json.dumps({"dataset": {"source": str(pipe), "sha256": "0"}, "config": {}}), encoding="utf-8"
    )
    (folder / "results.jsonl").write_bytes(b'{"id": "q1", "question": "What?", "answers": []}')
    assert run("score", str(folder)).status == 2
    assert run("report", str(folder), f"--out={tmp_path / 'r.html'}").status in (0, 2)
    (folder / "results.jsonl").unlink()
    os.mkfifo(folder / "results.jsonl")
    with pytest.raises(ResultsError, match="holds no results"):
        read_results(folder)
    with pytest.raises(OSError, match="no regular file"):
        read_file(pipe)
    tried(inputs=4)


def test_a_device_is_refused_wherever_it_is_named(tried: Tried) -> None:
    for device in ("/dev/zero", "/dev/null", "/dev/tty"):
        with pytest.raises(DatasetError, match=REFUSED):
            load(device)
        with pytest.raises(UnreadableFile, match=REFUSED):
            read_json_records(Path(device))
    tried(inputs=6)


@pytest.mark.parametrize(("command", "times"), [("eval", 2), ("exemplars build", 1)])
def test_ctrl_c_ends_the_wait_for_a_pipe(tmp_path: Path, graph: str, command: str, times: int) -> None:
    """A run is told twice: at the first it lets questions end."""
    os.mkfifo(tmp_path / "pipe")
    arguments = [*command.split(), "--dataset", str(tmp_path / "pipe"), "--out", str(tmp_path / "out")]
    with subprocess.Popen([*KGQA, *arguments], stderr=subprocess.PIPE, cwd=tmp_path) as process:
        try:
            writing = opened(tmp_path / "pipe")
            for _ in range(times):
                process.send_signal(signal.SIGINT)
                time.sleep(0.2)
            try:
                said = process.communicate(timeout=10)[1].decode()
            except subprocess.TimeoutExpired:
                # between Python's last look for signals and the system's read, one waits for the next
                process.send_signal(signal.SIGINT)
                said = process.communicate(timeout=10)[1].decode()
            os.close(writing)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Traceback" not in said and "internal" not in said


def opened(path: Path) -> int:
    """Open a pipe, once somebody waits for it, to write nothing to it."""
    end = time.monotonic() + 30
    while True:
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            assert time.monotonic() < end, "nobody waits for it"
            time.sleep(0.02)


def test_who_is_told_by_nohup_to_go_on_goes_on(
    run: Kgqa, tmp_path: Path, graph: str, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    begin = dump_filter.filter_dump

    def hung_up(*arguments: object) -> object:
        os.kill(os.getpid(), signal.SIGHUP)
        return begin(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(dump_filter, "filter_dump", hung_up)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert run("kg", "filter", graph, f"--out={tmp_path / 'thin.nt'}").status == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert (tmp_path / "thin.nt").exists()
    tried(faults=1)


def test_off_the_main_thread_signals_are_left_alone() -> None:
    seen: list[object] = []

    def look() -> None:
        with exit_on_termination():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]


def test_a_path_is_printed_as_it_is(run: Kgqa, tmp_path: Path, graph: str, tried: Tried) -> None:
    folder = tmp_path / f"two  spaces {'x' * 200}" / ("y" * 200)
    folder.mkdir(parents=True)
    (tmp_path / "q.jsonl").write_bytes(QUESTIONS)
    out, page = folder / "run", folder / "r.html"
    ended = run(
        "eval", f"--dataset={tmp_path / 'q.jsonl'}", f"--kg={graph}", f"--out={out}", "--model=offline"
    )
    assert ended.out.splitlines()[-1] == str(out)
    assert run("report", str(out), f"--out={page}").out == f"{page}\n"
    store = folder.parent / "store"
    assert run("kg", "load", graph, f"--out={store}").out == (
        f"built {store}; ask it with: kgqa ask QUESTION --kg {store}\n"
    )
    refused = run("kg", "load", graph, f"--out={folder / ('z' * 100)}")
    assert refused.status and "too long for SQLite; choose a shorter one" in refused.err
    assert printable_path("a  b/\x1b[2J\u202e\udcff\u00e4") == "a  b/\\x1b[2J\\u202e\\udcff\u00e4"
    tried(inputs=4)


def test_a_report_is_written_where_a_link_leads_and_stays_as_private_as_it_was(
    run: Kgqa, tmp_path: Path, graph: str, tried: Tried
) -> None:
    (tmp_path / "q.jsonl").write_bytes(QUESTIONS)
    out, page, link = tmp_path / "run", tmp_path / "page.html", tmp_path / "latest.html"
    run("eval", f"--dataset={tmp_path / 'q.jsonl'}", f"--kg={graph}", f"--out={out}", "--model=offline")
    page.write_text("old", encoding="utf-8")
    page.chmod(0o600)
    link.symlink_to(page)
    assert run("report", str(out), f"--out={link}").status == 0
    assert link.is_symlink() and page.read_bytes().startswith(b"<!")
    assert page.stat().st_mode & 0o777 == 0o600
    tried(inputs=1)
