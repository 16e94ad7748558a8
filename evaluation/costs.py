"""What questions have cost, in whatever unit: calls, tokens, seconds, diagnoses."""

from collections.abc import Sequence
from typing import cast

from typing_extensions import TypedDict

from kgqa.evaluation.statistics import spread


class Costs(TypedDict):
    """What a question has cost: mean, percentiles and maximum over results."""

    mean: float
    p50: float
    p95: float
    max: float


def costs(amounts: Sequence[float]) -> Costs | None:
    """Summarise what questions have cost; None for no questions."""
    found = spread(amounts)
    return cast(Costs, found._asdict()) if found else None
