"""Measures the LangGraph server under load: many clients, a language model of 0.2 s a call.

    python benchmarks/serving.py [--servers 1] [--clients 32] [--seconds 120] [--pause 0.2]

Processes of their own: a model that knows the gold and answers each call after the
pause (`_gold_server`), ``langgraph dev`` with CoR over the sample graph, once or several
times behind the proxy of the deployment, and this one with the clients. Each has a key of
its own and asks one question of the sample after the other, every second client on
threads that the server keeps.
A run is held against what its calls of the model alone would take; what is judged is
the 95th percentile of that ratio, whose goal is 2. What it costs the server stands beside
what as many nodes cost that do nothing (`_empty_graph`), for a fourth of the time.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, closing
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table

from kgqa.benchmarks._gold_server import Gold, speaking, topics_of, written
from kgqa.data import SAMPLE_GRAPH
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import Question
from kgqa.kg.opening import open_graph
from kgqa.tests.support.servers.langgraph import ROOT, Server
from kgqa.tests.support.servers.langgraph_proxy import proxied, serving_all

METHOD, EMPTY = "cor", "empty"
TICKS = 100
"""Of the clock that Linux counts a process's seconds with, a second."""


@dataclass(frozen=True)
class Run:
    """One question that was asked.

    Attributes:
        kept: whether on a thread that the server keeps.
        seconds: from the request to the reply.
        calls: of the model, as the record counts them.
        error: what went wrong, if anything.
    """

    kept: bool
    seconds: float
    calls: int
    error: str | None = None


@dataclass(frozen=True)
class Load:
    """How hard the server is worked.

    Attributes:
        clients: that ask at the same time.
        seconds: for which they go on asking.
        pause: seconds that a call of the model takes.
        servers: that share the clients.
    """

    clients: int = 32
    seconds: float = 120.0
    pause: float = 0.2
    servers: int = 1


@dataclass(frozen=True)
class Measured:
    """What came of it: runs, calls that the model answered, seconds of the servers' processors.

    Those ``cpu_empty`` are of one run whose nodes do nothing.
    """

    load: Load
    runs: Sequence[Run]
    calls: int
    cpu: float
    cpu_empty: float
    wall: float

    @property
    def errors(self) -> list[str]:
        """Say what went wrong."""
        return [run.error for run in self.runs if run.error]

    def ratios(self) -> list[float]:
        """Return each run's time over what its calls of the model take alone."""
        return [run.seconds / (run.calls * self.load.pause) for run in self.runs if run.calls]


def measure(questions: Sequence[Question], load: Load, folder: Path) -> Measured:
    """Start the model and the servers, and let the clients ask."""
    gold = asyncio.run(written(questions, open_graph([SAMPLE_GRAPH]), METHOD))
    with ExitStack() as stack:
        model = stack.enter_context(speaking(gold, load.pause, folder))
        servers = stack.enter_context(started(folder, load, model))
        url = stack.enter_context(proxied(folder, servers)) if load.servers > 1 else servers[0].url
        for method in (EMPTY, METHOD):
            asyncio.run(ask_all(url, questions[:1], gold, replace(load, seconds=0.1), method))
        used = processor(servers)
        empty = asyncio.run(ask_all(url, questions, gold, replace(load, seconds=load.seconds / 4), EMPTY))
        cpu_empty = (processor(servers) - used) / len(empty)
        if failed := [run.error for run in empty if run.error]:
            raise RuntimeError(failed[0])
        said, used, start = spoken(model), processor(servers), time.perf_counter()
        runs = asyncio.run(ask_all(url, questions, gold, load, METHOD))
        wall = time.perf_counter() - start
        return Measured(load, runs, spoken(model) - said, processor(servers) - used, cpu_empty, wall)


def started(folder: Path, load: Load, model: str) -> AbstractContextManager[list[Server]]:
    """Start servers that ask the model, each for as many questions at a time as there are clients."""
    settings = {
        "KGQA_API_KEYS": ",".join(key(number) for number in range(load.clients)),
        "KGQA_MODEL": "openai:gold",
        "LOG_LEVEL": "WARNING",
        "OPENAI_BASE_URL": f"{model}/v1",
    }
    config, served = folder / "langgraph.json", json.loads((ROOT / "langgraph.json").read_text())
    served["graphs"][EMPTY] = "./benchmarks/_empty_graph.py:graph"
    config.write_text(json.dumps(served))
    arguments = ("--config", str(config), "--n-jobs-per-worker", str(load.clients))
    return serving_all(folder, load.servers, *arguments, **settings)


def key(client: int) -> str:
    """Return a client's key."""
    return f"the-key-of-client-{client:03}"


