"""Shares with their intervals, as metrics.json has them."""

from typing import Any, NamedTuple

METRICS = {
    "hits_at_1": "Hits@1",
    "f1": "F1",
    "hit_any": "Hit any",
    "precision": "Precision",
    "recall": "Recall",
    "kg_grounded_rate": "Grounded",
    "kg_grounded_rate_strict": "Grounded, checked",
}
"""What has an interval, and what the page calls it."""

PLOTTED = {key: METRICS[key] for key in ("hits_at_1", "f1")}
"""The two that are plotted."""


class Interval(NamedTuple):
    """A share with its 95% interval, all between 0 and 1."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Give it in per cent."""
        return f"{self.value:.1%} ({self.low:.1%} to {self.high:.1%})"


def interval(metric: Any) -> Interval | None:
    """Read a metric; None where there was nothing to measure."""
    if not isinstance(metric, dict) or metric.get("value") is None:
        return None
    value = float(metric["value"])
    low, high = metric.get("low"), metric.get("high")
    return Interval(value, value if low is None else float(low), value if high is None else float(high))


def mean_of(metrics: Any, *keys: str) -> float | None:
    """Add the means of some costs; None where one is unknown."""
    found = [((metrics or {}).get(key) or {}).get("mean") for key in keys]
    means = [float(mean) for mean in found if mean is not None]
    return sum(means) if len(means) == len(keys) else None
