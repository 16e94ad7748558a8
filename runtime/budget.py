"""How much a question may spend; what a node may still spend of it, and has spent."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field

from kgqa.models.interface import Usage
from kgqa.runtime.record import Spend, StoppedBy, add_spend, zero_spend


class Budget(BaseModel):
    """How much one question may spend; null means no limit.

    A limit is checked before each spend. When one is reached, the question is
    answered from the evidence at hand and the record says ``stopped_by``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    llm_calls: int | None = Field(default=60, ge=0, description="calls of the language model")
    tokens: int | None = Field(default=200_000, ge=0, description="input and output tokens together")
    kg_queries: int | None = Field(default=500, ge=0, description="queries of the knowledge graph")
    seconds: float | None = Field(
        default=300.0, gt=0, allow_inf_nan=False, description="seconds of wall time"
    )


class BudgetExceeded(Exception):
    """A limit of the budget is reached; ``limit`` names it."""

    def __init__(self, limit: StoppedBy) -> None:
        super().__init__(f"the budget of {limit} is spent")
        self.limit = limit


@dataclass
class NodeBudget:
    """The account of one node: its limits are those of the context's budget."""

    context: Any
    spent_before: Spend  # what the question had cost before this node
    spend: Spend = field(default_factory=zero_spend)  # what this node costs
    started: float = field(default_factory=time.perf_counter)

    def total_spend(self) -> Spend:
        """Return what this node has cost, its wall time included."""
        return {**self.spend, "seconds": time.perf_counter() - self.started}

    def token_counts(self) -> dict[str, list[int]]:
        """Return the input and output tokens of this node as the trace has them; nothing without a call."""
        counts = [self.spend["input_tokens"], self.spend["output_tokens"]]
        return {"tokens": counts} if any(counts) else {}

    def check(self, *limits: StoppedBy) -> None:
        """Raise `BudgetExceeded` for the first of some limits, or the time, that is spent."""
        if (spent := self._first_reached(self.spend, *limits, "seconds")) is not None:
            raise BudgetExceeded(spent)

    def count(self, usage: Usage) -> None:
        """Add what a call of the model has cost."""
        self.spend.update(_add_usage(self.spend, usage))

    def has_room(self, usage: Usage) -> bool:
        """Return whether the model may be called again after calls that have cost ``usage``."""
        return self._first_reached(_add_usage(self.spend, usage), "llm_calls", "tokens") is None

    def queries_left(self) -> int | None:
        """Return how many queries a tool may make: one more than is left, to end what was begun."""
        limit = self.context.budget.kg_queries
        spent = self.spent_before["kg_queries"] + self.spend["kg_queries"]
        return None if limit is None else limit - spent + 1

    @asynccontextmanager
    async def deadline(self) -> AsyncIterator[None]:
        """Cancel what runs inside when the question's time is up, and raise `BudgetExceeded`."""
        limit = self.context.budget.seconds
        used = self.spent_before["seconds"] + self.total_spend()["seconds"]
        timeout = asyncio.timeout(None if limit is None else limit - used)
        try:
            async with timeout:
                yield
        except TimeoutError as error:
            if timeout.expired():
                raise BudgetExceeded("seconds") from error.__cause__
            raise

    def _first_reached(self, spend: Spend, *limits: StoppedBy) -> StoppedBy | None:
        """Return the first of some limits that is reached where this node has cost ``spend``."""
        total = add_spend(self.spent_before, {**spend, "seconds": self.total_spend()["seconds"]})
        used = {**total, "tokens": total["input_tokens"] + total["output_tokens"]}
        for name in limits:
            limit = getattr(self.context.budget, name)
            if limit is not None and used[name] >= limit:
                return name
        return None


def _add_usage(spend: Spend, usage: Usage) -> Spend:
    keys = ("llm_calls", "cached_calls", "unknown_calls", "input_tokens", "output_tokens", "model_queries")
    counts = {key: spend[key] + getattr(usage, key) for key in keys}  # type: ignore[literal-required]
    return cast(Spend, {**spend, **counts, "seconds_llm": spend["seconds_llm"] + usage.seconds})