async def ask_all(url: str, questions: Sequence[Question], gold: Gold, load: Load, method: str) -> list[Run]:
    """Let the clients ask until the time is up; what is under way then is waited for."""
    from langgraph_sdk import get_client

    rotation = cycle(questions)
    end = time.perf_counter() + load.seconds
    async with AsyncExitStack() as stack:
        reached = [
            await stack.enter_async_context(get_client(url=url, api_key=key(number)))
            for number in range(load.clients)
        ]
        asked = [ask_on(client, rotation, gold, end, method, bool(n % 2)) for n, client in enumerate(reached)]
        return [run for runs in await asyncio.gather(*asked) for run in runs]


async def ask_on(
    client: Any, rotation: Iterator[Question], gold: Gold, end: float, method: str, kept: bool
) -> list[Run]:
    """Ask one question after the other until the time is up, one at least."""
    runs: list[Run] = []
    while not runs or time.perf_counter() < end:
        runs.append(await ask(client, next(rotation), gold, method, kept))
    return runs


async def ask(client: Any, question: Question, gold: Gold, method: str, kept: bool) -> Run:
    """Ask one question and look whether the record is what it has to be."""
    given: dict[str, Any] = {"question": str(gold.steps[question.id])}
    if method == METHOD:
        given = {"question": question.text, "topics": topics_of(question)}
    calls = gold.calls[question.id] if method == METHOD else 0
    start = time.perf_counter()
    try:
        thread = (await client.threads.create())["thread_id"] if kept else None
        record = await client.runs.wait(thread, method, input=given)
    except Exception as error:  # whatever the client raises is an error of the run
        return Run(kept, time.perf_counter() - start, 0, f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - start
    return Run(kept, seconds, calls, wrong(record, question, calls) if method == METHOD else None)


def wrong(record: Any, question: Question, calls: int) -> str | None:
    """Say what is wrong with a record: its answers must be of the graph, and its calls all made."""
    used = record["usage"]
    if not record["outcome"].startswith("grounded"):
        return f"{question.id}: {record['outcome']}: {record['trace'][-1]}"
    if used["llm_calls"] != calls or used["cached_calls"]:
        return f"{question.id}: {used['llm_calls']} calls instead of {calls}"
    return None


def spoken(model: str) -> int:
    """Ask the model how often it has replied."""
    with closing(HTTPConnection(urlsplit(model).netloc, timeout=10)) as connection:
        connection.request("GET", "/count")
        return int(connection.getresponse().read())


def processor(servers: Sequence[Server]) -> float:
    """Return the seconds of processor that the servers have used (Linux)."""
    shown = [Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split() for server in servers]
    return sum(int(user) + int(system) for user, system in (fields[11:13] for fields in shown)) / TICKS


def late(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return statistics.quantiles(values, n=20)[-1]


def table(measured: Measured) -> Table:
    """Put what was measured side by side."""
    runs = measured.runs
    model = [run.calls * measured.load.pause for run in runs]
    seconds = [run.seconds for run in runs]
    drawn = Table("", "median", "p95", "max", title=f"{len(runs)} runs, {len(measured.errors)} errors")
    for name, values in (
        ("a run, s", seconds),
        ("  on no thread, s", [run.seconds for run in runs if not run.kept]),
        ("  on a thread that is kept, s", [run.seconds for run in runs if run.kept]),
        ("its calls of the model alone, s", model),
        ("a run / its calls alone (goal: p95 2)", measured.ratios()),
    ):
        drawn.add_row(name, f"{statistics.median(values):.2f}", f"{late(values):.2f}", f"{max(values):.2f}")
    for name, value, digits in (
        ("p95 of runs / p95 of their calls alone", late(seconds) / late(model), 2),
        ("p95 of runs / mean of their calls alone", late(seconds) / statistics.fmean(model), 2),
        ("runs a second", len(runs) / measured.wall, 1),
        ("calls a run", measured.calls / len(runs), 2),
        ("servers: processor a run, ms", 1000 * measured.cpu / len(runs), 1),
        ("  a run of as many nodes that do nothing, ms", 1000 * measured.cpu_empty, 1),
        ("servers: processors busy", measured.cpu / measured.wall, 2),
    ):
        drawn.add_row(name, f"{value:.{digits}f}")
    return drawn


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Load()
    parser.add_argument(
        "--servers",
        type=int,
        default=default.servers,
        help="that share the clients (more than one: needs haproxy)",
    )
    parser.add_argument("--clients", type=int, default=default.clients, help="that ask at the same time")
    parser.add_argument("--seconds", type=float, default=default.seconds, help="for which they ask")
    parser.add_argument("--pause", type=float, default=default.pause, help="seconds of a call")
    given = Load(**vars(parser.parse_args()))
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(load("sample").questions, given, Path(folder))
    console = Console(width=110)
    console.print(table(measured))
    for error in measured.errors[:5]:
        console.print(error)


if __name__ == "__main__":
    main()
