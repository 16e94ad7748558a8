"""The gate of an endpoint: how long it stays shut."""

from kgqa.kg.endpoint.client import MAX_PAUSE_SECONDS, CircuitBreaker


def test_a_server_that_asks_for_years_is_asked_again_within_the_hour() -> None:
    gate = CircuitBreaker()
    gate.pause(1e8)
    assert MAX_PAUSE_SECONDS - 1 < gate.left() <= MAX_PAUSE_SECONDS


def test_a_shorter_pause_does_not_end_a_longer_one() -> None:
    gate = CircuitBreaker()
    gate.pause(60)
    gate.pause(0)
    assert gate.left() > 59
