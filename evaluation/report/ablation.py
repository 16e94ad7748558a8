"""Finds ablations among the runs, and makes the tables of what each part contributes (CoG, Table 3).

By ``run.json`` alone: in every option in which runs of one preset (or of none) differ, the full
configuration has the value that the preset (or the default) sets, if any of them has it. Of several
it is the one that the others differ least from. Runs that differ in the seed alone are repetitions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from kgqa.evaluation.report import cells
from kgqa.evaluation.report.cells import Cell
from kgqa.evaluation.report.groups import (
    MAX_LABEL_CHARS,
    ReportedRun,
    align_questions,
    flatten_options,
    usual_options,
)
from kgqa.evaluation.report.tables import Table, TableRow, make_table
from kgqa.evaluation.scoring.comparison import Comparison, compare_scored
from kgqa.evaluation.simulation.error_rates import parse_error_rates
from kgqa.graphs import METHODS, context_of
from kgqa.kg.terms import one_line
from kgqa.runtime.context import Context

_NON_OPTION_KEYS = frozenset({"method", "model", "hash", "kg"})
"""What else a configuration names: runs of an ablation share it."""

SHARED_OPTIONS = ("blueprints", "encoder", "exemplars", "overlay", "preset")
"""Options that name what a method works with; the runs of an ablation share them."""

_COLUMNS = (
    *("Configuration", *cells.PLOTTED_METRICS.values(), "LLM calls", "Tokens", "Questions"),
    *(f"Contribution, {title}" for title in cells.PLOTTED_METRICS.values()),
    *("Only full / only this", "McNemar p"),
)

RunsBySeed = Mapping[object, ReportedRun]  # the runs of one configuration by their seed


@dataclass(frozen=True, slots=True)
class Variant:
    """A configuration beside the full one: its runs, and the full ones of the same seeds."""

    name: str
    about: str
    """What the options do in which it differs."""
    full: tuple[ReportedRun, ...]
    runs: tuple[ReportedRun, ...]
    comparison: Comparison
    """The full configuration less this one: what it contributes that is changed here."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """The full configuration of a method on one model, and its variants, in the order of their runs."""

    name: str
    """What the full configuration is called, with the values of it that are not of preset or defaults."""
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
    given = [dict(flatten_options(_options_of(run))) for run in runs]
    usual = dict.fromkeys((key for options in given for key in options), "null")
    usual |= usual_options(runs[0].folder)
    configured: dict[tuple[tuple[str, str], ...], dict[object, ReportedRun]] = {}
    for run, options in zip(runs, given, strict=True):
        by_seed = configured.setdefault(tuple((usual | options).items()), {})
        by_seed.setdefault((run.folder.seed, split_model_seed(run)[1]), run)
    shared = set.intersection(*map(set, configured))
    at_hand = usual.items() & set.union(*map(set, configured))
    complete = [one for one in configured if at_hand <= set(one)]
    if not complete:
        return None
    full = min(complete, key=lambda one: sum(len(set(other) - set(one)) for other in configured))
    name = ", ".join(["full", *_name_changes(pair for pair in full if pair not in shared | at_hand)])
    variants = (
        _build_variant(dict(pair for pair in one if pair not in full), configured[full], by_seed, context)
        for one, by_seed in configured.items()
        if one != full
    )
    return Ablation(name, tuple(configured[full].values()), tuple(filter(None, variants)))


def _options_of(run: ReportedRun) -> dict[str, Any]:
    return {key: value for key, value in run.folder.config.items() if key not in _NON_OPTION_KEYS}


def _name_changes(changed: Iterable[tuple[str, str]]) -> list[str]:
    return [f"without {key}" if value == "false" else f"{key}={value}" for key, value in changed]


def _build_variant(
    changed: Mapping[str, str], full: RunsBySeed, runs: RunsBySeed, context: type[Context]
) -> Variant | None:
    pairs = [(full[seed], run) for seed, run in runs.items() if seed in full]
    if not pairs:
        return None
    fields = filter(None, map(context.model_fields.get, changed))
    return Variant(
        ", ".join(_name_changes(changed.items())),
        "; ".join(field.description or "" for field in fields),
        tuple(one for one, _ in pairs),
        tuple(other for _, other in pairs),
        compare_scored([align_questions(*pair) for pair in pairs], pairs[0][0].folder.seed),
    )


def contribution_tables(ablations: Sequence[Ablation]) -> list[Table]:
    """Make a table of each ablation, the full configuration first."""
    return [make_table("contributions", _COLUMNS, _rows(one), ablation_title(one)) for one in ablations]


def ablation_title(ablation: Ablation) -> str:
    """Name an ablation by its method, preset and model."""
    folder, model = ablation.full[0].folder, split_model_seed(ablation.full[0])[0]
    preset = f" ({one_line(folder.preset, MAX_LABEL_CHARS)})" if folder.preset else ""
    return f"What each part of {folder.method}{preset} contributes, with {one_line(model, MAX_LABEL_CHARS)}"


def _rows(ablation: Ablation) -> Iterator[TableRow]:
    nothing = [cells.UNKNOWN] * (len(_COLUMNS) - len(cells.PLOTTED_METRICS) - 3)
    yield TableRow(ablation.full, (cells.text(ablation.name), *_mean_cells(ablation.full), *nothing))
    for variant in ablation.variants:
        yield TableRow(variant.runs, tuple(_variant_cells(variant)))


def _variant_cells(variant: Variant) -> Iterator[Cell]:
    found = variant.comparison
    yield cells.text(variant.name, variant.about)
    yield from _mean_cells(variant.runs)
    left_out = found.missing_a + found.missing_b
    yield cells.count(found.n, f"{left_out:,} without a record" if left_out else "")
    for metric in cells.PLOTTED_METRICS:
        yield cells.difference(found.differences[metric])
    yield from cells.mcnemar(found.mcnemar)


def _mean_cells(runs: Sequence[ReportedRun]) -> Iterator[Cell]:
    """Show Hits@1, F1, calls and tokens; of several seeds the mean, shares above those of each seed."""
    for metric in cells.PLOTTED_METRICS:
        shares = [(run.metrics or {}).get(metric) for run in runs]
        values = [known.value for share in shares if (known := cells.read_interval(share))]
        if len(values) < 2:
            yield cells.percent(next(filter(cells.read_interval, shares), None))
        else:
            each = ", ".join(f"{100 * value:.1f}" for value in values)
            yield Cell(f"{100 * fmean(values):.1f}", f"by seed: {each}", repr(fmean(values)))
    for keys, form in ((("llm_calls",), "{:,.1f}"), (("input_tokens", "output_tokens"), "{:,.0f}")):
        spent = [mean for run in runs if (mean := cells.sum_means(run.metrics, *keys)) is not None]
        yield Cell(form.format(fmean(spent)), key=repr(fmean(spent))) if spent else cells.UNKNOWN
