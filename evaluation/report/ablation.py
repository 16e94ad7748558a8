"""Finds ablations among the runs, and makes the tables of what each part contributes (CoG, Table 3).

By ``run.json`` alone: the full configuration has the method's default in every option in
which the runs differ. Runs that differ in nothing but the seed are repetitions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from kgqa.evaluation.report import cells
from kgqa.evaluation.report.cells import Cell, Table, TableRow
from kgqa.evaluation.report.groups import MAX_LABEL_CHARS, ReportedRun, align_questions, flatten_options
from kgqa.evaluation.scoring.comparison import Comparison, compare_scored
from kgqa.evaluation.simulation.error_rates import parse_error_rates
from kgqa.graphs import METHODS, context_of
from kgqa.kg.terms import one_line
from kgqa.runtime.context import Context

_NON_OPTION_KEYS = frozenset({"method", "model", "hash", "kg"})
"""What else a configuration names: runs of an ablation share it."""

SHARED_OPTIONS = ("blueprints", "encoder", "exemplars", "overlay")
"""Options that name what a method works with; the runs of an ablation share them."""

_COLUMNS = (
    *("Configuration", *cells.PLOTTED_METRICS.values(), "LLM calls", "Questions"),
    *(f"Contribution, {title}" for title in cells.PLOTTED_METRICS.values()),
    *("Only full / only this", "McNemar p"),
)

RunsBySeed = Mapping[object, ReportedRun]
"""The runs of one configuration by their seed."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A configuration beside the full one: its runs, and the full ones of the same seeds."""

    name: str
    about: str
    """What the option that is switched off does; empty for any other change."""
    is_part: bool
    """Whether one option that is on by default is off, and nothing else differs."""
    full: tuple[ReportedRun, ...]
    runs: tuple[ReportedRun, ...]
    comparison: Comparison
    """The full configuration less this one: what the part contributes."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """The full configuration of a method on one model, and its variants, parts first."""

    full: tuple[ReportedRun, ...]
    variants: tuple[Variant, ...]


def find_ablations(runs: Sequence[ReportedRun]) -> list[Ablation]:
    """Find the ablations among the runs on one dataset, as far as their answers are scored."""
    by_setup: dict[object, list[ReportedRun]] = {}
    for run in runs:
        if run.scored:
            by_setup.setdefault(_shared_setup(run), []).append(run)
    found = (_build_ablation(together) for together in by_setup.values() if len(together) > 1)
    return [ablation for ablation in found if ablation and ablation.variants]


def _shared_setup(run: ReportedRun) -> object:
    """Return what the runs of an ablation have in common."""
    about, dataset = run.folder.about, run.folder.dataset
    options = (run.folder.config.get(name) for name in SHARED_OPTIONS)
    part = (dataset.get("split"), dataset.get("limit"), about.get("graph"), *options)
    return run.folder.method, split_model_seed(run)[0], about.get("kgqa"), *map(str, part)


def split_model_seed(run: ReportedRun) -> tuple[str, int]:
    """Return the model of a run without its seed, and the seed, where the model is simulated."""
    try:
        rates = parse_error_rates(run.folder.model)
    except ValueError:
        return run.folder.model, 0
    return str(replace(rates, seed=0)), rates.seed


def _build_ablation(runs: Sequence[ReportedRun]) -> Ablation | None:
    if runs[0].folder.method not in METHODS:
        return None
    context = context_of(runs[0].folder.method)
    configured: dict[tuple[tuple[str, str], ...], dict[object, ReportedRun]] = {}
    for run in runs:
        by_seed = configured.setdefault(tuple(_changed_options(run, context).items()), {})
        by_seed.setdefault((run.folder.seed, split_model_seed(run)[1]), run)
    usual = set.intersection(*map(set, configured))
    full = next((by_seed for changed, by_seed in configured.items() if set(changed) == usual), None)
    if full is None:
        return None
    variants = (
        _build_variant(dict(one for one in changed if one not in usual), full, by_seed, context)
        for changed, by_seed in configured.items()
        if by_seed is not full
    )
    compared = sorted(filter(None, variants), key=lambda variant: not variant.is_part)
    return Ablation(tuple(full.values()), tuple(compared))


def _changed_options(run: ReportedRun, context: type[Context]) -> dict[str, str]:
    defaults = dict(flatten_options(context(kg=("sample",), model="offline").config()))
    given = {key: value for key, value in run.folder.config.items() if key not in _NON_OPTION_KEYS}
    return {key: value for key, value in flatten_options(given) if value != defaults.get(key)}


def _build_variant(
    changed: Mapping[str, str], full: RunsBySeed, runs: RunsBySeed, context: type[Context]
) -> Variant | None:
    pairs = [(full[seed], run) for seed, run in runs.items() if seed in full]
    if not pairs:
        return None
    ((option, value), *others) = changed.items()
    field = context.model_fields.get(option)
    is_part = not others and value == "false" and field is not None and field.default is True
    return Variant(
        f"without {option}" if is_part else ", ".join(f"{key}={value}" for key, value in changed.items()),
        (field.description or "") if field and is_part else "",
        is_part,
        tuple(one for one, _ in pairs),
        tuple(other for _, other in pairs),
        compare_scored([align_questions(*pair) for pair in pairs], pairs[0][0].folder.seed),
    )


def contribution_tables(ablations: Sequence[Ablation]) -> list[Table]:
    """Make a table of each ablation, the full configuration first."""
    return [Table("contributions", ablation_title(one), _COLUMNS, tuple(_rows(one))) for one in ablations]


def ablation_title(ablation: Ablation) -> str:
    """Name an ablation by its method and model."""
    method, model = ablation.full[0].folder.method, split_model_seed(ablation.full[0])[0]
    return f"What each part of {method} contributes, with {one_line(model, MAX_LABEL_CHARS)}"


def _rows(ablation: Ablation) -> Iterator[TableRow]:
    nothing = [cells.UNKNOWN] * (len(_COLUMNS) - len(cells.PLOTTED_METRICS) - 2)
    yield TableRow(ablation.full, (cells.text("full"), *_accuracy_cells(ablation.full), *nothing))
    for variant in ablation.variants:
        yield TableRow(variant.runs, tuple(_variant_cells(variant)))


def _variant_cells(variant: Variant) -> Iterator[Cell]:
    found = variant.comparison
    yield cells.text(variant.name, variant.about)
    yield from _accuracy_cells(variant.runs)
    left_out = found.missing_a + found.missing_b
    yield cells.count(found.n, f"{left_out:,} without a record" if left_out else "")
    for metric in cells.PLOTTED_METRICS:
        yield cells.difference(found.differences[metric])
    yield from cells.mcnemar(found.mcnemar)


def _accuracy_cells(runs: Sequence[ReportedRun]) -> Iterator[Cell]:
    """Show Hits@1, F1 and calls; of several seeds the mean over the seeds, above that of each."""
    for metric in cells.PLOTTED_METRICS:
        shares = [(run.metrics or {}).get(metric) for run in runs]
        values = [known.value for share in shares if (known := cells.read_interval(share))]
        if len(values) < 2:
            yield cells.percent(next(filter(cells.read_interval, shares), None))
        else:
            each = ", ".join(f"{100 * value:.1f}" for value in values)
            yield Cell(f"{100 * fmean(values):.1f}", f"by seed: {each}", repr(fmean(values)))
    calls = [mean for run in runs if (mean := cells.sum_means(run.metrics, "llm_calls")) is not None]
    yield Cell(f"{fmean(calls):,.1f}", key=repr(fmean(calls))) if calls else cells.UNKNOWN
