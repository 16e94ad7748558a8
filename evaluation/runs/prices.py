"""What model calls cost, by the price lists of genai-prices, which come with that package."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

Spend = Mapping[str, float | None]

FREE = frozenset({"offline", "scripted", "simulated"})
"""Models without a price list."""

_ONE_CALL: Spend = {"llm_calls": 1, "input_tokens": 1, "output_tokens": 1}


@dataclass(frozen=True, slots=True)
class Price:
    """The list price of a model at a time; `price_of` finds it."""

    model: str
    provider: str | None
    url: str | None
    at: datetime

    def of(self, usage: Spend) -> float | None:
        """Give the cost of a question in USD; None where its tokens are not known.

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


def price_of(spec: str, at: datetime) -> Price | None:
    """Find the list price of the model ``provider:name``; None where no list has it.

    A server that OPENAI_BASE_URL names is looked up by its address, and where no
    provider has that, by the name of the model. Reads the lists (0.3 s) once.
    """
    provider, colon, model = spec.partition(":")
    if provider in FREE:
        return None
    if not colon:
        provider, model = "openai", spec
    url = os.environ.get("OPENAI_API_BASE") or os.environ.get("OPENAI_BASE_URL")
    places = [Price(model, None, url, at)] if provider == "openai" and url else []
    return next(filter(_listed, [*places, Price(model, provider, None, at)]), None)


def _listed(price: Price) -> bool:
    try:
        price.of(_ONE_CALL)
    except LookupError:
        return False
    return True
