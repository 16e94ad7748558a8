"""Groups the runs by dataset, finds the questions and gold of each group, and names the runs."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kgqa.evaluation.datasets import Dataset, DatasetError, load
from kgqa.evaluation.paper_analysis.intermediates import with_intermediates
from kgqa.evaluation.question import Question
from kgqa.evaluation.report.run_folder import Json, ReportError, RunFolder
from kgqa.evaluation.result import Result, pair_results
from kgqa.evaluation.scoring.run_metrics import measure_results
from kgqa.evaluation.scoring.scores import ZERO_SCORE, ScoredQuestion, score_results
from kgqa.evaluation.scoring.tables import with_gold
from kgqa.graphs import METHODS, context_of
from kgqa.kg.terms import one_line

MAX_LABEL_CHARS = 60  # characters of a run's name at most

_NAMED_ELSEWHERE = frozenset({"method", "model", "hash"})


class RunName(NamedTuple):
    """What a run is called: in full; in a plot, where there is little room; and without its model."""

    full: str
    short: str
    variant: str


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run as the page shows it.

    ``number`` is its place in the whole report, from 1. ``results`` has one result of
    each question that has any, by the question's id. ``questions`` is the part of the
    dataset it ran on; where there is no gold, what its own results say of it.
    ``metrics`` are those of ``metrics.json``, or measured here; None without gold.
    ``scored`` has the score of each of the questions; nothing without gold.
    """

    number: int
    name: RunName
    options: Mapping[str, str]
    folder: RunFolder
    questions: tuple[Question, ...]
    results: dict[str, Result]
    metrics: Json | None
    scored: tuple[ScoredQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetGroup:
    """The runs on one dataset, known by the digest of its file."""

    name: str
    digest: str
    runs: tuple[ReportedRun, ...]
    no_gold: str | None  # why the questions are shown without their gold; None where they have it

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of all runs, each once, in the order of the dataset."""
        longest = sorted(self.runs, key=lambda run: -len(run.questions))
        return tuple({q.id: q for run in longest for q in run.questions}.values())


def group_by_dataset(folders: Sequence[RunFolder], moved: Sequence[Path] = ()) -> list[DatasetGroup]:
    """Group runs by dataset, in the order in which these come up first; files that were ``moved`` are named.

    Raises:
        ReportError: if one of these is not the dataset of any of the runs.
        DatasetError: if it is none, or does not have the part that a run is of.
    """
    by_digest: dict[str, list[RunFolder]] = {}
    for folder in folders:
        digest = str(folder.dataset.get("sha256") or f"unknown, of {folder.path}")
        by_digest.setdefault(digest, []).append(folder)
    given = {}
    for file in moved:
        dataset = load(str(file), own=True)
        if dataset.digest not in by_digest:
            raise ReportError(
                f"{one_line(str(file))} is not the dataset of any of these runs: its sha256 differs"
            )
        given[dataset.digest] = dataset
    groups: list[DatasetGroup] = []
    for digest, together in by_digest.items():
        first = 1 + sum(len(group.runs) for group in groups)
        groups.append(_build_group(digest, together, given.get(digest), first))
    return groups


def _build_group(digest: str, folders: list[RunFolder], given: Dataset | None, first: int) -> DatasetGroup:
    dataset, no_gold = (given, None) if given else _load_recorded(folders, digest)
    name = one_line(str(folders[0].dataset.get("name") or "dataset"))
    counts = {id: n for folder in reversed(folders) for id, n in folder.intermediates.items()}
    named = zip(folders, name_runs(folders), differing_settings(folders), strict=True)
    runs = tuple(
        _build_run(number, folder, called, options, dataset, counts)
        for number, (folder, called, options) in enumerate(named, start=first)
    )
    return DatasetGroup(name, digest, runs, no_gold)


def _load_recorded(folders: Sequence[RunFolder], digest: str) -> tuple[Dataset | None, str | None]:
    """Load the dataset from where a run has found it, unless it has changed since; else say why not."""
    problem = "run.json does not name the dataset"
    sources = (
        (str(about.get("source") or about.get("name") or ""), about.get("format"))
        for about in (folder.dataset for folder in folders)
    )
    for source, format in dict.fromkeys(sources):
        try:
            dataset = load(source, format, pipes=False)
        except DatasetError as error:
            problem = str(error)
            continue
        if dataset.digest == digest:
            return dataset, None
        problem = f"{one_line(source)} has changed since the runs"
    return None, problem


def _build_run(
    number: int,
    folder: RunFolder,
    name: RunName,
    options: Mapping[str, str],
    dataset: Dataset | None,
    intermediates: Json,
) -> ReportedRun:
    if dataset:
        part = dataset.select(folder.dataset.get("split"), folder.dataset.get("limit"))
        questions = with_gold(with_intermediates(part, intermediates), folder.gold)
    else:
        known = {r.id or r.question: Question(r.id or r.question, r.question) for r in folder.results}
        questions = tuple(known.values())
    pairs = pair_results(folder.results, questions).pairs
    results = {question.id: result for question, result in pairs if result}
    metrics: Json | None = folder.metrics
    if dataset and not metrics:  # not written yet: every question counts, also one without a result
        metrics = measure_results(folder.results, questions, grounded=None, seed=folder.seed)
    scored = score_results(folder.results, questions) if dataset else ()
    return ReportedRun(number, name, options, folder, questions, results, metrics, tuple(scored))


def align_questions(a: ReportedRun, b: ReportedRun) -> tuple[list[ScoredQuestion], list[ScoredQuestion]]:
    """Return what two runs made of the questions of both; of a question that a run was not asked, nothing."""
    left, right = ({scored.question.id: scored for scored in run.scored} for run in (a, b))
    unasked = {
        id: ScoredQuestion(scored.question, None, scored.score and ZERO_SCORE)
        for id, scored in (left | right).items()
    }
    return list((unasked | left).values()), list((unasked | right).values())


def differing_settings(folders: Sequence[RunFolder], *, usual: bool = True) -> list[dict[str, str]]:
    """Return for each run the settings that are not the same in all runs, groups of options flattened.

    Settings are the options, the seed, the graph, split and limit, and the version of kgqa. An
    option that only some methods have is no difference within those methods. Where ``usual`` is
    false, values are left out that a run's preset sets or leaves as they are, where any run has
    them; else those that most runs have, of values that are as frequent the first.
    """
    per_run = []
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for folder in folders:
        about, dataset = folder.about, folder.dataset
        settings = {
            **{key: about.get(key) for key in ("seed", "graph")},
            **{key: dataset.get(key) for key in ("split", "limit")},
            "kgqa": about.get("kgqa"),
            **{key: value for key, value in folder.config.items() if key not in _NAMED_ELSEWHERE},
        }
        per_run.append(dict(flatten_options(settings)))
        for key, value in per_run[-1].items():
            counts[key][value] += 1
    frequent = {key: found.most_common(1)[0][0] for key, found in counts.items()}
    differing = []
    for given, folder in zip(per_run, folders, strict=True):
        preset = usual_options(folder).items() if folder.preset else ()
        left_out = {} if usual else frequent | {key: value for key, value in preset if value in counts[key]}
        shown = (pair for pair in given.items() if pair not in left_out.items())
        differing.append({key: value for key, value in shown if len(counts[key]) > 1})
    return differing


def usual_options(folder: RunFolder) -> dict[str, str]:
    """Return the options of a run's method as its preset, if any, sets or leaves them, flattened."""
    if folder.method not in METHODS:
        return {}
    context = context_of(folder.method)
    preset = getattr(context, "PRESETS", {}).get(folder.preset, {})
    return dict(flatten_options(context(kg=("sample",), model="offline", **preset).config()))


def name_runs(folders: Sequence[RunFolder]) -> list[RunName]:
    """Name each run by method, model, and options as far as they are not the usual ones.

    The folder's name is added where two runs would be called the same.
    """
    several_models = len({folder.model for folder in folders}) > 1
    several_methods = len({folder.method for folder in folders}) > 1
    names = []
    for folder, options in zip(folders, differing_settings(folders, usual=False), strict=True):
        chosen = [f"{key}={value}" for key, value in options.items() if key not in ("seed", "graph")]
        model = [folder.model] if several_models else []
        method = [folder.method] if several_methods or not model + chosen else []
        full = one_line(" · ".join([folder.method, *model, *chosen]), MAX_LABEL_CHARS)
        short = " · ".join([*method, *chosen, *(name.rpartition(":")[2] for name in model)])
        names.append(RunName(full, short, " · ".join([folder.method, *chosen])))
    times = Counter(name.full for name in names)
    return [
        name
        if times[name.full] == 1
        else name._replace(full=one_line(f"{name.full} ({folder.path.resolve().name})", MAX_LABEL_CHARS))
        for name, folder in zip(names, folders, strict=True)
    ]


def flatten_options(options: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Return options as text, groups flattened (``budget.llm_calls``)."""
    for key, value in options.items():
        if isinstance(value, dict):
            yield from flatten_options(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
