"""Prices a run: what the tokens of a question cost by the list price of its model."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

TokenUsage = Mapping[str, float | None]

FREE_PROVIDERS = frozenset({"offline", "scripted", "simulated"})  # models without a price list
_ONE_CALL: TokenUsage = {"llm_calls": 1, "input_tokens": 1, "output_tokens": 1}


@dataclass(frozen=True, slots=True)
class Price:
    """The list price of a model at a time; `find_price` finds it."""

    model: str
    provider: str | None
    url: str | None
    at: datetime

    def of(self, usage: TokenUsage) -> float | None:
        """Return the cost of a question in USD; None where its tokens are not known.

        Calls from the cache have no tokens and cost nothing. Where a price depends on
        the length of a call, that of the question's mean call counts.
        """
        calls, read, written = (usage.get(key) for key in ("llm_calls", "input_tokens", "output_tokens"))
        if calls is None or read is None or written is None:
            return None
        if not calls:
            return 0.0
        from genai_prices import Usage, calc_price

        number = Decimal(calls)
        mean = Usage(input_tokens=Decimal(read) / number, output_tokens=Decimal(written) / number)
        place = {"provider_api_url": self.url} if self.url else {"provider_id": self.provider}
        return float(
            calc_price(mean, self.model, genai_request_timestamp=self.at, **place).total_price * number
        )


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
    for price in (*places, Price(model, provider, None, at)):
        with suppress(LookupError):
            price.of(_ONE_CALL)
            return price
    return None
