"""Fails where kgqa has become slower, or takes more queries, calls or memory, than the figures that are kept.

    python -P benchmarks/gate.py [--keep] [--elsewhere]

Fixed questions of the made graph of 10^6 triples (`scale`) are asked by each of its askers; linking, chains,
the hub's page, the profile, loading (10^5 triples), starting a process and a run of the server are measured
by themselves.
Processor seconds are told in calibration loops: a loop of Python, JSON, SQLite, pyoxigraph and numpy runs
before and after each piece of work, so that what slows a machine slows both; of equal pieces the median
counts. What three in four of these figures have in common is the machine's, and is taken out. A figure that
grows by more than 15 %, and does so when all is measured again, fails. Processor figures have more room on
another machine or Python than that of `gate.json`, where work and loop may differ in what they gain; counts
are the same there.
``--keep`` writes the figures of now as those that are kept. The graph stays in build/bench.
"""

import argparse
import asyncio
import gc
import json
import os
import platform
import random
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median_low, quantiles
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pyoxigraph as ox

import kgqa
from kgqa.benchmarks import scale, serving
from kgqa.benchmarks._made_graph import MadeGraph
from kgqa.evaluation.datasets import load as load_questions
from kgqa.evaluation.runs.event_loop import garbage_frozen
from kgqa.kg.opening import open_graph
from kgqa.kg.store.directory import build_store, open_store, profile_store
from kgqa.kg.store.embedded import EmbeddedStore

ROOT, KEPT = Path(__file__).parents[1], Path(__file__).with_suffix(".json")
FOLDER = ROOT / "build" / "bench"

TRIPLES, LOADED = 1_000_000, 100_000
ROUNDS = 2  # of everything, each in processes of its own
REPEATS = 8  # in a round, of parts
STARTS = 3  # in a round, of processes and loading
ASKED = 2  # questions of each kind
LOOPS = 3  # at a time
SERVED = serving.Load(clients=4, seconds=5.0, pause=0.0)
METHODS = "cor", "compose"  # whose calls are counted
GROWTH, GROWTH_ELSEWHERE, SLACK_MB = 1.15, 1.5, 8.0

Figures = Mapping[str, Mapping[str, float]]
"""By kind ("processor", "memory", "counts"), then by name."""

STARTED = {
    "import kgqa": ("-c", "import kgqa"),
    "kgqa ask": ("-m", "kgqa.cli.main", "ask", "What is the capital of Mongolia?", "--model", "offline"),
}


class Measured:
    """What a process measures, in rows of kind, name, place and value; what has another place adds to it."""

    def __init__(self) -> None:
        draw, p = random.Random(0), ox.NamedNode("urn:p")
        self.names = {f"w{draw.randrange(10**6)} x{place}": place for place in range(60_000)}
        self.some = draw.sample([*self.names], 3_000)
        self.table = sqlite3.connect(":memory:")
        self.table.execute("create table names (name text primary key, place int)")
        self.table.executemany("insert into names values (?, ?)", self.names.items())
        nodes, self.store = [ox.NamedNode(f"urn:{place}") for place in range(10_000)], ox.Store()
        self.store.extend(ox.Quad(node, p, other) for node in nodes for other in draw.sample(nodes, 2))
        self.matrix = np.random.default_rng(0).random((384, 1536), dtype=np.float32)
        self.rows: list[tuple[str, str, int, float]] = []
        self.before = self.time_loops()

    def time_loops(self) -> float:
        """Return the processor seconds of a calibration loop, some 0.01, after one that fetches memory."""
        gc.collect()
        gc.disable()  # the collector may take as long as four loops
        self.loop()
        start = time.process_time()
        for _ in range(LOOPS):
            self.loop()
        gc.enable()
        return (time.process_time() - start) / LOOPS

    def loop(self) -> None:
        """Do what is always the same."""
        heads = defaultdict[str, list[str]](list)
        for word, number in sorted(name.split() for name in self.some):
            heads[word[:2]].append(f"{number}-{word.upper()}")
        json.loads(json.dumps(heads))
        for name in self.some[:400]:
            self.table.execute("select place from names where name = ?", (name,)).fetchone()
        for place in range(40):
            list(self.store.query(f"SELECT * {{ <urn:{place}> <urn:p> ?b . ?b <urn:p> ?c }}"))
        np.tanh(self.matrix[:96, :384] @ self.matrix)
        sum(self.names[name] for name in self.some)

    def add(self, kind: str, values: Mapping[str, float], place: int = 0) -> None:
        """Add values by name."""
        self.rows += [(kind, name, place, value) for name, value in values.items()]

    def add_seconds(self, seconds: Mapping[str, float], place: int = 0) -> None:
        """Add what was done since the last call, by name, in calibration loops."""
        after = self.time_loops()
        loop, self.before = (self.before + after) / 2, after
        self.add("processor", {name: each / loop for name, each in seconds.items()}, place)

    async def take(self, name: str, work: Callable[..., Awaitable[Any]], *given: Any) -> Any:
        """Do a piece of work, and return what it gives."""
        self.add_seconds({})
        start = processor_seconds()
        done = await work(*given)
        self.add_seconds({name: processor_seconds() - start})
        return done


