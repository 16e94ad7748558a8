"""Several processes that ask the questions of one run."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kgqa.evaluation.datasets import Dataset
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs import asking as subjects, evaluate as evaluating, processes
from kgqa.evaluation.runs.worker_pool import WorkerLost
from kgqa.kg.opening import open_graph
from kgqa.tests.support import towns
from kgqa.tests.support.run_fixtures import Run

ERRING = "simulated:accuracy=0.7"
SLOW = "simulated:accuracy=0.7,latency=0.02"


def several(monkeypatch: pytest.MonkeyPatch, size: int = 2) -> None:
    """Let a run ask from so many processes, however small it is."""
    monkeypatch.setattr(evaluating, "count_processes", lambda *_: size)


def subject(*, named: bool) -> Any:
    """A subject of which only this is asked."""
    return SimpleNamespace(named=named)


def results(out: Path) -> bytes:
    return (out / "results.jsonl").read_bytes()


async def test_several_processes_leave_what_one_leaves(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = await run(model=ERRING, out=tmp_path / "one")
    several(monkeypatch)
    together = await run(model=ERRING, out=tmp_path / "two")
    assert results(tmp_path / "two") == results(tmp_path / "one")
    assert together.metrics is not None and alone.metrics is not None
    assert {**together.metrics, "seconds": None} == {**alone.metrics, "seconds": None}


async def test_a_run_that_is_stopped_ends_its_processes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    several(monkeypatch)
    stop = asyncio.Event()
    ended = await run(model=SLOW, concurrency=2, stop=stop, watch=lambda tally: stop.set())
    assert ended.metrics is None
    assert ended.tally.done < towns.TOWNS


async def test_what_only_this_process_holds_is_asked_by_it_alone(run: Run) -> None:
    assert (await run(concurrency=64)).metrics is not None
    assert processes.count_processes(subject(named=False), 10_000, 64) == 0


@pytest.mark.parametrize(
    ("questions", "concurrency", "cores", "expected"),
    [(1000, 16, 2, 2), (1000, 15, 2, 0), (150, 64, 2, 0), (1000, 64, 1, 0), (1000, 64, 64, 4)],
)
def test_a_process_must_be_worth_it(
    questions: int, concurrency: int, cores: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "CORES", tuple(range(cores)))
    assert processes.count_processes(subject(named=True), questions, concurrency) == expected


class Saying:
    """A process that says these lines to whatever it is asked, and nothing more."""

    returncode, pid = 0, 1

    def __init__(self, *lines: bytes) -> None:
        self.stdin, self.stdout = SimpleNamespace(write=lambda line: None), asyncio.StreamReader()
        self.stdout.feed_data(b"".join(lines))
        self.stdout.feed_eof()

    def kill(self) -> None:
        """End."""

    async def communicate(self) -> None:
        """It has ended."""


@pytest.mark.parametrize(
    "lines",
    [(), (b"{}\n", b'{"id": "q0'), (b"{}\n", b'{"id": "other"}\n'), (b"{}\n", b"[]\n"), (b"{}\n", b"?\n")],
    ids=["nothing", "torn", "of another question", "no record", "no JSON"],
)
async def test_whatever_a_process_says_nobody_waits_for_ever(lines: tuple[bytes, ...]) -> None:
    process: Any = Saying(b"{}\n", *lines)
    asked = processes.WorkerProcess(process)
    await asked.open()
    with pytest.raises(WorkerLost, match="has ended"):
        async with asyncio.timeout(5):
            await asked.ask(Question("q0", "?"))


async def test_any_text_reaches_a_process(run: Run, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    several(monkeypatch)
    odd = [Question("\ud800", "a \ud800 question\n"), Question("two", "another")]
    ended = await run(dataset=Dataset("odd", tuple(odd), "0" * 64, "kgqa"), model="simulated")
    assert ended.tally.done == 2
    assert len(results(out).splitlines()) == 2


async def test_a_graph_that_was_handed_over_is_asked_by_this_process_alone(kg: str) -> None:
    assert not subjects.make_subject("cor", open_graph([kg]), "offline", {}, 0).named
    assert subjects.make_subject("cor", kg, "simulated:accuracy=1", {}, 0).named
