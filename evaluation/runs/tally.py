"""Counts a run while it goes on."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kgqa.evaluation.runs.prices import Price
from kgqa.evaluation.runs.records import failed, reason


@dataclass
class Tally:
    """How far a run is and what it has cost.

    ``cost`` is in USD, None where the model's price is not known.
    """

    total: int
    price: Price | None = None
    done: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    strange: int = 0
    """Questions whose topics were given and are not in the graph."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why questions failed."""

    def __post_init__(self) -> None:
        self.cost = None if self.price is None else 0.0

    @property
    def failed(self) -> int:
        """The number of questions that failed."""
        return self.reasons.total()

    def count(self, record: Mapping[str, Any]) -> None:
        """Count a record."""
        usage = record["usage"]
        self.done += 1
        self.calls += usage["llm_calls"] or 0
        self.tokens += (usage["input_tokens"] or 0) + (usage["output_tokens"] or 0)
        if self.price and self.cost is not None:
            self.cost += self.price.of(usage) or 0.0
        if failed(record):
            self.reasons[reason(record)] += 1
        elif not record.get("topics"):
            self.strange += any("error" in step for step in record.get("trace", [])[:1])
