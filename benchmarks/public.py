"""Compose, and CoR, PoG, CoG and ToG against the public codes of their papers, on the same 60 + 60 questions.

The questions are the first 60 with a complete gold path of WebQSP's and of CWQ's slice; the model is
simulated. Theirs was measured once, with a model of the same kind. Writes a table of docs/methods.md.
Needs the question sets of the data folder (KGQA_DATA).
"""

import gzip
import json
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

from rich.console import Console

from kgqa.benchmarks._runs import DOCS, Ask, Ran, asked, drawn, put, side_by_side
from kgqa.tests.support.perfect import DATA

GRAPH = DATA / "freebase" / "freebase_grasp_slice.nt.gz"
SETS = {"WebQSP": "webqsp_grasp_slice", "CWQ": "cwq_grasp_slice"}
QUESTIONS = 60
SEEDS = range(3)

HEAD = ("questions, model", "", "hit %", "F1 %", "calls", "input tokens", "queries")


@dataclass(frozen=True)
class Model:
    """A simulated model: how often its first choice is right; whether the right one follows a wrong one."""

    accuracy: float
    recall: int

    @property
    def spec(self) -> str:
        """The name by which it is asked."""
        return f"simulated:accuracy={self.accuracy:g},recall={self.recall}"

    @property
    def called(self) -> str:
        """What the table calls it."""
        return f"{self.accuracy:g}" if self.accuracy == 1 else f"{self.accuracy:g}, recall {self.recall}"


MODELS = (Model(1, 0), Model(0.7, 0), Model(0.7, 1))

Figures = tuple[float | None, ...]
"""Hit and F1 in per cent, calls, input tokens, graph queries."""

THEIRS: dict[tuple[str, str, Model], Figures] = {
    ("cor", "WebQSP", MODELS[0]): (100, 98.1, 2.7, 2402, 7.4),
    ("cor", "WebQSP", MODELS[1]): (71.7, 71.0, 2.7, 2252, 6.7),
    ("cor", "WebQSP", MODELS[2]): (100, None, None, None, None),
    ("cor", "CWQ", MODELS[0]): (86.7, 86.7, 3.6, 3147, 6.7),
    ("cor", "CWQ", MODELS[1]): (50.0, 50.0, 3.4, 2780, 6.0),
    ("cor", "CWQ", MODELS[2]): (86.7, None, None, None, None),
    ("pog", "WebQSP", MODELS[0]): (98.3, 97.6, 7.7, 3449, 13.6),
    ("pog", "WebQSP", MODELS[1]): (78.3, 76.9, 7.9, 3666, 13.0),
    ("pog", "WebQSP", MODELS[2]): (96.7, None, None, None, None),
    ("pog", "CWQ", MODELS[0]): (95.0, 95.0, 10.3, 4852, 25.9),
    ("pog", "CWQ", MODELS[1]): (75.0, 75.0, 10.9, 5218, 26.9),
    ("pog", "CWQ", MODELS[2]): (95.0, None, None, None, None),
    ("cog", "WebQSP", MODELS[0]): (98.3, 98.1, 8.1, 4370, 13.9),
    ("cog", "WebQSP", MODELS[1]): (96.7, 95.9, 9.0, 4797, 16.7),
    ("cog", "WebQSP", MODELS[2]): (100, None, None, None, None),
    ("cog", "CWQ", MODELS[0]): (93.3, 93.3, 11.4, 6216, 26.6),
    ("cog", "CWQ", MODELS[1]): (93.3, 93.0, 14.8, 8030, 38.4),
    ("cog", "CWQ", MODELS[2]): (96.7, None, None, None, None),
    ("tog", "WebQSP", MODELS[0]): (91.7, 85.7, 4.0, 2311, 14.3),
    ("tog", "WebQSP", MODELS[1]): (66.7, 61.5, 3.7, 2191, 12.2),
    ("tog", "WebQSP", MODELS[2]): (93.3, None, None, None, None),
    ("tog", "CWQ", MODELS[0]): (48.3, 45.8, 4.5, 2649, 16.6),
    ("tog", "CWQ", MODELS[1]): (26.7, 25.8, 4.4, 2650, 14.9),
    ("tog", "CWQ", MODELS[2]): (45.0, None, None, None, None),
}
"""What the public codes have reached; medians of three runs at accuracy 1, else one run."""

METHODS = ("compose", "cor", "pog", "cog", "tog")

Key = tuple[str, str, Model, bool]
"""Method, set, model, and whether a second look is taken."""


def first(name: str, folder: Path) -> Path:
    """Write the first questions of a set that have a complete gold path to a file."""
    out = folder / f"{name}.jsonl"
    with gzip.open(DATA / "freebase" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        complete = (line for line in lines if json.loads(line).get("gold_path_complete"))
        out.write_text("".join(islice(complete, QUESTIONS)), encoding="utf-8")
    return out


def runs(folder: Path) -> dict[Key, list[Ran]]:
    """Ask all, with each seed; a model that makes no errors needs one."""
    files = {name: first(file, folder) for name, file in SETS.items()}
    keys = list(product(METHODS, SETS, MODELS, (False, True)))
    each = [(key, seed) for key in keys for seed in (SEEDS if key[2].accuracy < 1 else SEEDS[:1])]

    def one(order: tuple[Key, int]) -> Ran:
        (method, name, model, second), seed = order
        options = {"retry_search": str(second).lower()}
        ask = Ask(str(files[name]), (str(GRAPH),), method, model.spec, seed=seed, options=options)
        return asked(ask, folder / f"{method}-{name}-{model.spec[10:]}-{second}-{seed}".replace("=", ""))

    found: dict[Key, list[Ran]] = {key: [] for key in keys}
    for (key, _), ran in zip(each, side_by_side(one, each), strict=True):
        found[key].append(ran)
    return found


def figures(made: Sequence[Ran]) -> Figures:
    """Return the means over the seeds."""
    shares = [[100 * ran.metrics[name]["value"] for ran in made] for name in ("hits_at_1", "f1")]
    costs = [
        [ran.metrics[name]["mean"] for ran in made] for name in ("llm_calls", "input_tokens", "kg_queries")
    ]
    return tuple(map(statistics.fmean, (*shares, *costs)))


def shown(found: Figures) -> list[str]:
    """Show figures, a dash for what is not known."""
    forms = ("{:.1f}", "{:.1f}", "{:.1f}", "{:,.0f}", "{:.1f}")
    return ["–" if value is None else form.format(value) for form, value in zip(forms, found, strict=True)]


def rows(found: dict[Key, list[Ran]], method: str) -> Iterator[list[str]]:
    """Return the rows of one method: theirs, ours, and ours with a second look."""
    for name, model in product(SETS, MODELS):
        theirs = THEIRS.get((method, name, model))
        if theirs:
            yield [f"{name}, {model.called}", "public code", *shown(theirs)]
        first = "" if theirs else f"{name}, {model.called}"
        yield [first, "kgqa", *shown(figures(found[method, name, model, False]))]
        yield ["", "with a second look", *shown(figures(found[method, name, model, True]))]


def main() -> None:
    """Measure in one run, print, and write the tables."""
    console = Console(width=160, highlight=False)
    if not GRAPH.is_file():
        console.print(f"no question sets in {DATA}; set KGQA_DATA")
        return
    with tempfile.TemporaryDirectory() as folder:
        found = runs(Path(folder))
    blocks = {f"public {method}": drawn(HEAD, rows(found, method)) for method in METHODS}
    put(DOCS / "methods.md", blocks)
    for name, block in blocks.items():
        console.print(f"\n{name}\n{block}", markup=False)


if __name__ == "__main__":
    main()
