"""Metrics of a user's own: a number for each question, by a function of its record, and their mean."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, cast

from pydantic import Field
from typing_extensions import TypedDict

from kgqa.evaluation.question import Question
from kgqa.evaluation.scoring.scores import ScoredQuestion
from kgqa.evaluation.scoring.statistics import Count, bootstrap_interval
from kgqa.kg.terms import one_line
from kgqa.plugins import PluginError, load_plugin

MetricFunction = Callable[[Mapping[str, Any], Question], float | None]
"""Returns a number for the record of a question, also of one that failed; None where there is none."""

Number = Annotated[float, Field(allow_inf_nan=False)]


class OwnMetric(NamedTuple):
    """A metric of a user's own, and what it is called."""

    name: str
    measure: MetricFunction


class OwnMean(TypedDict, total=False):
    """The mean of a metric with its 95% bootstrap interval, in the metric's unit; null over none."""

    value: Number | None
    low: Number | None
    high: Number | None
    n: Count  # questions that have a number


def load_metrics(named: Sequence[str | MetricFunction]) -> tuple[OwnMetric, ...]:
    """Load metrics by their names, or take functions; raise `PluginError` for what is none, or is twice."""
    found = []
    for one in named:
        if isinstance(one, str):
            plugin = load_plugin("metrics", one)
            found.append(OwnMetric(plugin.name, plugin.thing))
        else:
            found.append(OwnMetric(getattr(one, "__name__", type(one).__name__), one))
        if not callable(found[-1].measure):
            kind = type(found[-1].measure).__name__
            raise PluginError(f"{one} is no function ({kind}); a metric takes a record and its question")
    names = [metric.name for metric in found]
    for name in names:
        if names.count(name) > 1:
            raise PluginError(f"two metrics are called {name}; give one of them another name")
    return tuple(found)


def measure_own(
    metrics: Sequence[OwnMetric], scored: Sequence[ScoredQuestion], seed: int
) -> dict[str, OwnMean]:
    """Measure each metric on the questions that have a record; raise `PluginError` where one fails."""
    means = {}
    for metric in metrics:
        numbers = [_measure_one(metric, each) for each in scored]
        known = [number for number in numbers if number is not None]
        mean = bootstrap_interval(known, seed)
        means[metric.name] = OwnMean(value=mean.value, low=mean.low, high=mean.high, n=len(known))
    return means


def _measure_one(metric: OwnMetric, scored: ScoredQuestion) -> float | None:
    if scored.result is None:
        return None
    where = f"the metric {metric.name} fails at question {one_line(scored.question.id, 80)}"
    try:
        number = cast(Any, metric.measure(scored.result.record, scored.question))
    except Exception as error:  # whatever the user's own code raises
        said = one_line(f"{type(error).__name__}: {error}", 200)
        raise PluginError(f"{where}: {said}; mend it, and repeat the command") from None
    if number is None:
        return None
    if not isinstance(number, int | float) or not math.isfinite(number):
        raise PluginError(f"{where}: {one_line(repr(number), 80)} is no number; give one, or None")
    return float(number)
