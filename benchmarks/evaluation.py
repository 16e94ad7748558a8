"""What a run costs beside the model: 1000 questions of 6 calls, and a model that takes 0.2 s a call.

Needs the question sets of the data folder (KGQA_DATA).
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kgqa.tests.support.perfect import DATA

METAQA = DATA / "metaqa"


def first(questions: int, folder: Path) -> Path:
    """Write the first 3-hop training questions to a file."""
    path = folder / f"{questions}.jsonl"
    with gzip.open(METAQA / "metaqa-3hop-train.jsonl.gz", "rb") as lines:
        path.write_bytes(b"".join(islice(lines, questions)))
    return path


def evaluated(dataset: Path, model: str, concurrency: int) -> tuple[float, list[float], dict[str, float]]:
    """Return the seconds of the whole command, those of each question, and F1 and calls."""
    out = dataset.parent / f"run-{concurrency}-{dataset.stem}"
    flags = {"dataset": dataset, "kg": METAQA / "metaqa.nt.gz", "model": model, "out": out}
    command = [sys.executable, "-P", "-m", "kgqa.cli.main", "eval", "--concurrency", str(concurrency)]
    command += [part for key, value in flags.items() for part in (f"--{key}", str(value))]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    took = time.perf_counter() - started
    metrics = json.loads((out / "metrics.json").read_bytes())
    times = [json.loads(line)["seconds"] for line in (out / "timings.jsonl").read_bytes().splitlines()]
    return took, times, {"f1": metrics["f1"]["value"], "calls": metrics["llm_calls"]["mean"]}


def throughput(seconds: list[float], concurrency: int) -> float:
    """Questions a second while so many are asked at a time."""
    return concurrency * len(seconds) / sum(seconds)


def main() -> None:
    """Measure in one run and print side by side."""
    if not METAQA.is_dir():
        Console().print(f"no question sets in {DATA}; set KGQA_DATA")
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    table = Table("", "", title=f"kgqa eval, MetaQA 3 hops, {cores} cores")
    with tempfile.TemporaryDirectory() as folder:
        thousand, few = first(1000, Path(folder)), first(12, Path(folder))
        took, _, found = evaluated(thousand, "simulated:accuracy=1", 16)
        table.add_row(f"1000 questions, {found['calls']:.0f} calls each, at 16", f"{took:.1f} s")
        table.add_row("F1 of the perfect simulated model", f"{found['f1']:.3f}")
        one = throughput(evaluated(few, "simulated:latency=0.2", 1)[1], 1)
        many = throughput(evaluated(thousand, "simulated:latency=0.2", 64)[1], 64)
        table.add_row("questions a second, 0.2 s a call, at 1", f"{one:.2f}")
        table.add_row("the same at 64", f"{many:.1f}")
        table.add_row("ratio", f"{many / one:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
