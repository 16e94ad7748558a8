"""One table, one harness: every method on the same questions, graph, model and budget (``make table``).

Writes the tables of docs/methods.md. On the sample graph always; on WebQSP's and CWQ's slices of
Freebase where the data folder is (KGQA_DATA), else their tables stay as they are. Takes some minutes.
"""

import gzip
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import islice, product
from pathlib import Path

import numpy as np
from rich.console import Console

from kgqa.benchmarks._runs import DOCS, Ask, Ran, asked, drawn, kgqa, put, side_by_side
from kgqa.evaluation.result_files import read_results
from kgqa.evaluation.scoring.statistics import (
    BOOTSTRAP_RESAMPLES,
    CONFIDENCE_LEVEL,
    Interval,
    bootstrap_interval,
)
from kgqa.graphs import METHODS, context_of
from kgqa.tests.support.perfect import DATA

SIMULATED = "simulated:accuracy=0.8,memory=0.4"

MODELS = {SIMULATED: 200, "offline": 50}
"""Who is asked, and how many questions of a set at most."""

TAUGHT = 1_500
"""Training questions that are learned from."""

LEARNED = DOCS.parent / "build" / "table"
"""Where exemplars and blueprints are kept from one time to the next; ``make clean`` removes them."""

HEAD = ("method", "Hits@1 %", "F1 %", "grounded %", "calls", "tokens", "queries", "seconds")

SHIPPED = ("sample", "conditions")
"""What comes with kgqa, by its name."""


@dataclass(frozen=True)
class Setting:
    """Some questions and their graph.

    Attributes:
        name: what the page calls it.
        dataset: what comes with kgqa, or a file of the data folder.
        kg: "sample", or a file of the data folder.
        split: the part that is asked.
        learned: a file of the data folder to build exemplars and blueprints from; None for what the
            sample graph has of its own.
    """

    name: str
    dataset: str
    kg: str
    split: str = "all"
    learned: str | None = None

    def file(self, name: str) -> str:
        """Return the path of a file of the data folder."""
        return name if name in SHIPPED else str(DATA / name)

    def folder(self, kind: str) -> Path:
        """Return the folder of what is learned before."""
        return LEARNED / f"{self.name}-{kind}"

    @property
    def there(self) -> bool:
        """Whether its files are."""
        files = [name for name in (self.dataset, self.kg, self.learned) if name not in (*SHIPPED, None)]
        return all(DATA.joinpath(str(name)).is_file() for name in files)


SLICE = "freebase/freebase_grasp_slice.nt.gz"

SETTINGS = (
    Setting("sample", "sample", "sample", "test"),
    Setting("webqsp", "freebase/webqsp_grasp_slice.jsonl.gz", SLICE, learned="train/webqsp_train.jsonl.gz"),
    Setting("cwq", "freebase/cwq_grasp_slice.jsonl.gz", SLICE, learned="train/cwq_dev.jsonl.gz"),
)


def learn(setting: Setting, kind: str) -> None:
    """Build exemplars or blueprints of training questions, unless they are there from another time."""
    if setting.learned is None or setting.folder(kind).is_dir():
        return
    graph = ["--kg", setting.file(setting.kg)] if kind == "exemplars" else []
    taught = LEARNED / f"{setting.name}-{kind}.jsonl"
    LEARNED.mkdir(parents=True, exist_ok=True)
    with gzip.open(DATA / setting.learned, "rb") as lines:
        taught.write_bytes(b"".join(islice(lines, TAUGHT)))
    kgqa(kind, "build", "--dataset", str(taught), *graph, "--out", str(setting.folder(kind)))


def options(setting: Setting, method: str, model: str) -> dict[str, str]:
    """Return those of what was learned that a method uses, or the offline model."""
    if setting.learned is None:
        return {}
    context = context_of(method)
    recalls = getattr(context(model="offline"), "recalls", False)
    taken = {"blueprints": "blueprints" in context.model_fields, "exemplars": recalls or model == "offline"}
    return {kind: str(setting.folder(kind)) for kind in taken if taken[kind]}


