"""How good the offline model is, how fast, and what each of its parts brings.

Needs the question sets of the data folder (KGQA_DATA) for all but the sample. Learns from
training parts only and asks test parts; no weight of the model was chosen on these.
``--quick`` leaves out what each part brings.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from kgqa.models.offline import PARTS
from kgqa.tests.support.perfect import DATA

LIMIT = 150
"""Questions of a set by which the parts are compared."""


@dataclass(frozen=True)
class Trial:
    """A question set, its graph, and what is learned from before.

    Attributes:
        name: what the table calls it.
        kg: the graph, "sample" or files.
        asked: the question file and its part.
        learned: files to build exemplars from and their part; none for no exemplars.
        metrics: what is shown of ``metrics.json``.
        method: the method that asks.
    """

    name: str
    kg: tuple[str, ...]
    asked: tuple[str, str]
    learned: tuple[tuple[str, ...], str] = ((), "train")
    metrics: tuple[str, ...] = ("hits_at_1",)
    method: str = "cor"


METAQA = tuple(f"metaqa/metaqa-{hops}hop-train.jsonl.gz" for hops in (1, 2, 3))
SLICE = ("freebase/freebase_slice.nt.gz", "freebase/freebase_slice_gnnrag.nt.gz")
WEBQSP = Trial(
    "WebQSP, slice",
    SLICE,
    ("freebase/webqsp_slice_union.jsonl.gz", "all"),
    (("train/webqsp_train.jsonl.gz",), "all"),
    ("hit_any", "f1"),
)

CWQ = Trial(
    "CWQ, slice, test part",
    SLICE,
    ("freebase/cwq_slice_union.jsonl.gz", "test"),
    (("train/cwq_dev.jsonl.gz",), "all"),
    ("hit_any", "f1"),
)


def pathquestion(hops: int, split: str) -> Trial:
    """Return the trial of PathQuestion in one of its two splits."""
    name, prefix = f"pathquestion/pq-{hops}h", "" if split == "split" else f"{split}="
    return Trial(
        f"PathQuestion {hops}H, {split}",
        (f"{name}.nt.gz",),
        (f"{name}.jsonl.gz", f"{prefix}test"),
        ((f"{name}.jsonl.gz",), f"{prefix}train"),
    )


def metaqa(hops: int) -> Trial:
    """Return the trial of MetaQA's test sample of so many hops."""
    asked = (f"metaqa/metaqa-{hops}hop-test-sample.jsonl.gz", "all")
    return Trial(f"MetaQA {hops} hop", ("metaqa/metaqa.nt.gz",), asked, (METAQA, "train"))


WEBQSP_TEST = replace(WEBQSP, name="WebQSP, slice, test part", asked=(WEBQSP.asked[0], "test"))

TRIALS = (
    *map(metaqa, (1, 2, 3)),
    *(pathquestion(hops, split) for split in ("split", "split_group") for hops in (2, 3)),
    Trial(
        "WorldCup C",
        ("worldcup/wc2014.nt.gz",),
        ("worldcup/wc-c.jsonl.gz", "test"),
        (("worldcup/wc-c.jsonl.gz",), "train"),
    ),
    WEBQSP,
    WEBQSP_TEST,
    *(replace(trial, name=f"{trial.name}, VoG", method="vog") for trial in (WEBQSP, WEBQSP_TEST)),
    CWQ,
    Trial("sample", ("sample",), ("sample", "test")),
    replace(pathquestion(2, "split"), name="PathQuestion 2H, no exemplars", learned=((), "")),
    replace(metaqa(1), name="MetaQA 1 hop, no exemplars", learned=((), "")),
    replace(CWQ, name="CWQ, slice, test part, no exemplars", learned=((), "")),
)
"""The sets of the table, in its order."""

COMPARED = ("MetaQA 2 hop", "PathQuestion 3H, split_group", "WebQSP, slice, test part", "sample")
"""The sets by which the parts are compared."""


def kgqa(*arguments: str) -> None:
    """Run a command of kgqa."""
    command = (sys.executable, "-P", "-m", "kgqa.cli.main", *arguments)
    subprocess.run(command, check=True, capture_output=True)


def learned(trial: Trial, folder: Path) -> Path | None:
    """Build the exemplars of a trial, once for all that learn from the same."""
    files, split = trial.learned
    if not files:
        return None
    out = folder / f"{Path(files[0]).name.partition('.')[0]}-{split.replace('=', '-')}"
    if not out.exists():
        paths = [str(DATA / file) for file in files]
        kgqa("exemplars", "build", "--dataset", *paths, "--split", split, "--out", str(out))
    return out


def evaluated(trial: Trial, folder: Path, model: str = "offline", limit: int | None = None) -> dict[str, Any]:
    """Ask the questions of a trial one at a time; give its metrics and the seconds of each question."""
    file, split = trial.asked
    out = Path(tempfile.mkdtemp(dir=folder)) / "run"
    options = ["--method", trial.method, "--split", split, "--model", model]
    options += ["--concurrency", "1", "--option", "min_confidence=0", "--out", str(out)]
    options += ["--dataset", file if file == "sample" else str(DATA / file)]
    options += [
        part for name in trial.kg for part in ("--kg", name if name == "sample" else str(DATA / name))
    ]
    options += ["--limit", str(limit)] if limit else []
    exemplars = learned(trial, folder)
    options += ["--option", f"exemplars={exemplars}"] if exemplars else []
    kgqa("eval", *options)
    times = [json.loads(line)["seconds"] for line in (out / "timings.jsonl").read_bytes().splitlines()]
    return {**json.loads((out / "metrics.json").read_bytes()), "times": times}


def shown(metrics: dict[str, Any], names: Sequence[str]) -> str:
    """Show metrics in per cent with their intervals."""
    found = [metrics[name] for name in names]
    return " / ".join(f"{100 * m['value']:.1f} [{100 * m['low']:.1f}, {100 * m['high']:.1f}]" for m in found)


def present(trials: Sequence[Trial]) -> Iterator[Trial]:
    """Leave out the trials whose data are absent."""
    yield from (trial for trial in trials if trial.kg == ("sample",) or (DATA / trial.kg[0]).is_file())


def accuracy(folder: Path) -> Table:
    """Measure every set."""
    table = Table("set", "metric", "value, 95 % interval", "n", "median s", title="The offline model")
    for trial in present(TRIALS):
        found = evaluated(trial, folder)
        median = f"{statistics.median(found['times']):.3f}"
        metrics = shown(found, trial.metrics)
        table.add_row(trial.name, " / ".join(trial.metrics), metrics, str(found["n"]), median)
    return table


def ablation(folder: Path) -> Table:
    """Measure some sets with each part left out."""
    trials = [trial for trial in present(TRIALS) if trial.name in COMPARED]
    table = Table("without", *(f"{trial.name}, {trial.metrics[-1]}" for trial in trials))
    for part in ("nothing", *PARTS):
        model = "offline" if part == "nothing" else f"offline:without={part}"
        runs = [evaluated(trial, folder, model, LIMIT) for trial in trials]
        cells = [shown(run, trial.metrics[-1:]) for trial, run in zip(trials, runs, strict=True)]
        table.add_row(part, *cells)
    return table


def main() -> None:
    """Measure in one run and print side by side."""
    console = Console(width=140)
    with tempfile.TemporaryDirectory() as folder:
        console.print(accuracy(Path(folder)))
        if "--quick" not in sys.argv:
            console.print(ablation(Path(folder)))


if __name__ == "__main__":
    main()