def processor_seconds() -> float:
    """Return the seconds of this process, and of those that it has waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def peak_megabytes() -> float:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def some_questions(each: int = ASKED) -> list[Any]:
    """Return so many questions of each kind."""
    every = enumerate(scale.questions(MadeGraph(TRIPLES)))
    return [question for place, question in every if place % scale.EACH < each]


async def ask(found: Measured, source: str, asker: str) -> None:
    """Ask questions."""
    graph, name, asked, used = open_graph([source]), scale.NAMES[asker], some_questions(), peak_megabytes()
    for place, question in enumerate(asked):
        found.add_seconds({})
        cost = await scale.cost_of(question, graph, asker)
        found.add_seconds({name: cost["processor"], f"{name}: answer": cost["nodes"]["answer"]}, place)
        found.add("counts", {f"{name}: queries": cost["queries"]}, place)
    found.add("memory", {name: peak_megabytes() - used})


async def look_up(found: Measured, source: str) -> None:
    """Do what askers do of a graph, part by part, each of a graph that has remembered nothing."""
    stored, asked = open_store(Path(source)), some_questions(scale.EACH)
    store = EmbeddedStore(stored.store)
    chains = [chain for each in asked for chain in scale.gold_chains(each) if "Country" not in chain.topic.id]
    parts: dict[str, Callable[[Any], Awaitable[Any]]] = {
        "linking": lambda graph: _in_turn(graph.link(each.text) for each in asked),
        "chains": lambda graph: _in_turn(graph.visit_chains([chain]) for chain in chains),
        "hub's page": lambda graph: graph.follow_chain(scale.citizens()),
        "profile": lambda _: asyncio.to_thread(profile_store, store, stored.facts),
    }
    for name, work in [*parts.items()] * REPEATS:
        await found.take(name, work, open_graph([source]))


async def _in_turn(works: Iterable[Awaitable[Any]]) -> None:
    for work in works:
        await work


async def load(found: Measured, file: str) -> None:
    """Load a graph."""
    for _ in range(STARTS):
        await found.take("loading", asyncio.to_thread, build_store, [Path(file)], Path(file).with_suffix(""))


async def start(found: Measured) -> None:
    """Start processes, and count the modules that they import."""
    for name, arguments in (each for each in STARTED.items() for _ in range(STARTS)):
        command = [sys.executable, "-P", "-X", "importtime", *arguments]
        process = partial(subprocess.run, check=True, capture_output=True)
        done = await found.take(name, asyncio.to_thread, process, command)
        found.add("counts", {f"{name}: modules": done.stderr.count(b"import time:")})


async def serve(found: Measured) -> None:
    """Let a server answer."""
    with tempfile.TemporaryDirectory() as folder:
        asked = serving.measure, load_questions("sample").questions, SERVED, Path(folder)
        measured = await asyncio.to_thread(*asked)
    if measured.errors:
        raise RuntimeError(measured.errors[0])
    found.add_seconds({"a server run": measured.cpu / len(measured.runs)})


async def count_calls(found: Measured, source: str, method: str) -> None:
    """Count calls of kgqa's functions, and jobs of threads, for questions asked offline without topics."""
    calls, graph = Counter[CodeType](), open_graph([source])

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls[frame.f_code] += 1

    threading.setprofile(count)
    sys.setprofile(count)
    for question in some_questions(1)[::2]:
        await kgqa.aask(question.text, method=method, kg=graph, model="offline")
    sys.setprofile(None)
    # comprehensions are calls on Python 3.11 alone
    ours = [code for code in calls if code.co_filename.startswith(str(ROOT)) and "comp>" not in code.co_name]
    jobs = sum(times for code, times in calls.items() if code.co_name == "submit")
    found.add("counts", {f"{method}: calls": sum(calls[code] for code in ours), f"{method}: jobs": jobs})


def run(work: Callable[..., Awaitable[None]], *arguments: str) -> str:
    """Do one of these in this process; return the rows as JSON."""
    found = Measured()
    with garbage_frozen():
        asyncio.run(work(found, *arguments))
    return json.dumps(found.rows)


