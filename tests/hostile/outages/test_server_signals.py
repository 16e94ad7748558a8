"""``kgqa serve`` is signalled while many ask: what it has answered is there when it starts again."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.integration.serving.asking import FAMILY, INPUT
from kgqa.tests.support.servers.langgraph import free_port, missing

CLIENTS = 8

RUNS = 16
"""Runs that are answered before a signal comes."""

TOWNS = ["Bonn", "Ulm"]

pytestmark = pytest.mark.skipif(bool(missing()), reason=str(missing()))

Process = subprocess.Popen[str]


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, Process]]:
    """Serve a graph in a folder, as a newcomer does."""
    port = free_port()
    given = ("--kg", "family.ttl", "--model", "offline", "--port", str(port))
    command = [sys.executable, "-P", "-m", "kgqa.cli.main", "serve", *given]
    with (
        (folder / "err").open("w") as err,
        subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=err, text=True) as process,
    ):
        try:
            assert process.stdout and process.stdout.readline().startswith("kgqa is at"), said(folder)
            yield f"http://127.0.0.1:{port}", process
        finally:
            process.kill()


def said(folder: Path) -> str:
    return (folder / "err").read_text()


def shown(record: Any) -> list[str]:
    return [answer["name"] for answer in record["answers"]]


async def signalled(url: str, process: Process, *numbers: signal.Signals) -> list[str]:
    """Ask without a break, send the signals, the last of which ends it, and return the threads answered."""
    import httpx
    from langgraph_sdk import get_client

    answered: list[str] = []
    ended = False

    async def ask(client: Any) -> None:
        try:
            while True:
                thread = (await client.threads.create())["thread_id"]
                assert shown(await client.runs.wait(thread, "cor", input=INPUT, durability="sync")) == TOWNS
                answered.append(thread)
        except (httpx.HTTPError, ValueError):  # a reply that is cut off is no JSON
            assert ended

    async with get_client(url=url, timeout=10) as client, asyncio.TaskGroup() as group:
        for _ in range(CLIENTS):
            group.create_task(ask(client))
        for number in numbers:
            before = len(answered)
            while len(answered) < before + RUNS:
                await asyncio.sleep(0.02)
            ended = number is numbers[-1]
            process.send_signal(number)
            if number == signal.SIGSTOP:
                await asyncio.sleep(0.3)
                process.send_signal(signal.SIGCONT)
        await asyncio.to_thread(process.wait, 30)
    return answered


async def kept(url: str, threads: list[str]) -> None:
    """See that each thread has its answers, and that nothing is at work for ever."""
    from langgraph_sdk import get_client

    async with get_client(url=url) as client:
        for thread in threads:
            assert shown((await client.threads.get_state(thread))["values"]) == TOWNS
        end = time.monotonic() + 30
        while await client.threads.search(status="busy"):
            assert time.monotonic() < end
            await asyncio.sleep(0.1)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs signals of Unix")
def test_a_server_that_is_ended_under_load_has_all_it_has_answered(tmp_path: Path, tried: Tried) -> None:
    (tmp_path / "family.ttl").write_text(FAMILY)
    threads: list[str] = []
    for numbers in ((signal.SIGSTOP, signal.SIGTERM), (signal.SIGHUP,), (signal.SIGINT,)):
        with served(tmp_path) as (url, process):
            asyncio.run(kept(url, threads))
            threads += asyncio.run(signalled(url, process, *numbers))
            assert process.returncode in (0, -signal.SIGTERM)
        assert said(tmp_path) == "opening family.ttl …\n"
    tried(faults=4, questions=len(threads), records=len(threads))
