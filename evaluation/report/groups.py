"""Groups the runs by dataset, finds the questions and gold of each group, and names the runs."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kgqa.evaluation.paper_analysis.intermediates import with_intermediates
from kgqa.evaluation.question import Question
from kgqa.evaluation.report.run_folder import Json, ReportError, RunFolder
from kgqa.evaluation.result import Result, pair_results
from kgqa.evaluation.scoring.scores import ScoredQuestion, score_results
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.datasets import Dataset

MAX_LABEL_CHARS = 60
"""Characters of a run's name at most."""

_NO_SETTINGS = frozenset({"method", "model", "hash"})


def list_settings(run: RunFolder) -> dict[str, str]:
    """Return every option of a run as text, groups flattened (``budget.llm_calls``).

    What else was chosen for the run stands beside them: seed, graph, split, limit
    and the version of kgqa.
    """
    options = {key: value for key, value in run.config.items() if key not in _NO_SETTINGS}
    chosen = {
        "seed": run.about.get("seed"),
        "graph": run.about.get("graph"),
        "split": run.dataset.get("split"),
        "limit": run.dataset.get("limit"),
        "kgqa": run.about.get("kgqa"),
    }
    return dict(flatten_options({**chosen, **options}))


def differing_settings(runs: Sequence[RunFolder]) -> list[dict[str, str]]:
    """Return for each run the settings that are not the same in all runs.

    An option that only some methods have is no difference within those methods.
    """
    per_run = [list_settings(run) for run in runs]
    values: dict[str, set[str]] = {}
    for given in per_run:
        for key, value in given.items():
            values.setdefault(key, set()).add(value)
    differ = {key for key, seen in values.items() if len(seen) > 1}
    return [{key: value for key, value in given.items() if key in differ} for given in per_run]


class RunName(NamedTuple):
    """What a run is called: in full; in a plot, where there is little room; and without its model."""

    full: str
    short: str
    variant: str


def name_runs(runs: Sequence[RunFolder]) -> list[RunName]:
    """Return each run a name of its own: method, model, and options as far as they are not the usual ones."""
    several_models = len({run.model for run in runs}) > 1
    several_methods = len({run.method for run in runs}) > 1
    named, short, variants = [], [], []
    for run, options in zip(runs, _drop_usual_values(differing_settings(runs)), strict=True):
        chosen = [f"{key}={value}" for key, value in options.items() if key not in ("seed", "graph")]
        model = [run.model] if several_models else []
        named.append(one_line(" · ".join([run.method, *model, *chosen]), MAX_LABEL_CHARS))
        method = [run.method] if several_methods or not model + chosen else []
        short.append(" · ".join([*method, *chosen, *(name.rpartition(":")[2] for name in model)]))
        variants.append(" · ".join([run.method, *chosen]))
    return list(map(RunName, _make_unique(named, runs), short, variants))


