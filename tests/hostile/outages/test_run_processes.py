"""A worker process of a run that dies, and a run that is killed."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kgqa.evaluation.question import Question
from kgqa.evaluation.runs import evaluate as evaluating, processes
from kgqa.evaluation.runs.asking import make_subject
from kgqa.evaluation.runs.progress import Tally
from kgqa.evaluation.runs.records import json_line
from kgqa.evaluation.runs.worker_pool import make_order, write_question
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.support import towns
from kgqa.tests.support.run_fixtures import Run

SLOW = "simulated:accuracy=0.7,latency=0.02"


def results(out: Path) -> bytes:
    return (out / "results.jsonl").read_bytes()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The processes that a run has started, in their order."""
    started: list[Any] = []
    begin = processes._start_process

    async def seen(*given: Any) -> Any:
        started.append(await begin(*given))
        return started[-1]

    monkeypatch.setattr(processes, "_start_process", seen)
    return started


async def test_a_process_that_dies_costs_nothing_but_time(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[Any]
) -> None:
    await run(model=SLOW, out=tmp_path / "undisturbed")
    monkeypatch.setattr(evaluating, "count_processes", lambda *_: 2)

    def shot(tally: Tally) -> None:
        if tally.done == 3:
            started[0].kill()

    ended = await run(model=SLOW, concurrency=4, watch=shot)
    assert ended.tally.done == towns.TOWNS
    assert results(tmp_path / "run") == results(tmp_path / "undisturbed")
    assert all(process.returncode is not None for process in started)


@pytest.mark.skipif(len(processes.CORES) < 2, reason="a run on one core needs one process")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_processes_of_a_run_end_with_it(kg: str, tmp_path: Path, number: signal.Signals) -> None:
    asked, out = many(tmp_path / "many.jsonl", 240), tmp_path / "run"
    flags = {"dataset": asked, "kg": kg, "model": SLOW, "out": out, "concurrency": 16}
    command = [sys.executable, "-P", "-m", "kgqa.cli.main", "eval"]
    command += [part for key, value in flags.items() for part in (f"--{key}", str(value))]
    started = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    until(lambda: (out / "results.jsonl").is_file() and results(out))
    helpers = children(started.pid)
    assert len(helpers) >= 2
    started.send_signal(number)
    assert started.wait(60) == {signal.SIGKILL: -9, signal.SIGINT: 130}[number]
    until(lambda: not any(map(alive, helpers)))


def test_a_process_whose_run_is_gone_ends_without_a_word(kg: str, tried: Tried) -> None:
    """However early: before it is told anything, within a line, while it opens the graph or asks."""
    order = make_order(make_subject("cor", kg, SLOW, {}, 0))
    line = json_line({"order": order, "place": 0, "cores": processes.CORES})
    asked = b"".join(write_question(Question(id=str(n), text="Which sea?")) for n in range(9))
    stages = [b"", line[:20], line + asked[:-9]]
    command = (sys.executable, "-P", "-m", "kgqa.evaluation.runs.processes")
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    started = [subprocess.Popen(command, **pipes) for _ in stages]
    for process, sent in zip(started, stages, strict=True):
        process.stdin.write(sent)  # type: ignore[union-attr]
        process.stdin.close()  # type: ignore[union-attr]
        process.stdin = None
    for process in started:
        assert process.communicate(timeout=60)[1] == b""
        assert process.returncode == 0
    tried(faults=len(stages))


def many(path: Path, size: int) -> Path:
    """Write the questions again and again under other ids."""
    asked = ({**towns.question(n % towns.TOWNS), "id": f"m{n:03}"} for n in range(size))
    path.write_text("".join(json.dumps(question) + "\n" for question in asked), encoding="utf-8")
    return path


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    """Return whether a process is there and has not ended yet."""
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def until(happens: Any) -> None:
    """Wait for something for a minute at most."""
    end = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)
