"""Finds ablations among the runs, and makes the tables of what each part contributes (CoG, Table 3).

By ``run.json`` alone: the full configuration has the method's default in every option in
which the runs differ. Runs that differ in nothing but the seed are repetitions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from kgqa.evaluation.report.cells import (
    PLOTTED_METRICS,
    UNKNOWN_TEXT,
    Cell,
    Interval,
    Table,
    TableRow,
    count_cell,
    difference_cell,
    mcnemar_cells,
    percent_cell,
    read_interval,
    sum_means,
    text_cell,
)
from kgqa.evaluation.report.groups import MAX_LABEL_CHARS, ReportedRun, flatten_options
from kgqa.evaluation.report.run_tables import align_judged, run_seed
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.scoring.comparison import Comparison
    from kgqa.runtime.context import Context
if TYPE_CHECKING:
    from kgqa.evaluation.scoring.comparison import Comparison

_NON_OPTION_KEYS = frozenset({"method", "model", "hash", "kg"})
"""What else a configuration names: runs of an ablation share it."""

RunsBySeed = Mapping[object, ReportedRun]
"""The runs of one configuration by their seed."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A configuration beside the full one: its runs, and the full ones of the same seeds."""

    name: str
    about: str
    """What the option that is switched off does; empty for any other change."""
    part: bool
    """Whether one option that is on by default is off, and nothing else differs."""
    full: tuple[ReportedRun, ...]
    runs: tuple[ReportedRun, ...]
    comparison: "Comparison"
    """The full configuration less this one: what the part contributes."""


