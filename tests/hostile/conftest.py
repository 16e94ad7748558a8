"""Counts what the hostile tests try, for the figures of docs/security.md (`benchmarks/hostile.py`)."""

from collections.abc import Callable
from typing import Literal, Protocol, get_args

import pytest

Thing = Literal["inputs", "faults", "questions", "records"]
"""Bad inputs, outages brought about, questions asked, records that came of them."""


class Tried(Protocol):
    """Called once a check has held: ``tried(inputs=40, questions=5, records=5)``."""

    def __call__(self, **counts: int) -> None:
        """Add what the check has tried, by `Thing`."""


@pytest.fixture
def tried(record_property: Callable[[str, object], None]) -> Tried:
    """Note what a test has tried; pytest keeps it with the test's result."""

    def count(**counts: int) -> None:
        for name, number in counts.items():
            assert name in get_args(Thing), name
            record_property(name, number)

    return count
