"""How far a run is, and what it has cost by the price lists of genai-prices."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from kgqa.evaluation.runs.records import failure_reason, is_failed

TokenUsage = Mapping[str, float | None]

FREE_PROVIDERS = frozenset({"offline", "scripted", "simulated"})
"""Models without a price list."""

_ONE_CALL: TokenUsage = {"llm_calls": 1, "input_tokens": 1, "output_tokens": 1}


@dataclass(frozen=True, slots=True)
class Price:
    """The list price of a model at a time; `price_of` finds it."""

    model: str
    provider: str | None
    url: str | None
    at: datetime

    def of(self, usage: TokenUsage) -> float | None:
        """Return the cost of a question in USD; None where its tokens are not known.

        Calls from the cache have no tokens and cost nothing. Where a price depends on
        the length of a call, that of the question's mean call counts.

        Raises:
            LookupError: if no list has the model.
        """
        calls, read, written = (usage.get(key) for key in ("llm_calls", "input_tokens", "output_tokens"))
        if calls is None or read is None or written is None:
            return None
        if not calls:
            return 0.0
        number = Decimal(calls)
        return float(self._call(Decimal(read) / number, Decimal(written) / number) * number)

    def _call(self, read: Decimal, written: Decimal) -> Decimal:
        from genai_prices import Usage, calc_price

        usage = Usage(input_tokens=read, output_tokens=written)
        if self.url:
            found = calc_price(usage, self.model, provider_api_url=self.url, genai_request_timestamp=self.at)
        else:
            found = calc_price(usage, self.model, provider_id=self.provider, genai_request_timestamp=self.at)
        return found.total_price


def find_price(spec: str, at: datetime) -> Price | None:
    """Find the list price of the model ``provider:name``; None where no list has it.

    A server that OPENAI_BASE_URL names is looked up by its address, and where no
    provider has that, by the name of the model. Reads the lists (0.3 s) once.
    """
    provider, colon, model = spec.partition(":")
    if provider in FREE_PROVIDERS:
        return None
    if not colon:
        provider, model = "openai", spec
    url = os.environ.get("OPENAI_API_BASE") or os.environ.get("OPENAI_BASE_URL")
    places = [Price(model, None, url, at)] if provider == "openai" and url else []
    return next(filter(_is_listed, [*places, Price(model, provider, None, at)]), None)


def _is_listed(price: Price) -> bool:
    try:
        price.of(_ONE_CALL)
    except LookupError:
        return False
    return True


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
        if is_failed(record):
            self.reasons[failure_reason(record)] += 1
        elif not record.get("topics"):
            self.strange += any("error" in step for step in record.get("trace", [])[:1])