def _drop_usual_values(options: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Leave the options that most runs do not have; of values that are as frequent the first is usual."""
    usual: dict[str, str] = {}
    for key in dict.fromkeys(key for given in options for key in given):
        usual[key] = Counter(given[key] for given in options if key in given).most_common(1)[0][0]
    return [{key: value for key, value in given.items() if value != usual[key]} for given in options]


def _make_unique(named: Sequence[str], runs: Sequence[RunFolder]) -> Iterable[str]:
    """Add the folder's name where two runs would be called the same."""
    times = Counter(named)
    for name, run in zip(named, runs, strict=True):
        yield name if times[name] == 1 else one_line(f"{name} ({run.folder.resolve().name})", MAX_LABEL_CHARS)


def flatten_options(options: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Return options as text, groups flattened (``budget.llm_calls``)."""
    for key, value in options.items():
        if isinstance(value, dict):
            yield from flatten_options(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run as the page shows it.

    ``number`` is its place in the whole report, from 1. ``results`` has one result of
    each question that has any, by the question's id. ``questions`` is the part of the
    dataset it ran on; where there is no gold, what its own results tell of it.
    ``metrics`` are those of ``metrics.json``, or measured here; None without gold.
    ``judged`` has the score of each of the questions; nothing without gold.
    """

    number: int
    name: RunName
    options: Json
    run: RunFolder
    questions: tuple[Question, ...]
    results: dict[str, Result]
    metrics: Json | None
    judged: tuple[ScoredQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetGroup:
    """The runs on one dataset, told by the digest of its file."""

    name: str
    digest: str
    entries: tuple[ReportedRun, ...]
    no_gold: str | None
    """Why the questions are shown without their gold; None where they have it."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of all runs, each once, in the order of the dataset."""
        longest = sorted(self.entries, key=lambda entry: -len(entry.questions))
        return tuple({q.id: q for entry in longest for q in entry.questions}.values())


def group_by_dataset(runs: Sequence[RunFolder], moved: Sequence[Path] = ()) -> list[DatasetGroup]:
    """Group runs by dataset, in the order in which the datasets come up first.

    Args:
        runs: in the order in which they are to be shown.
        moved: where datasets are now, if not where the runs have found them.

    Raises:
        ReportError: if one of these is no dataset, or not that of any of the runs.
    """
    by_digest: dict[str, list[RunFolder]] = {}
    for run in runs:
        by_digest.setdefault(_dataset_digest(run), []).append(run)
    given = {dataset.digest: dataset for dataset in (_load_moved(file, by_digest) for file in moved)}
    groups: list[DatasetGroup] = []
    for digest, together in by_digest.items():
        first = 1 + sum(len(group.entries) for group in groups)
        groups.append(_build_group(digest, together, given.get(digest), first))
    return groups


def _load_moved(file: Path, digests: Collection[str]) -> "Dataset":
    dataset = _load_dataset(file)
    if dataset.digest not in digests:
        raise ReportError(
            f"{one_line(str(file))} is not the dataset of any of these runs: its sha256 differs"
        )
    return dataset


def _build_group(digest: str, runs: list[RunFolder], given: "Dataset | None", first: int) -> DatasetGroup:
    dataset, no_gold = (given, None) if given else _load_recorded(runs, digest)
    name = one_line(str(runs[0].dataset.get("name") or "dataset"))
    between = {id: n for run in reversed(runs) for id, n in run.intermediates.items()}
    part = _question_selector(dataset, between) if dataset else None
    named = zip(runs, name_runs(runs), differing_settings(runs), strict=True)
    entries = (
        _build_run(number, run, called, options, part)
        for number, (run, called, options) in enumerate(named, start=first)
    )
    return DatasetGroup(name, digest, tuple(entries), no_gold)


def _load_recorded(runs: list[RunFolder], digest: str) -> "tuple[Dataset | None, str | None]":
    """Load the dataset from where a run has found it, unless it has changed since."""
    problem = "run.json does not name the dataset"
    for source, format in dict.fromkeys(_recorded_source(run) for run in runs):
        try:
            dataset = _load_dataset(source, format, pipes=False)
        except ReportError as error:
            problem = str(error)
            continue
        if dataset.digest == digest:
            return dataset, None
        problem = f"{one_line(source)} has changed since the runs"
    return None, problem


def _recorded_source(run: RunFolder) -> tuple[str, str | None]:
    """Return the file that a run had its questions from, and their format."""
    format = run.dataset.get("format")
    source = str(run.dataset.get("source") or run.dataset.get("name") or "")
    return source, format if isinstance(format, str) else None


def _load_dataset(source: Path | str, format: str | None = None, *, pipes: bool = True) -> "Dataset":
    from kgqa.evaluation.datasets import DatasetError, load

    try:
        return load(source, format, pipes=pipes)
    except DatasetError as error:
        raise ReportError(str(error)) from None


def _question_selector(
    dataset: "Dataset", between: Json
) -> Callable[[str | None, int | None], tuple[Question, ...]]:
    from kgqa.evaluation.datasets import DatasetError

    def part(split: str | None, limit: int | None) -> tuple[Question, ...]:
        try:
            return with_intermediates(dataset.part(split, limit), between)
        except DatasetError as error:
            raise ReportError(str(error)) from None

    return cache(part)


def _build_run(
    number: int,
    run: RunFolder,
    called: RunName,
    options: Json,
    part: Callable[[str | None, int | None], tuple[Question, ...]] | None,
) -> ReportedRun:
    if part is None:
        told = {r.id or r.question: Question(r.id or r.question, r.question) for r in run.results}
        questions = tuple(told.values())
    else:
        questions = part(run.dataset.get("split"), run.dataset.get("limit"))
    joined = pair_results(run.results, questions).pairs
    results = {question.id: result for question, result in joined if result}
    metrics = run.metrics or (_measure_run(run, questions) if part else None)
    judged = score_results(run.results, questions) if part else ()
    return ReportedRun(number, called, options, run, questions, results, metrics, tuple(judged))


def _measure_run(run: RunFolder, questions: Sequence[Question]) -> Json:
    """Measure a run that has no metrics.json yet: every question counts, also one without a result."""
    from kgqa.evaluation.scoring.metrics import measure_results

    return measure_results(run.results, questions, grounded=None, seed=int(run.about.get("seed") or 0))


def _dataset_digest(run: RunFolder) -> str:
    return str(run.dataset.get("sha256") or f"unknown, of {run.folder}")
