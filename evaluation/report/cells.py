"""The cells of the tables of the page: shares, counts, costs, differences and tests."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from kgqa.evaluation.report.groups import ReportedRun
from kgqa.evaluation.scoring.comparison import Difference, McNemar
from kgqa.evaluation.scoring.printing import format_own

UNKNOWN_TEXT = "–"

PLOTTED_METRICS = {"hits_at_1": "Hits@1", "f1": "F1"}
"""The two that are plotted, and what the page calls them."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, the small print under it, and what it is sorted by (empty: last).

    ``low`` and ``high`` are the ends of an interval where the small print has one. ``run`` is the number of
    the run that a cell names, and ``is_sure`` marks a difference
    whose interval does not hold 0.
    """

    text: str
    detail: str = ""
    key: str = ""
    is_number: bool = True
    is_sure: bool = False
    run: int | None = None
    low: str = ""
    high: str = ""


UNKNOWN = Cell(UNKNOWN_TEXT)


def look_up(metrics: Any, *path: str) -> Any:
    """Return what the metrics have at the end of a path of keys; None where they have nothing there."""
    for key in path:
        metrics = (metrics or {}).get(key)
    return metrics


class Interval(NamedTuple):
    """A share with its 95% interval, all between 0 and 1."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Write the share and its interval in per cent."""
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%})"


def read_interval(metric: Any) -> Interval | None:
    """Read a metric; None where there was nothing to measure."""
    if not isinstance(metric, dict) or metric.get("value") is None:
        return None
    value = float(metric["value"])
    low, high = metric.get("low"), metric.get("high")
    return Interval(value, value if low is None else float(low), value if high is None else float(high))


def sum_means(metrics: Mapping[str, Any] | None, *keys: str) -> float | None:
    """Add the means of some costs; None where one is unknown."""
    found = [((metrics or {}).get(key) or {}).get("mean") for key in keys]
    means = [float(mean) for mean in found if mean is not None]
    return sum(means) if len(means) == len(keys) else None


def text(text: str, detail: str = "") -> Cell:
    """Show a name or other words."""
    return Cell(text, detail, key=text, is_number=False)


def run_name(run: ReportedRun) -> Cell:
    """Show the number and the name of a run."""
    return Cell(run.name.full, key=str(run.number), is_number=False, run=run.number)


def percent(metric: Any) -> Cell:
    """Show a share in per cent over its interval."""
    interval = read_interval(metric)
    if interval is None:
        return UNKNOWN
    share, low, high = (f"{100 * bound:.1f}" for bound in interval)
    return Cell(share, f"{low} – {high}", repr(interval.value), low=low, high=high)


def own(metric: Any) -> Cell:
    """Show the mean of a metric of the user's own over its interval, in its own unit."""
    if not metric or metric.get("value") is None:
        return UNKNOWN
    value, low, high = (format_own(metric.get(key)) for key in ("value", "low", "high"))
    detail = f"{low} – {high}; n={metric.get('n') or 0:,}"
    return Cell(value, detail, repr(metric["value"]), low=low, high=high)


def count(value: Any, detail: str = "") -> Cell:
    """Show a whole number."""
    return UNKNOWN if value is None else Cell(f"{value:,}", detail, str(value))


def decimal(value: Any) -> Cell:
    """Show a number with two decimals."""
    return UNKNOWN if value is None else Cell(f"{value:.2f}", key=repr(value))


def cost(cost: Any, form: str = "{:,.2f}") -> Cell:
    """Show the mean of a cost over its median and 95th percentile."""
    mean = sum_means({"cost": cost}, "cost")
    if mean is None:
        return UNKNOWN
    p50, p95 = (UNKNOWN_TEXT if cost.get(key) is None else form.format(cost[key]) for key in ("p50", "p95"))
    return Cell(form.format(mean), f"p50 {p50}, p95 {p95}", repr(mean))


rough_cost = partial(cost, form="{:,.1f}")


def difference(difference: Difference) -> Cell:
    """Show a difference in percentage points over its interval."""
    if difference.value is None or difference.low is None or difference.high is None:
        return UNKNOWN
    low, high = format_points(difference.low), format_points(difference.high)
    key, is_sure = repr(100 * difference.value), is_significant(difference)
    detail = f"{low} to {high}"
    return Cell(format_points(difference.value), detail, key, is_sure=is_sure, low=low, high=high)


def format_points(share: float) -> str:
    """Write a difference of shares in percentage points.

    >>> format_points(0.0471), format_points(-0.0471), format_points(0.0001)
    ('+4.7', '−4.7', '0.0')
    """
    return f"{100 * share:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def describe_difference(difference: Difference) -> str:
    """Say a difference in words, with its interval."""
    low, high = (format_points(bound or 0.0) for bound in (difference.low, difference.high))
    return f"{format_points(difference.value or 0.0)} points ({low} to {high})"


def is_significant(difference: Difference) -> bool:
    """Return whether the interval of a difference does not hold 0."""
    low, high = difference.low, difference.high
    return low is not None and high is not None and (low > 0 or high < 0)


def mcnemar(found: McNemar) -> Iterator[Cell]:
    """Show the questions that only one side has right, and the p value."""
    yield Cell(f"{found.only_a:,} / {found.only_b:,}", key=str(found.only_a - found.only_b))
    shown = "< 0.001" if found.p < 0.001 else f"{found.p:.3f}"
    yield Cell(shown, key=repr(found.p), is_sure=found.p < 0.05)
