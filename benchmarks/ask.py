"""How long a person waits: the whole process, and a warm answer of the offline model."""

import asyncio
import gzip
import json
import statistics
import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

import kgqa
from kgqa.data import SAMPLE_QUESTIONS

RUNS = 5
QUESTIONS = 60


def process(*arguments: str) -> list[float]:
    """Seconds of the whole ``kgqa`` process, several times, after one run that prepares."""
    seconds = []
    for _ in range(RUNS + 1):
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-P", "-m", "kgqa.cli.main", *arguments], check=True, capture_output=True
        )
        seconds.append(time.perf_counter() - started)
    return seconds[1:]


async def warm() -> list[float]:
    """Seconds of each answer once graph and model are open; linking the topics is part of it."""
    lines = gzip.decompress(SAMPLE_QUESTIONS.read_bytes()).splitlines()
    asked = [question["question"] for question in map(json.loads, lines) if question["split"] == "train"]
    await kgqa.aask(asked[0], kg="sample", model="offline")
    seconds = []
    for question in asked[:QUESTIONS]:
        started = time.perf_counter()
        await kgqa.aask(question, kg="sample", model="offline")
        seconds.append(time.perf_counter() - started)
    return seconds


def main() -> None:
    """Measure all three in one run and print them."""
    table = Table("seconds", "median", "max", title="sample graph, offline model")
    rows = {
        "kgqa --help, whole process": process("--help"),
        "kgqa ask, whole process": process("ask", "What is the capital of Mongolia?", "--model", "offline"),
        f"a warm answer ({QUESTIONS} questions)": asyncio.run(warm()),
    }
    for name, seconds in rows.items():
        table.add_row(name, f"{statistics.median(seconds):.3f}", f"{max(seconds):.3f}")
    Console().print(table)


if __name__ == "__main__":
    main()
