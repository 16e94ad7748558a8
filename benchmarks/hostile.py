"""What the hostile tests try and what becomes of it: the figures of docs/security.md.

Each test says what it has tried once its checks have held (`tests/hostile/conftest.py`);
here it is added up by folder. A test that is skipped counts nothing, and a failure
leaves the page as it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from kgqa.benchmarks._runs import DOCS, drawn, put

TESTS = DOCS.parent / "tests" / "hostile"
PAGE = DOCS / "security.md"

SAID = {
    "graph": "labels, names, nodes and shapes of a graph",
    "model": "replies of a model",
    "inputs": "questions, topics, options, requests",
    "files": "queries and files",
    "labels": "what records claim of their answers",
    "outages": "outages, full disks, signals",
    "secrets": "places where a key could show",
}


class Tally:
    """A plugin of pytest that adds up what tests say they have tried, by folder."""

    def __init__(self) -> None:
        self.areas: dict[str, Counter[str]] = defaultdict(Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test that has passed."""
        if report.when == "call" and report.passed:
            area = self.areas[Path(report.location[0]).parent.name]
            area["tests"] += 1
            for name, number in report.user_properties:
                area[str(name)] += int(str(number))


def rows(areas: dict[str, Counter[str]]) -> Iterable[list[str]]:
    """Return the rows of the table, and their sum."""
    total = sum(areas.values(), Counter())
    for name, counts in [*((SAID[name], areas[name]) for name in SAID), ("**all**", total)]:
        lost = counts["questions"] - counts["records"]
        yield [
            name,
            *(f"{counts[key]:,}" for key in ("tests", "inputs", "faults", "questions", "records")),
            str(lost),
        ]


def main() -> None:
    """Run the hostile tests and put their figures into the page.

    Raises:
        SystemExit: if a test fails.
    """
    tally = Tally()
    quiet = ["-q", "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # kgqa is imported already
    status = pytest.main([*quiet, "-n", "2", "--dist", "loadfile", str(TESTS)], plugins=[tally])
    if status:
        raise SystemExit(int(status))
    head = ["attack on", "tests", "bad inputs", "faults", "questions asked", "records", "lost"]
    put(PAGE, {"figures": drawn(head, rows(tally.areas))})


if __name__ == "__main__":
    main()
