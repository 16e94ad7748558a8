"""A server that has answered thousands of runs holds no more than one that has answered some."""

import asyncio
import os
import resource
import sys
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.integration.serving.asking import FAMILY, INPUT
from kgqa.tests.support.servers.langgraph import Server, missing, serving

RUNS = 10_000 if os.environ.get("KGQA_EVERY_RUN") else 200
"""Runs in all; 10,000 with KGQA_EVERY_RUN=1."""

CLIENTS = 8

GROWTH = 10
"""Megabytes that a server may grow by in the second half of its runs: memory is not given back at once."""

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=str(missing())),
    pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="reads memory from /proc"),
    pytest.mark.timeout(120 + RUNS / 2),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("memory")
    (folder / "family.ttl").write_text(FAMILY)
    kept = {"KGQA_KG": str(folder / "family.ttl"), "KGQA_CHECKPOINTS": str(folder / "kept")}
    with serving(folder, LOG_LEVEL="ERROR", MALLOC_ARENA_MAX="2", **kept) as running:
        yield running


def resident(server: Server) -> int:
    """Return the megabytes of a server."""
    pages = int(Path(f"/proc/{server.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize() >> 20


def handles(server: Server) -> int:
    return len(list(Path(f"/proc/{server.pid}/fd").iterdir()))


async def asked(server: Server, runs: int) -> None:
    """Ask so often, every second time on a thread that is deleted after it."""
    from langgraph_sdk import get_client

    async with get_client(url=server.url) as client:
        waiting = iter(range(runs))

        async def work() -> None:
            for number in waiting:
                thread = (await client.threads.create())["thread_id"] if number % 2 else None
                record: Any = await client.runs.wait(thread, "cor", input=INPUT)
                assert [answer["name"] for answer in record["answers"]] == ["Bonn", "Ulm"]
                if thread:
                    await client.threads.delete(thread)

        await asyncio.gather(*(work() for _ in repeat(None, CLIENTS)))


def test_runs_that_are_over_leave_nothing_behind(server: Server, tried: Tried) -> None:
    half = []
    for _ in range(2):
        asyncio.run(asked(server, RUNS // 2))
        half.append((resident(server), handles(server)))
    (megabytes, open_files), (later, still_open) = half
    sys.stdout.write(f"{RUNS} runs: {megabytes} MB after half of them, {later} MB after all\n")
    assert later - megabytes < GROWTH, half
    assert still_open - open_files <= CLIENTS, half
    tried(questions=RUNS, records=RUNS)
