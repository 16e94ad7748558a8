import sys

import pytest

from kgqa.priors import training_questions
from kgqa.priors.errors import BlueprintError
from kgqa.priors.training_questions import read_all_branches, read_branches

QUERIES = [f"SELECT ?x WHERE {{ wd:Q{n} wdt:P{n} ?y . ?x wdt:P1 ?y }}" for n in range(1, 6)] + ["no query"]


def test_processes_read_what_one_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_questions, "QUERIES_PER_PROCESS", 3)
    monkeypatch.setenv("KGQA_THREADS", "2")
    assert read_all_branches(QUERIES) == {query: read_branches(query) for query in QUERIES}


def test_a_process_that_ends_early_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_questions, "QUERIES_PER_PROCESS", 1)
    monkeypatch.setenv("KGQA_THREADS", "2")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(BlueprintError, match="ended early: status 1"):
        read_all_branches(QUERIES)
