"""What a beam of entities loses and relation chains do not: Figure 1 of CoR's paper, in numbers.

F1 of a model without errors by the entities between topics and answers (1b), and by how much it falls
where only topics and answers have names (1a). Writes a table of docs/methods.md. Needs the question sets
of the data folder (KGQA_DATA).
"""

import gzip
import tempfile
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

from rich.console import Console

from kgqa.benchmarks._runs import DOCS, Ask, Ran, asked, drawn, kgqa, put, side_by_side
from kgqa.evaluation.datasets import load
from kgqa.evaluation.result_files import read_results
from kgqa.evaluation.scoring.comparison import compare_results
from kgqa.tests.support.perfect import DATA

SETS = {
    "MetaQA, 2 hops": ("metaqa/metaqa-2hop-test-sample.jsonl.gz", "metaqa/metaqa.nt.gz", 1),
    "MetaQA, 3 hops": ("metaqa/metaqa-3hop-test-sample.jsonl.gz", "metaqa/metaqa.nt.gz", 1),
    "PathQuestion, 3 hops": ("pathquestion/pq-3h.jsonl.gz", "pathquestion/pq-3h.nt.gz", 25),
}
"""Questions, graph, and every how many-th question is asked."""

QUESTIONS = 200
"""Of a set at most."""

METHODS = {"cor": {}, "pog": {}, "tog": {"beam": "entities"}}
"""With their options."""

KINDS = ("at most 3", "more than 3")
HEAD = ("questions", "method", *(f"{kind} between" for kind in KINDS), "without names, difference")


def first(name: str, folder: Path) -> tuple[str, str]:
    """Write some questions of a set to a file, and build the graph without names: give both."""
    file, kg, step = SETS[name]
    questions, unnamed = folder / f"{name}.jsonl", folder / name
    with gzip.open(DATA / file, "rb") as lines:
        questions.write_bytes(b"".join(islice(lines, 0, step * QUESTIONS, step)))
    kgqa("kg", "load", str(DATA / kg), "--out", str(unnamed), "--names-of", str(questions))
    return str(questions), str(unnamed)


def rows(folder: Path) -> Iterator[list[str]]:
    """Ask all, and give the rows of the table."""
    made = dict(zip(SETS, side_by_side(lambda name: first(name, folder), SETS), strict=True))

    def one(order: tuple[str, str, bool]) -> Ran:
        name, method, named = order
        questions, unnamed = made[name]
        kg = str(DATA / SETS[name][1]) if named else unnamed
        ask = Ask(questions, (kg,), method, "simulated:accuracy=1", options=METHODS[method])
        return asked(ask, folder / f"{name}-{method}-{named}")

    orders = list(product(SETS, METHODS, (True, False)))
    runs = dict(zip(orders, side_by_side(one, orders), strict=True))
    for name, method in product(SETS, METHODS):
        with_names, without = runs[name, method, True], runs[name, method, False]
        groups = with_names.metrics["breakdowns"]["intermediate"]
        yield [
            name,
            method,
            *(accuracy(groups.get(kind)) for kind in KINDS),
            lost(with_names, without, made[name][0]),
        ]


def accuracy(group: dict[str, dict[str, float]] | None) -> str:
    """Show F1 over some questions with its interval."""
    if group is None:
        return "–"
    value, low, high = (f"{100 * group['f1'][part]:.1f}" for part in ("value", "low", "high"))
    return (value if low == high else f"{value} ({low}–{high})") + f", n={group['n']}"


def lost(with_names: Ran, without: Ran, questions: str) -> str:
    """Show the paired difference in F1 with its interval."""
    results = [read_results(ran.out) for ran in (without, with_names)]
    found = compare_results(*results, load(questions).questions).differences["f1"]
    value, low, high = (f"{100 * (bound or 0):+.1f}" for bound in (found.value, found.low, found.high))
    return "0.0" if found.low == found.high == 0 else f"{value} ({low} to {high})"


def main() -> None:
    """Measure in one run, print, and write the table."""
    console = Console(width=160, highlight=False)
    if not (DATA / "metaqa").is_dir():
        console.print(f"no question sets in {DATA}; set KGQA_DATA")
        return
    with tempfile.TemporaryDirectory() as folder:
        block = drawn(HEAD, rows(Path(folder)))
    put(DOCS / "methods.md", {"beams": block})
    console.print(block, markup=False)


if __name__ == "__main__":
    main()
