"""Whatever ends a command: no process is left behind, no record lost or doubled, nothing half is whole."""

import json
import os
import signal
from collections.abc import Iterator
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from kgqa.kg.errors import KGError
from kgqa.kg.opening import open_graph
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.outages.commands import Disk, wait_for
from kgqa.tests.support import towns

QUESTIONS = 240
"""As few as are worth two processes."""

TRIPLES = 150_000


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Disk:
    made = Disk(tmp_path_factory.mktemp("signals"))
    many = (json.dumps({**towns.question(n % towns.TOWNS), "id": f"q{n:03}"}) for n in range(QUESTIONS))
    (made.folder / "many.jsonl").write_text("\n".join(many), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def large(disk: Disk) -> str:
    """A file that takes some tenths of a second to load."""
    lines = (f"<http://t/e/{n % 9_999}> <http://t/r/a> <http://t/e/{n}> ." for n in range(TRIPLES))
    (disk.folder / "large.nt").write_text("\n".join(lines), encoding="utf-8")
    return "large.nt"


def parts(path: Path) -> Iterator[tuple[int, int, str]]:
    """Return number, parent and state of every process."""
    for folder in path.iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            except (OSError, ValueError):
                continue
            yield int(folder.name), int(parent), state


def children(process: ForkServerProcess) -> list[int]:
    return [number for number, parent, _ in parts(Path("/proc")) if parent == process.pid]


def alive(numbers: list[int]) -> list[int]:
    return [number for number, _, state in parts(Path("/proc")) if number in numbers and state not in "ZX"]


def gone(numbers: list[int]) -> bool:
    return not alive(numbers)


def builds(disk: Disk) -> set[Path]:
    return set((disk.folder / "graph").glob("build-*"))


def killed_at_work(disk: Disk, number: signal.Signals, large: str) -> int:
    """Send a signal to what builds a store; gives the exit status."""
    before = builds(disk)
    process = disk.start("kg", "load", large, "--out", "graph")
    wait_for(lambda: bool(builds(disk) - before))
    os.kill(process.pid or 0, number)
    return disk.ended(process)[0]


def recorded(out: Path) -> list[str]:
    path = out / "results.jsonl"
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [json.loads(line)["id"] for line in whole.splitlines()]


def test_a_run_in_several_processes_outlives_the_end_of_any_of_them(disk: Disk, tried: Tried) -> None:
    command: tuple[str, ...] = ("eval", "--dataset", "many.jsonl", "--kg", "towns.ttl", "--concurrency", "16")
    command += ("--model", "simulated:accuracy=0.7", "--out", "run")
    out, had = disk.folder / "run", 0

    def begun(records: int) -> tuple[ForkServerProcess, list[int]]:
        process = disk.start(*command)
        wait_for(lambda: len(recorded(out)) >= records or process.exitcode is not None)
        return process, children(process)

    process, workers = begun(1)
    assert len(workers) >= 2
    os.kill(workers[0], signal.SIGKILL)  # others are asked
    wait_for(lambda: not alive(workers[:1]) and len(recorded(out)) > 20)
    for number, status in ((signal.SIGKILL, -9), (signal.SIGTERM, 130)):
        workers = children(process)
        os.kill(process.pid or 0, number)
        assert disk.ended(process)[0] == status
        wait_for(partial(gone, workers), 10)
        done = recorded(out)
        assert had <= len(done) == len(set(done)) < QUESTIONS and not (out / "metrics.json").exists()
        had = len(done)
        process, _ = begun(had + 10)
    status, said = disk.ended(process)
    assert (status, recorded(out)) == (0, [f"q{n:03}" for n in range(QUESTIONS)]), said
    assert (out / "metrics.json").exists()
    tried(faults=3, questions=QUESTIONS, records=QUESTIONS)


ENDS = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGKILL: -9}


def test_what_is_being_built_is_no_store_and_leaves_nothing_behind(
    disk: Disk, large: str, tried: Tried
) -> None:
    for number, status in ENDS.items():
        assert killed_at_work(disk, number, large) == status
        assert (disk.folder / "graph").exists() == (number == signal.SIGKILL)
        with pytest.raises(KGError, match=r"no such file|is a folder, but not one that"):
            open_graph([disk.folder / "graph"])
    assert disk.run("kg", "load", "towns.ttl", "--out", "graph")[0] == 0
    wanted = open_graph([disk.folder / "graph"]).fingerprint
    for number, status in ENDS.items():
        assert killed_at_work(disk, number, large) == status
        assert open_graph([disk.folder / "graph"]).fingerprint == wanted
        assert len(builds(disk)) == 1 + (number == signal.SIGKILL)
    assert disk.run("kg", "load", "towns.ttl", "--out", "graph")[0] == 0
    assert len(builds(disk)) == 1
    tried(faults=2 * len(ENDS))


def test_a_filter_that_is_ended_leaves_no_part(disk: Disk, large: str, tried: Tried) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        before = disk.names
        process = disk.start("kg", "filter", large, "--out", "thin.nt")
        wait_for(lambda: "thin.nt.part" in disk.names)
        os.kill(process.pid or 0, number)
        assert disk.ended(process)[0] == ENDS[number]
        assert disk.names == before
    tried(faults=3)


def test_a_question_that_is_ended_says_nothing_of_an_error(disk: Disk, large: str, tried: Tried) -> None:
    """What opens the graph may go on until it has it: a thread cannot be stopped."""
    for number, status in ((signal.SIGTERM, -15), (signal.SIGINT, 130)):
        process = disk.start("ask", "Who?", "--kg", large, "--topic", "x", "--model", "offline")
        wait_for(partial(has_threads, process.pid or 0))
        os.kill(process.pid or 0, number)
        ended, said = disk.ended(process)
        assert ended == status and said in ("", "kgqa: stopped\n")
    tried(faults=2)


def has_threads(number: int) -> bool:
    """Return whether a process has begun what it does beside its event loop."""
    try:
        return len(list(Path(f"/proc/{number}/task").iterdir())) > 1
    except OSError:
        return False
