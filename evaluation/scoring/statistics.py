"""Intervals, spreads and tests for means over questions.

>>> bootstrap_interval([1.0, 1.0, 1.0])
Interval(value=1.0, low=1.0, high=1.0)
>>> mcnemar_p_value(only_a=6, only_b=0)
0.03125
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field
from typing_extensions import TypedDict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

BOOTSTRAP_RESAMPLES = 2_000  # bootstrap resamples behind every interval
MAX_BLOCK_NUMBERS = 1 << 21  # numbers that are drawn, and kept in memory, at a time
CONFIDENCE_LEVEL = 0.95  # the share of resamples whose mean lies in an interval

Count = Annotated[int, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, le=1e15)]


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over questions, and the interval it lies in; all None where there are no questions."""

    value: float | None
    low: float | None
    high: float | None


class Share(TypedDict, total=False):
    """A mean over questions, between 0 and 1, with its 95% bootstrap interval; null over none."""

    value: Fraction | None
    low: Fraction | None
    high: Fraction | None


class Costs(TypedDict, total=False):
    """What a question has cost, in any unit: mean, percentiles and maximum over results."""

    mean: Amount
    p50: Amount
    p95: Amount
    max: Amount


class TotalCosts(Costs, total=False):
    """What a question has cost, and all of them together."""

    total: Amount


class UsageCosts(TypedDict, total=False):
    """Calls, tokens, queries and seconds of a question; null where no result tells them."""

    llm_calls: Costs | None
    input_tokens: Costs | None
    output_tokens: Costs | None
    total_tokens: TotalCosts | None  # input and output together (CoR, Table 4)
    kg_queries: Costs | None
    model_queries: Costs | None
    seconds: Costs | None


def mean_share(values: Sequence[float], seed: int) -> Share:
    """Return the mean of one metric with its interval, as JSON has it."""
    return mean_shares([[value] for value in values], columns=1, seed=seed)[0]


def mean_shares(rows: "ArrayLike", *, columns: int, seed: int) -> list[Share]:
    """Return the mean of each metric with its interval, as JSON has it; see `bootstrap_intervals`."""
    return [cast(Share, asdict(one)) for one in bootstrap_intervals(rows, columns=columns, seed=seed)]


def bootstrap_interval(values: Sequence[float], seed: int = 0) -> Interval:
    """Return the mean of one metric with its interval; see `bootstrap_intervals`."""
    return bootstrap_intervals([[value] for value in values], columns=1, seed=seed)[0]


def bootstrap_intervals(rows: "ArrayLike", *, columns: int, seed: int = 0) -> list[Interval]:
    """Return the mean of each metric with its 95% percentile bootstrap interval.

    Questions are drawn with replacement, all metrics of one together (Efron and
    Tibshirani 1993, §13.3). Questions with equal rows are drawn as one category of a
    multinomial, which is the same distribution; so the order of the rows changes nothing.
    A row has the metrics of one question, ``columns`` in number.
    """
    import numpy as np

    table = np.asarray(rows, dtype=float).reshape(-1, columns)
    if not len(table):
        return [Interval(None, None, None)] * columns
    means = _resampled_means(table, seed)
    tail = 100 * (1 - CONFIDENCE_LEVEL) / 2
    low, high = np.percentile(means, [tail, 100 - tail], axis=0)
    kinds, counts = np.unique(table, axis=0, return_counts=True)
    values = counts @ kinds / len(table)
    # Equal means differ in the last digit when summed in another order.
    return [
        Interval(value, min(value, least), max(value, most))
        for value, least, most in zip(values.tolist(), low.tolist(), high.tolist(), strict=True)
    ]


def absolute_means(rows: "ArrayLike", *, columns: int, seed: int) -> Share:
    """Return the sum of the absolute means of columns with its interval, as JSON has it."""
    import numpy as np

    table = np.asarray(rows, dtype=float).reshape(-1, columns)
    value = float(np.abs(table.mean(axis=0)).sum())
    tail = 100 * (1 - CONFIDENCE_LEVEL) / 2
    low, high = np.percentile(np.abs(_resampled_means(table, seed)).sum(axis=1), [tail, 100 - tail])
    return {"value": value, "low": min(value, float(low)), "high": max(value, float(high))}


def _resampled_means(table: "NDArray[Any]", seed: int) -> "NDArray[Any]":
    """Return the means of the columns in each resample of the rows."""
    import numpy as np

    kinds, counts = np.unique(table, axis=0, return_counts=True)
    return np.concatenate([drawn @ kinds for drawn in _draw_resamples(counts, seed)]) / len(table)


def _draw_resamples(counts: "NDArray[np.intp]", seed: int) -> "Iterator[NDArray[Any]]":
    """Draw how often each kind of row comes up in each resample, in blocks of resamples."""
    import numpy as np

    random, rows, kinds = np.random.default_rng(seed), int(counts.sum()), len(counts)
    size = max(1, MAX_BLOCK_NUMBERS // rows)
    for start in range(0, BOOTSTRAP_RESAMPLES, size):
        block = min(size, BOOTSTRAP_RESAMPLES - start)
        if 8 * kinds <= rows:
            yield random.multinomial(rows, counts / rows, block)
            continue
        # With many kinds, single rows are drawn faster than the counts of all kinds.
        drawn = np.repeat(np.arange(kinds), counts)[random.integers(rows, size=(block, rows))]
        drawn += kinds * np.arange(block)[:, np.newaxis]
        yield np.bincount(drawn.ravel(), minlength=block * kinds).reshape(block, kinds)


def summarise_costs(amounts: Sequence[float]) -> Costs | None:
    """Summarise what questions have cost; percentiles interpolate linearly; None for no questions.

    >>> summarise_costs([0, 10, 20])
    {'mean': 10.0, 'p50': 10.0, 'p95': 19.0, 'max': 20.0}
    """
    import numpy as np

    if not amounts:
        return None
    costs = np.sort(np.asarray(amounts, dtype=float))
    p50, p95 = np.percentile(costs, [50, 95]).tolist()
    return {"mean": float(costs.mean()), "p50": p50, "p95": p95, "max": float(costs[-1])}


def summarise_total(amounts: Sequence[float]) -> TotalCosts | None:
    """Summarise what questions have cost, with the sum; None for no questions."""
    costs = summarise_costs(amounts)
    return None if costs is None else {**costs, "total": float(sum(amounts))}


def summarise_usage(usages: Sequence[Mapping[str, float | None]]) -> UsageCosts:
    """Summarise what questions have used, each part over those that tell it."""
    found: dict[str, Costs | None] = {}
    for key in UsageCosts.__annotations__:
        parts = ("input_tokens", "output_tokens") if key == "total_tokens" else (key,)
        spent = [[amount for part in parts if (amount := usage.get(part)) is not None] for usage in usages]
        known = [sum(amounts) for amounts in spent if len(amounts) == len(parts)]
        found[key] = summarise_total(known) if len(parts) > 1 else summarise_costs(known)
    return cast(UsageCosts, found)


def mcnemar_p_value(only_a: int, only_b: int) -> float:
    """Return the exact two-sided p-value of McNemar's test: are both runs right equally often?

    Under the null hypothesis each question that only one of them gets right is a fair
    coin (McNemar 1947); without such questions nothing tells the runs apart, and p is 1.
    """
    if not only_a + only_b:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(only_a, only_a + only_b, 0.5).pvalue)