def made_graph() -> tuple[str, str]:
    """Return the store of the graph, and the file of a smaller one; made anew where kg/ was changed."""
    told = sha256()
    for file in (*sorted((ROOT / "kg").rglob("*.py")), ROOT / "benchmarks" / "_made_graph.py"):
        told.update(file.read_bytes())
    folder = FOLDER / told.hexdigest()[:16]
    if not folder.exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        made = FOLDER / "unfinished"
        made.mkdir(parents=True)
        for triples in (TRIPLES, LOADED):
            MadeGraph(triples).write(made / f"{triples}.nt")
        build_store([made / f"{TRIPLES}.nt"], made / "store")
        made.rename(folder)
    return str(folder / "store"), str(folder / f"{LOADED}.nt")


def measure() -> Figures:
    """Measure everything, each in a process of its own."""
    # apart: what a process has held before it starts others counts as held by these, too
    store, file = scale.in_process("from kgqa.benchmarks.gate import *; print(json.dumps(made_graph()))")
    works = [f"ask, {store!r}, {asker!r}" for asker in scale.ASKERS]
    works = [*works, f"look_up, {store!r}", f"load, {file!r}", "start", "serve"] * ROUNDS
    works += [f"count_calls, {store!r}, {method!r}" for method in METHODS]
    values = defaultdict[tuple[str, str, int], list[float]](list)
    for work in works:
        for *row, value in scale.in_process(f"from kgqa.benchmarks.gate import *; print(run({work}))"):
            values[tuple(row)].append(value)
    figures = defaultdict[str, Counter[str]](Counter)
    for (kind, name, _), each in values.items():
        figures[kind][name] += median_low(each)
    return {kind: {name: round(value, 1) for name, value in found.items()} for kind, found in figures.items()}


def least(first: Figures, second: Figures) -> Figures:
    """Return the smaller of each figure that both have."""
    return {
        kind: {name: min(value, second[kind][name]) for name, value in found.items() if name in second[kind]}
        for kind, found in first.items()
    }


def compare(kept: Figures, now: Figures, *, elsewhere: bool = False) -> list[str]:
    """Return a line for each figure that has grown too much, or that only one of both has."""
    lines, slowed = [], _slowed(kept.get("processor", {}), now.get("processor", {}))
    every = {(kind, name) for figures in (kept, now) for kind, values in figures.items() for name in values}
    for kind, name in sorted(every):
        old, new = (figures.get(kind, {}).get(name) for figures in (kept, now))
        if old is None or new is None:
            lines.append(f"{kind}, {name}: {'measured, not kept' if old is None else 'kept, not measured'}")
            continue
        growth = GROWTH_ELSEWHERE if elsewhere and kind == "processor" else GROWTH
        new = round(new / slowed, 1) if kind == "processor" else new
        if new > old * growth + SLACK_MB * (kind == "memory"):
            ratio = f"{new / old:.2f}" if old else "-"
            lines.append(f"{kind}, {name}: kept {old:g}, now {new:g}, ratio {ratio} (at most {growth})")
    return lines


def _slowed(kept: Mapping[str, float], now: Mapping[str, float]) -> float:
    """Return how many times as long all takes on this machine, at least 1: what three in four exceed.

    A neighbour slows memory more than it does the calibration loops; what is slower in kgqa is so in places.
    """
    ratios = [now[name] / kept[name] for name in kept.keys() & now.keys() if kept[name]]
    return max(1.0, quantiles(ratios, n=4)[0]) if len(ratios) > 1 else 1.0


def machine() -> str:
    """Return what the processor figures depend on: the processor, and the build of Python."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    major, minor, _ = platform.python_version_tuple()
    return f"{(names or [platform.machine()])[0]}; Python {major}.{minor}, {platform.python_compiler()}"


def main() -> int:
    """Measure, and compare or keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", action="store_true", help="write the figures of now as those that are kept")
    parser.add_argument(
        "--elsewhere", action="store_true", help="give processor figures the room of another machine"
    )
    given = parser.parse_args()
    os.environ |= {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    now = measure()
    if given.keep:
        KEPT.write_text(json.dumps({"machine": machine(), **now}, indent=1, sort_keys=True) + "\n")
        return 0
    kept = json.loads(KEPT.read_bytes())
    elsewhere = kept.pop("machine") != machine() or given.elsewhere
    if lines := compare(kept, now, elsewhere=elsewhere):  # what is slower in kgqa is so again
        lines = compare(kept, least(now, measure()), elsewhere=elsewhere)
    print(*(lines or [f"none of {sum(map(len, now.values()))} figures has grown too much"]), sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
