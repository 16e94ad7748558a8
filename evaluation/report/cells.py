"""The cells of the page's tables: shares, counts, costs, differences and tests."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kgqa.evaluation.report.groups import ReportedRun

if TYPE_CHECKING:
    from kgqa.evaluation.scoring.comparison import Difference, McNemar

METRIC_TITLES = {
    "hits_at_1": "Hits@1",
    "f1": "F1",
    "hit_any": "Hit any",
    "precision": "Precision",
    "recall": "Recall",
    "kg_grounded_rate": "Grounded",
    "kg_grounded_rate_strict": "Grounded, checked",
}
"""What has an interval, and what the page calls it."""

PLOTTED_METRICS = {key: METRIC_TITLES[key] for key in ("hits_at_1", "f1")}
"""The two that are plotted."""


class Interval(NamedTuple):
    """A share with its 95% interval, all between 0 and 1."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return it in per cent."""
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%})"


def read_interval(metric: Any) -> Interval | None:
    """Read a metric; None where there was nothing to measure."""
    if not isinstance(metric, dict) or metric.get("value") is None:
        return None
    value = float(metric["value"])
    low, high = metric.get("low"), metric.get("high")
    return Interval(value, value if low is None else float(low), value if high is None else float(high))


def sum_means(metrics: Any, *keys: str) -> float | None:
    """Add the means of some costs; None where one is unknown."""
    found = [((metrics or {}).get(key) or {}).get("mean") for key in keys]
    means = [float(mean) for mean in found if mean is not None]
    return sum(means) if len(means) == len(keys) else None


UNKNOWN_TEXT = "–"


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, the small print under it, and what it is sorted by (empty: last).

    ``sure`` marks a difference whose interval does not hold 0.
    """

    text: str
    detail: str = ""
    key: str = ""
    number: bool = True
    sure: bool = False


def text_cell(text: str, detail: str = "") -> Cell:
    """Show a name or other words."""
    return Cell(text, detail, key=text, number=False)


def percent_cell(value: Interval | None) -> Cell:
    """Show a share in per cent over its interval."""
    if value is None:
        return Cell(UNKNOWN_TEXT)
    share, low, high = (f"{100 * bound:.1f}" for bound in value)
    return Cell(share, f"{low} – {high}", repr(value.value))


def count_cell(value: Any, detail: str = "") -> Cell:
    """Show a whole number."""
    return Cell(UNKNOWN_TEXT) if value is None else Cell(f"{value:,}", detail, str(value))


def cost_cell(spread: Any, form: str) -> Cell:
    """Show the mean of a cost over its median and 95th percentile."""
    mean = sum_means({"cost": spread}, "cost")
    if mean is None:
        return Cell(UNKNOWN_TEXT)
    p50, p95 = (
        UNKNOWN_TEXT if spread.get(key) is None else form.format(spread[key]) for key in ("p50", "p95")
    )
    return Cell(form.format(mean), f"p50 {p50}, p95 {p95}", repr(mean))


def difference_cell(difference: "Difference") -> Cell:
    """Show a difference in percentage points over its interval."""
    if difference.value is None or difference.low is None or difference.high is None:
        return Cell(UNKNOWN_TEXT)
    detail = f"{format_points(difference.low)} to {format_points(difference.high)}"
    return Cell(
        format_points(difference.value), detail, repr(100 * difference.value), sure=is_significant(difference)
    )


def format_points(share: float) -> str:
    """Write a difference of shares in percentage points.

    >>> format_points(0.0471), format_points(-0.0471), format_points(0.0001)
    ('+4.7', '−4.7', '0.0')
    """
    return f"{100 * share:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def describe_difference(difference: "Difference") -> str:
    """Say a difference in words, with its interval."""
    low, high = (format_points(bound or 0.0) for bound in (difference.low, difference.high))
    return f"{format_points(difference.value or 0.0)} points ({low} to {high})"


def is_significant(difference: "Difference") -> bool:
    """Return whether the interval of a difference does not hold 0."""
    low, high = difference.low, difference.high
    return low is not None and high is not None and (low > 0 or high < 0)


def mcnemar_cells(found: "McNemar") -> Iterator[Cell]:
    """Show the questions that only one side has right, and the p value."""
    yield Cell(f"{found.only_a:,} / {found.only_b:,}", key=str(found.only_a - found.only_b))
    shown = "< 0.001" if found.p < 0.001 else f"{found.p:.3f}"
    yield Cell(shown, key=repr(found.p), sure=found.p < 0.05)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a sheet: the runs it is about, and its cells."""

    entries: tuple[ReportedRun, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; ``columns`` are the titles of the cells."""

    title: str
    note: str
    columns: tuple[str, ...]
    lines: tuple[TableRow, ...]