SHARED_OPTIONS = ("blueprints", "encoder", "exemplars", "overlay")
"""Options that name what a method works with; the runs of an ablation share them."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """The full configuration of a method on one model, and its variants, parts first."""

    full: tuple[ReportedRun, ...]
    variants: tuple[Variant, ...]


def find_ablations(entries: Sequence[ReportedRun]) -> list[Ablation]:
    """Find the ablations among the runs on one dataset, as far as their answers are scored."""
    together: dict[object, list[ReportedRun]] = {}
    for entry in entries:
        if entry.judged:
            together.setdefault(_shared_setup(entry), []).append(entry)
    found = (_build_ablation(runs) for runs in together.values() if len(runs) > 1)
    return [one for one in found if one and one.variants]


def _shared_setup(entry: ReportedRun) -> object:
    """Return what the runs of an ablation have in common."""
    run = entry.run
    config = run.about.get("config") or {}
    given = (config.get(name) for name in SHARED_OPTIONS)
    part = (run.dataset.get("split"), run.dataset.get("limit"), run.about.get("graph"), *given)
    return run.method, split_model_seed(entry)[0], run.about.get("kgqa"), *map(str, part)


def split_model_seed(entry: ReportedRun) -> tuple[str, int]:
    """Return the model of a run without its seed, and the seed, where the model is simulated."""
    from kgqa.evaluation.simulation.error_rates import parse_error_rates

    try:
        errors = parse_error_rates(entry.run.model)
    except ValueError:
        return entry.run.model, 0
    return str(replace(errors, seed=0)), errors.seed


def _build_ablation(entries: Sequence[ReportedRun]) -> Ablation | None:
    from kgqa.graphs import METHODS, context_of

    if entries[0].run.method not in METHODS:
        return None
    context = context_of(entries[0].run.method)
    configured: dict[tuple[tuple[str, str], ...], dict[object, ReportedRun]] = {}
    for entry in entries:
        runs = configured.setdefault(tuple(_changed_options(entry, context).items()), {})
        runs.setdefault((run_seed(entry), split_model_seed(entry)[1]), entry)
    usual = set.intersection(*map(set, configured))
    full = next((runs for changed, runs in configured.items() if set(changed) == usual), None)
    if full is None:
        return None
    variants = (
        _build_variant(
            {key: value for key, value in changed if (key, value) not in usual}, full, runs, context
        )
        for changed, runs in configured.items()
        if runs is not full
    )
    compared = sorted(filter(None, variants), key=lambda variant: not variant.part)
    return Ablation(tuple(full.values()), tuple(compared))


def _changed_options(entry: ReportedRun, context: "type[Context]") -> dict[str, str]:
    """Return the options of a run that do not have their default."""
    defaults = dict(_flat_options(context(kg=("sample",), model="offline").config()))
    return {key: value for key, value in _flat_options(entry.run.config) if value != defaults.get(key)}


def _flat_options(config: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    yield from flatten_options({key: value for key, value in config.items() if key not in _NON_OPTION_KEYS})


def _build_variant(
    changed: Mapping[str, str], full: RunsBySeed, runs: RunsBySeed, context: "type[Context]"
) -> Variant | None:
    from kgqa.evaluation.scoring.comparison import compare_scored

    pairs = [(full[seed], run) for seed, run in runs.items() if seed in full]
    if not pairs:
        return None
    part = _ablated_option(changed, context)
    return Variant(
        f"without {part}" if part else ", ".join(f"{key}={value}" for key, value in changed.items()),
        (context.model_fields[part].description or "") if part else "",
        part is not None,
        tuple(one for one, _ in pairs),
        tuple(other for _, other in pairs),
        compare_scored([align_judged(*pair) for pair in pairs], run_seed(pairs[0][0])),
    )


def _ablated_option(changed: Mapping[str, str], context: "type[Context]") -> str | None:
    """Return the option that is switched off; None where anything else is changed."""
    ((option, value), *others) = changed.items()
    field = context.model_fields.get(option)
    return option if not others and value == "false" and field and field.default is True else None


_CONTRIBUTION_NOTE = (
    "The full configuration has the method’s defaults wherever these runs differ. A contribution is what it "
    "has more than the run without that part, question by question, in percentage points with its 95% "
    "interval; bold where that does not hold 0, or p is below 0.05. Of several seeds, means: a question "
    "counts once, for the side that is right at it more often."
)

_CONTRIBUTION_COLUMNS = (
    *("Configuration", *PLOTTED_METRICS.values(), "LLM calls", "Questions"),
    *(f"Contribution, {called}" for called in PLOTTED_METRICS.values()),
    *("Only full / only this", "McNemar p"),
)


def contribution_tables(ablations: Sequence[Ablation]) -> list[Table]:
    """Make a table of each ablation, the full configuration first."""
    return [
        Table(ablation_title(one), _CONTRIBUTION_NOTE, _CONTRIBUTION_COLUMNS, tuple(_contribution_rows(one)))
        for one in ablations
    ]


def ablation_title(ablation: Ablation) -> str:
    """Name an ablation by its method and model."""
    method, model = ablation.full[0].run.method, split_model_seed(ablation.full[0])[0]
    return f"What each part of {method} contributes, with {one_line(model, MAX_LABEL_CHARS)}"


def _contribution_rows(ablation: Ablation) -> Iterator[TableRow]:
    nothing = [Cell(UNKNOWN_TEXT)] * 5
    yield TableRow(ablation.full, (text_cell("full"), *_accuracy_cells(ablation.full), *nothing))
    for variant in ablation.variants:
        yield TableRow(variant.runs, tuple(_variant_cells(variant)))


def _variant_cells(variant: Variant) -> Iterator[Cell]:
    found: Comparison = variant.comparison
    yield text_cell(variant.name, variant.about)
    yield from _accuracy_cells(variant.runs)
    left_out = found.missing_a + found.missing_b
    yield count_cell(found.n, f"{left_out:,} without a record" if left_out else "")
    for metric in PLOTTED_METRICS:
        yield difference_cell(found.differences[metric])
    yield from mcnemar_cells(found.mcnemar)


def _accuracy_cells(runs: Sequence[ReportedRun]) -> Iterator[Cell]:
    for metric in PLOTTED_METRICS:
        yield _mean_cell([found for run in runs if (found := read_interval((run.metrics or {}).get(metric)))])
    calls = [mean for run in runs if (mean := sum_means(run.metrics, "llm_calls")) is not None]
    yield Cell(f"{fmean(calls):,.1f}", key=repr(fmean(calls))) if calls else Cell(UNKNOWN_TEXT)


def _mean_cell(shares: Sequence[Interval]) -> Cell:
    """Show a share with its interval, or the mean over seeds above that of each."""
    if len(shares) < 2:
        return percent_cell(shares[0] if shares else None)
    mean = fmean(share.value for share in shares)
    each = ", ".join(f"{100 * share.value:.1f}" for share in shares)
    return Cell(f"{100 * mean:.1f}", f"by seed: {each}", repr(mean))
