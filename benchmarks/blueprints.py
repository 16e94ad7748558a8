"""What blueprints cost: building a library of the WebQSP training questions, opening it, looking one up.

Needs the question sets of the data folder (KGQA_DATA).
"""

import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kgqa.priors.blueprints import BlueprintLibrary, open_library
from kgqa.priors.encoder import Encoder, open_encoder
from kgqa.priors.masking import mask_names
from kgqa.tests.support.perfect import DATA

TRAIN = DATA / "train" / "webqsp_train.jsonl.gz"


def built(folder: Path) -> float:
    """Return the seconds of the whole command that builds the library."""
    command = [sys.executable, "-P", "-m", "kgqa.cli.main", "blueprints", "build"]
    started = time.perf_counter()
    subprocess.run([*command, "--dataset", TRAIN, "--out", folder], check=True, capture_output=True)
    return time.perf_counter() - started


def opened(folder: Path, encoder: Encoder) -> tuple[BlueprintLibrary, float]:
    """Open the library and give the seconds that takes, apart from the encoder's."""
    started = time.perf_counter()
    library = open_library(folder, encoder.encode, encoder.name)
    return library, time.perf_counter() - started


def looked_up(library: BlueprintLibrary, questions: int) -> list[float]:
    """Return the seconds of each look-up, the encoder's included."""
    with gzip.open(TRAIN, "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in islice(lines, questions)]
    times = []
    for line in read:
        masked = mask_names(line["question"], [t["name"] for t in line["topic_entities"] if t["name"]])
        started = time.perf_counter()
        library.nearest(masked, 5)
        times.append(time.perf_counter() - started)
    return times


def main() -> None:
    """Measure in one run and print side by side."""
    if not TRAIN.is_file():
        Console().print(f"no question sets in {DATA}; set KGQA_DATA")
        return
    encoder = open_encoder()
    encoder.encode(["warm"])
    with tempfile.TemporaryDirectory() as folder:
        took = built(Path(folder) / "library")
        opened(Path(folder) / "library", encoder)  # imports FAISS
        library, opening = opened(Path(folder) / "library", encoder)
        times = looked_up(library, 200)
    table = Table("", "", title="blueprints of WebQSP's training questions")
    table.add_row("build, whole command", f"{took:.1f} s")
    table.add_row("templates", f"{len(library.records)}")
    table.add_row("open", f"{opening * 1000:.0f} ms")
    table.add_row("look up, encoder included, median", f"{statistics.median(times) * 1000:.1f} ms")
    table.add_row("look up, 95th percentile", f"{statistics.quantiles(times, n=20)[-1] * 1000:.1f} ms")
    Console().print(table)


if __name__ == "__main__":
    main()
