"""The tables of ablations: the full configuration over those without a part (CoG, Table 3)."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from kgqa.evaluation.report.ablation import Ablation, Variant, model_of
from kgqa.evaluation.report.cells import UNKNOWN, Cell, count, percent, points, tested, words
from kgqa.evaluation.report.groups import Entry
from kgqa.evaluation.report.naming import LABEL
from kgqa.evaluation.report.shares import PLOTTED, Interval, interval, mean_of
from kgqa.evaluation.report.sheets import Line, Sheet
from kgqa.kg.terms import one_line

if TYPE_CHECKING:
    from kgqa.evaluation.comparison import Comparison

_NOTE = (
    "The full configuration has the method’s defaults wherever these runs differ. A contribution is what it "
    "has more than the run without that part, question by question, in percentage points with its 95% "
    "interval; bold where that does not hold 0, or p is below 0.05. Of several seeds, means: a question "
    "counts once, for the side that is right at it more often."
)

_COLUMNS = (
    *("Configuration", *PLOTTED.values(), "LLM calls", "Questions"),
    *(f"Contribution, {called}" for called in PLOTTED.values()),
    *("Only full / only this", "McNemar p"),
)


def contribution_sheets(ablations: Sequence[Ablation]) -> list[Sheet]:
    """Make a table of each ablation, the full configuration first."""
    return [Sheet(title_of(one), _NOTE, _COLUMNS, tuple(_lines(one))) for one in ablations]


def title_of(ablation: Ablation) -> str:
    """Name an ablation by its method and model."""
    method, model = ablation.full[0].run.method, model_of(ablation.full[0])[0]
    return f"What each part of {method} contributes, with {one_line(model, LABEL)}"


def _lines(ablation: Ablation) -> Iterator[Line]:
    nothing = [Cell(UNKNOWN)] * 5
    yield Line(ablation.full, (words("full"), *_reached(ablation.full), *nothing))
    for variant in ablation.variants:
        yield Line(variant.runs, tuple(_cells(variant)))


def _cells(variant: Variant) -> Iterator[Cell]:
    found: Comparison = variant.comparison
    yield words(variant.name, variant.about)
    yield from _reached(variant.runs)
    left_out = found.missing_a + found.missing_b
    yield count(found.n, f"{left_out:,} without a record" if left_out else "")
    for metric in PLOTTED:
        yield points(found.differences[metric])
    yield from tested(found.mcnemar)


def _reached(runs: Sequence[Entry]) -> Iterator[Cell]:
    for metric in PLOTTED:
        yield _mean([found for run in runs if (found := interval((run.metrics or {}).get(metric)))])
    calls = [mean for run in runs if (mean := mean_of(run.metrics, "llm_calls")) is not None]
    yield Cell(f"{fmean(calls):,.1f}", key=repr(fmean(calls))) if calls else Cell(UNKNOWN)


def _mean(shares: Sequence[Interval]) -> Cell:
    """Show a share with its interval, or the mean over seeds above that of each."""
    if len(shares) < 2:
        return percent(shares[0] if shares else None)
    mean = fmean(share.value for share in shares)
    each = ", ".join(f"{100 * share.value:.1f}" for share in shares)
    return Cell(f"{100 * mean:.1f}", f"by seed: {each}", repr(mean))
