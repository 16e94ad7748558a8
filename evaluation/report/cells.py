"""The cells of the page's tables: shares, counts, costs, differences and tests."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgqa.evaluation.report.shares import Interval, mean_of

if TYPE_CHECKING:
    from kgqa.evaluation.comparison import Difference, McNemar

UNKNOWN = "–"


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


def words(text: str, detail: str = "") -> Cell:
    """Show a name or other words."""
    return Cell(text, detail, key=text, number=False)


def percent(value: Interval | None) -> Cell:
    """Show a share in per cent over its interval."""
    if value is None:
        return Cell(UNKNOWN)
    share, low, high = (f"{100 * bound:.1f}" for bound in value)
    return Cell(share, f"{low} – {high}", repr(value.value))


def count(value: Any, detail: str = "") -> Cell:
    """Show a whole number."""
    return Cell(UNKNOWN) if value is None else Cell(f"{value:,}", detail, str(value))


def cost(spread: Any, form: str) -> Cell:
    """Show the mean of a cost over its median and 95th percentile."""
    mean = mean_of({"cost": spread}, "cost")
    if mean is None:
        return Cell(UNKNOWN)
    p50, p95 = (UNKNOWN if spread.get(key) is None else form.format(spread[key]) for key in ("p50", "p95"))
    return Cell(form.format(mean), f"p50 {p50}, p95 {p95}", repr(mean))


def points(difference: "Difference") -> Cell:
    """Show a difference in percentage points over its interval."""
    if difference.value is None or difference.low is None or difference.high is None:
        return Cell(UNKNOWN)
    detail = f"{signed(difference.low)} to {signed(difference.high)}"
    return Cell(signed(difference.value), detail, repr(100 * difference.value), sure=sure(difference))


def signed(share: float) -> str:
    """Write a difference of shares in percentage points.

    >>> signed(0.0471), signed(-0.0471), signed(0.0001)
    ('+4.7', '−4.7', '0.0')
    """
    return f"{100 * share:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def in_points(difference: "Difference") -> str:
    """Say a difference in words, with its interval."""
    low, high = (signed(bound or 0.0) for bound in (difference.low, difference.high))
    return f"{signed(difference.value or 0.0)} points ({low} to {high})"


def sure(difference: "Difference") -> bool:
    """Tell whether the interval of a difference does not hold 0."""
    low, high = difference.low, difference.high
    return low is not None and high is not None and (low > 0 or high < 0)


def tested(found: "McNemar") -> Iterator[Cell]:
    """Show the questions that only one side has right, and the p value."""
    yield Cell(f"{found.only_a:,} / {found.only_b:,}", key=str(found.only_a - found.only_b))
    shown = "< 0.001" if found.p < 0.001 else f"{found.p:.3f}"
    yield Cell(shown, key=repr(found.p), sure=found.p < 0.05)
