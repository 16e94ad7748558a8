"""Ctrl-C once ends a run after the questions that are running, twice at once; both can go on."""

import json
import signal
from pathlib import Path

import pytest

from kgqa.tests.support import towns
from kgqa.tests.support.children import Plan, Start, wait_for
from kgqa.tests.support.run_fixtures import Command


def recorded(out: Path) -> list[str]:
    path = out / "results.jsonl"
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [json.loads(line)["id"] for line in whole.splitlines()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_lets_running_questions_end(
    start: Start, command: Command, out: Path, number: signal.Signals
) -> None:
    child = start(command(out, concurrency=4), Plan(delay=0.05))
    wait_for(lambda: len(recorded(out)) >= 2)
    child.signal(number)
    assert child.status() == 130
    done = recorded(out)
    assert 4 <= len(done) < towns.TOWNS
    assert child.err.splitlines() == [
        "kgqa: the running questions end first (each may take up to the seconds of its budget, "
        "300 by default); Ctrl-C again stops at once",
        f"kgqa: stopped after {len(done)} of 12 questions; the same command goes on",
    ]
    assert child.out == ""
    assert start(command(out, concurrency=4)).status() == 0
    assert recorded(out) == [f"q{n:02}" for n in range(towns.TOWNS)]


def test_the_second_signal_stops_at_once(start: Start, command: Command, out: Path) -> None:
    child = start(command(out), Plan(delay=5))
    wait_for(lambda: child.asking == 3)
    child.signal(signal.SIGINT)
    wait_for(lambda: "running questions end first" in child.err)
    child.signal(signal.SIGINT)
    assert child.status() == 130
    assert (recorded(out), (out / "metrics.json").exists()) == ([], False)
    assert child.err.endswith("kgqa: stopped at once; what is recorded stays, and the same command goes on\n")
    assert start(command(out)).status() == 0
    assert len(set(recorded(out))) == towns.TOWNS


def test_a_second_process_ends_at_once(start: Start, command: Command, out: Path) -> None:
    first = start(command(out), Plan(delay=0.1))
    wait_for(lambda: (out / "run.json").exists())
    second = start(command(out))
    assert second.status() == 2
    assert second.err == f"kgqa: another process is at work in {out}; wait for it, or give another --out\n"
    assert first.status() == 0
    assert len(recorded(out)) == len(set(recorded(out))) == towns.TOWNS
