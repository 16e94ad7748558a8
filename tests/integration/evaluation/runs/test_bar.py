"""The progress bar: how far, how well, how dear."""

import io
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from kgqa.evaluation.runs.progress import Tally, find_price, progress_bar


def record(**other: Any) -> dict[str, Any]:
    usage = {"llm_calls": 3, "input_tokens": 900, "output_tokens": 100}
    return {"id": "q", "outcome": "grounded", "trace": [], "usage": usage, **other}


def shown(tally: Tally, *, terminal: bool) -> str:
    file = io.StringIO()
    with progress_bar(Console(file=file, force_terminal=terminal, width=110, color_system=None)) as bar:
        bar(tally)
        tally.count(record())
        tally.count(record(error="ValueError: odd"))
        bar(tally)
    return file.getvalue()


def test_a_tally_counts_what_is_recorded() -> None:
    tally = Tally(9, find_price("openai:gpt-4.1-mini", datetime(2026, 10, 20, tzinfo=UTC)))
    tally.count(record())
    tally.count(record(outcome="kg_unavailable", trace=[{"node": "link", "error": "no graph"}]))
    tally.count(record(outcome="none", error="KeyError: 1", usage=dict.fromkeys(record()["usage"])))
    assert (tally.done, tally.failed, tally.calls, tally.tokens) == (3, 2, 6, 2000)
    assert tally.reasons == {"no graph": 1, "KeyError: 1": 1}
    assert tally.cost == 2 * (900 * 0.4e-6 + 100 * 1.6e-6)


def test_a_terminal_shows_how_far_a_run_is() -> None:
    last = shown(Tally(8, find_price("gpt-4.1-mini", datetime.now(UTC))), terminal=True).split("\r")[-2]
    for words in ("2/8", "1 failed", "6 calls", "2,000 tokens", "$0.00"):
        assert words in last


def test_a_cost_that_is_not_known_is_not_shown() -> None:
    assert "$" not in shown(Tally(8), terminal=True)


def test_nothing_is_shown_where_there_is_no_terminal() -> None:
    assert shown(Tally(8), terminal=False) == ""
