"""How long a person waits: the whole process, and a warm answer of the offline model."""

import asyncio
import gzip
import json
import resource
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

import kgqa
from kgqa.data import SAMPLE_QUESTIONS

RUNS = 5
QUESTIONS = 60


class Seconds(NamedTuple):
    """Seconds by the clock, and of the processor."""

    wall: float
    processor: float


def process(*arguments: str) -> list[Seconds]:
    """Return the seconds of a whole Python process, several times, after one run that prepares."""
    seconds = []
    for _ in range(RUNS + 1):
        started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-P", *arguments], check=True, capture_output=True)
        wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(Seconds(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return seconds[1:]


async def warm() -> list[Seconds]:
    """Return the seconds of each answer once graph and model are open; linking the topics is part of it."""
    lines = gzip.decompress(SAMPLE_QUESTIONS.read_bytes()).splitlines()
    asked = [question["question"] for question in map(json.loads, lines) if question["split"] == "train"]
    await kgqa.aask(asked[0], kg="sample", model="offline")
    seconds = []
    for question in asked[:QUESTIONS]:
        started, before = time.perf_counter(), time.process_time()
        await kgqa.aask(question, kg="sample", model="offline")
        seconds.append(Seconds(time.perf_counter() - started, time.process_time() - before))
    return seconds


def main() -> None:
    """Measure all in one run and print them."""
    table = Table("seconds", "median", "max", "processor, median", title="sample graph, offline model")
    command, question = ("-m", "kgqa.cli.main"), "What is the capital of Mongolia?"
    rows = {
        "python -c 'import langgraph.graph'": process("-c", "import langgraph.graph"),
        "kgqa --help, whole process": process(*command, "--help"),
        "kgqa ask, whole process": process(*command, "ask", question, "--model", "offline"),
        f"a warm answer ({QUESTIONS} questions)": asyncio.run(warm()),
    }
    for name, seconds in rows.items():
        wall, processor = zip(*seconds, strict=True)
        measured = statistics.median(wall), max(wall), statistics.median(processor)
        table.add_row(name, *(f"{each:.3f}" for each in measured))
    Console().print(table)


if __name__ == "__main__":
    main()
