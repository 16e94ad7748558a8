"""The circuit breaker of an endpoint: how long it pauses."""

from kgqa.kg.endpoint.client import MAX_PAUSE_SECONDS, CircuitBreaker


def test_a_server_that_asks_for_years_is_asked_again_within_the_hour() -> None:
    breaker = CircuitBreaker()
    breaker.pause(1e8)
    assert MAX_PAUSE_SECONDS - 1 < breaker.pause_left() <= MAX_PAUSE_SECONDS


def test_a_shorter_pause_does_not_end_a_longer_one() -> None:
    breaker = CircuitBreaker()
    breaker.pause(60)
    breaker.pause(0)
    assert breaker.pause_left() > 59
