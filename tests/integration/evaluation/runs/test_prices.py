"""What a run costs, by the price lists."""

from datetime import UTC, datetime
from typing import Any

import pytest

from kgqa.evaluation.runs.progress import find_price

AT = datetime(2026, 10, 20, tzinfo=UTC)


def spend(calls: Any, read: Any, written: Any) -> dict[str, Any]:
    return {"llm_calls": calls, "input_tokens": read, "output_tokens": written}


def test_tokens_are_priced_by_the_list() -> None:
    price = find_price("openai:gpt-4.1-mini", AT)
    assert price is not None
    assert price.of(spend(7, 1_000_000, 500_000)) == pytest.approx(0.4 + 0.5 * 1.6, rel=1e-12)


def test_calls_from_the_cache_cost_nothing() -> None:
    price = find_price("openai:gpt-4.1-mini", AT)
    assert price is not None
    assert price.of({**spend(0, 0, 0), "cached_calls": 6}) == 0.0


def test_a_price_that_rises_with_length_goes_by_the_mean_call() -> None:
    price = find_price("google_genai:gemini-2.5-pro", AT)
    assert price is not None
    short = price.of(spend(1, 150_000, 0))
    assert short is not None
    assert price.of(spend(2, 300_000, 0)) == pytest.approx(2 * short)
    assert (price.of(spend(1, 300_000, 0)) or 0) > 2.1 * short


def test_unknown_tokens_have_no_price() -> None:
    price = find_price("gpt-4.1-mini", AT)
    assert price is not None
    assert price.of(spend(None, None, None)) is None


@pytest.mark.parametrize(
    "model", ["offline", "simulated:accuracy=1", "scripted", "openai:nothing", "nobody:gpt-4"]
)
def test_a_model_on_no_list_has_no_price(model: str) -> None:
    assert find_price(model, AT) is None


def test_a_server_is_known_by_its_address_else_by_the_name_of_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def provider(url: str, model: str) -> str | None:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        price = find_price(model, AT)
        return price and (price.url or price.provider)

    router = "https://openrouter.ai/api/v1"
    assert provider(router, "openai:openai/gpt-4o") == router
    assert provider("http://127.0.0.1:9/v1", "openai:gpt-4.1-mini") == "openai"
    assert provider("http://127.0.0.1:9/v1", "openai:mine") is None
