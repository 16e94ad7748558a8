"""The strict protocol: every question counts, answers are compared one by one."""

from collections.abc import Mapping, Sequence
from typing import Any

from kgqa.evaluation.question import Question
from kgqa.evaluation.result import Result
from kgqa.evaluation.scoring import metrics


def measure(
    results: Sequence[Result],
    questions: Sequence[Question],
    *,
    grounded: Mapping[str, bool | None] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Score results strictly; see `kgqa.evaluation.scoring.metrics.measure_results`."""
    return dict(metrics.measure_results(results, questions, grounded=grounded, seed=seed))
