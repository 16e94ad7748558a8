"""Datasets, metrics, runs, simulation, reports: where a result can be believed."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgqa.evaluation.runs.evaluate import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate"]


def __getattr__(name: str) -> Any:
    """Return `evaluate`, the Python twin of ``kgqa eval``, and what it returns, once they are asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kgqa.evaluation.runs import evaluate

    return getattr(evaluate, name)
