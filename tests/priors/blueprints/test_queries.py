import sys

import pytest

from kgqa.priors.blueprints import BlueprintError, queries
from kgqa.priors.blueprints.queries import read, read_all

QUERIES = [f"SELECT ?x WHERE {{ wd:Q{n} wdt:P{n} ?y . ?x wdt:P1 ?y }}" for n in range(1, 6)] + ["no query"]


def test_processes_read_what_one_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "SHARE", 3)
    monkeypatch.setenv("KGQA_THREADS", "2")
    assert read_all(QUERIES) == {query: read(query) for query in QUERIES}


def test_a_process_that_ends_early_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "SHARE", 1)
    monkeypatch.setenv("KGQA_THREADS", "2")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(BlueprintError, match="ended early: status 1"):
        read_all(QUERIES)
