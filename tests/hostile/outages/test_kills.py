"""A run that is killed, wherever, and started again, comes to the bytes of one that was not."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from kgqa.tests.support import towns
from kgqa.tests.support.children import Plan, Start
from kgqa.tests.support.run_fixtures import Command

KILLS = 50 if os.environ.get("KGQA_EVERY_KILL") else 8
"""Kills at random points; 50 with KGQA_EVERY_KILL=1."""

SLOWLY = Plan(delay=0.01)

LINES = 2 * towns.TOWNS
"""Lines of both logs together."""


@pytest.fixture(scope="module")
def undisturbed(
    start: Start, command: Command, tmp_path_factory: pytest.TempPathFactory
) -> tuple[bytes, float]:
    """What the run comes to, and the seconds that it takes slowly, once the server of processes is there."""
    assert start(["--help"]).status() == 0
    out, began = tmp_path_factory.mktemp("undisturbed") / "run", time.monotonic()
    child = start(command(out), SLOWLY)
    assert child.status() == 0, child.err
    results = (out / "results.jsonl").read_bytes()
    assert results.count(b"\n") == towns.TOWNS
    return results, time.monotonic() - began


@pytest.mark.timeout(600)
def test_kills_at_random_points(
    start: Start, command: Command, undisturbed: tuple[bytes, float], tmp_path: Path
) -> None:
    """A run that comes to its end between two kills is compared, and the next one begins."""
    wanted, seconds = undisturbed
    chance, kills, runs, died = random.Random(4), 0, 0, False
    while kills < KILLS or died:
        out = tmp_path / f"run{runs}"
        child = start(command(out), SLOWLY)
        if kills < KILLS:
            time.sleep(chance.uniform(0, seconds))
            child.signal(signal.SIGKILL)
        status = child.status()
        assert status in (0, -signal.SIGKILL), child.err
        died = status != 0
        kills += died
        if not died:
            assert (out / "results.jsonl").read_bytes() == wanted
            runs += 1


@pytest.mark.parametrize(
    "plan",
    [
        *(Plan(dies_at_line=line) for line in (1, 2, 9, 10, LINES)),
        *(Plan(dies_at_replace=time) for time in (1, -1, 2, -2, 3)),
    ],
    ids=str,
)
def test_a_kill_at_the_worst_moment(
    start: Start, command: Command, undisturbed: tuple[bytes, float], tmp_path: Path, plan: Plan
) -> None:
    out = tmp_path / "run"
    assert start(command(out), plan).status() == -signal.SIGKILL
    child = start(command(out))
    assert child.status() == 0, child.err
    assert (out / "results.jsonl").read_bytes() == undisturbed[0]
    assert (out / "metrics.json").exists()