def runs(settings: Sequence[Setting], folder: Path) -> dict[tuple[str, str, str], Ran]:
    """Ask all questions of all settings by all methods; by setting, model and method."""
    side_by_side(lambda each: learn(*each), list(product(settings, ("exemplars", "blueprints"))))
    orders = {
        (setting.name, model, method): Ask(
            setting.file(setting.dataset),
            (setting.file(setting.kg),),
            method,
            model,
            setting.split,
            limit,
            options=options(setting, method, model),
        )
        for setting, (model, limit), method in product(settings, MODELS.items(), METHODS)
        if model != "offline" or context_of(method).asks_graph
    }
    made = side_by_side(
        lambda order: asked(order[1], folder / re.sub(r"\W+", "-", "-".join(order[0]))), orders.items()
    )
    return dict(zip(orders, made, strict=True))


def rows(found: dict[tuple[str, str, str], Ran], setting: str, model: str) -> Iterator[list[str]]:
    """Return the rows of one table."""
    for method in METHODS:
        ran = found.get((setting, model, method))
        if ran and not ran.failed:
            yield [f"[{method}]({method}.md)", *shares(ran), *costs(ran)]


def shares(ran: Ran) -> Iterator[str]:
    """Return what a run has reached, in per cent."""
    for name in ("hits_at_1", "f1", "kg_grounded_rate"):
        share = Interval(**ran.metrics[name])
        yield shown(Interval(*(100 * (bound or 0.0) for bound in astuple(share))), 1)


def costs(ran: Ran) -> Iterator[str]:
    """Return what a question has cost: means, and of the seconds the median."""
    for keys, digits in ((["llm_calls"], 1), (["input_tokens", "output_tokens"], 0), (["kg_queries"], 1)):
        yield shown(bootstrap_interval(spent(ran, *keys)), digits)
    yield shown(median(spent(ran, "seconds")), 3)


def spent(ran: Ran, *keys: str) -> list[float]:
    """Return the sum of some parts of each question's cost."""
    return [sum(result.usage.get(key) or 0 for key in keys) for result in read_results(ran.out)]


def median(values: Sequence[float]) -> Interval:
    """Return the median with its percentile bootstrap interval: one slow question is no slow method."""
    resampled = np.random.default_rng(0).choice(values, (BOOTSTRAP_RESAMPLES, len(values)))
    tail = 100 * (1 - CONFIDENCE_LEVEL) / 2
    low, high = np.percentile(np.median(resampled, axis=1), [tail, 100 - tail])
    return Interval(float(np.median(values)), float(low), float(high))


def shown(found: Interval, digits: int) -> str:
    """Show a number with its interval, where that has a width."""
    value, low, high = (f"{bound or 0:,.{digits}f}" for bound in (found.value, found.low, found.high))
    return value if low == value == high else f"{value} ({low}–{high})"


def main() -> None:
    """Measure in one run and write the tables."""
    started = time.perf_counter()
    settings = [setting for setting in SETTINGS if setting.there]
    blocks = {}
    with tempfile.TemporaryDirectory() as folder:
        found = runs(settings, Path(folder))
        for setting, model in product(settings, MODELS):
            table = list(rows(found, setting.name, model))
            counts = sorted(
                {ran.metrics["n"] for key, ran in found.items() if key[:2] == (setting.name, model)}
            )
            name = f"{setting.name} {model.partition(':')[0]}"
            blocks[name] = f"{counts[0]} questions.\n\n{drawn(HEAD, table)}"
    put(DOCS / "methods.md", blocks)
    console = Console(width=200, highlight=False)
    for name, block in blocks.items():
        console.print(f"\n{name}\n{block}", markup=False)
    console.print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
