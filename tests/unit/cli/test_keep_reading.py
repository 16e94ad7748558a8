"""The command that keeps a reading as an exemplar: it is told where it teaches what was asked."""

import shlex
from typing import Any

import pytest

from kgqa.cli.alternatives import show_taken
from kgqa.runtime.record import zero_spend

ADA = {"id": "http://e/ada", "name": "Ada"}
ULM = {"id": "http://e/ulm", "name": "Ulm"}

ONE = "SELECT ?x {\n  <http://e/ada> <http://e/child> ?x .\n}"
TWO = "SELECT ?x {\n  ?x <http://e/in> <http://e/ulm> .\n  <http://e/ada> <http://e/child> ?x .\n}"
VALUE = 'SELECT ?x {\n  ?x <http://e/said> "a  b" .\n  <http://e/ada> <http://e/child> ?x .\n}'
TESTED = 'SELECT ?x {\n  <http://e/ada> <http://e/child> ?x .\n  FILTER(?x != "a  b")\n}'


def kept(capsys: pytest.CaptureFixture[str], query: str, *topics: dict[str, Any]) -> list[str]:
    """Show a record with this query; return the words of the command that keeps it."""
    record: Any = {
        "question": "Which child of Ada is in Ulm and said a  b?",
        "method": "compose",
        "topics": [*topics],
        "reading": "the child of Ada",
        "answers": [ULM],
        "sentence": None,
        "table": None,
        "outcome": "grounded",
        "confidence": 0.5,
        "stopped_by": None,
        "paths": [],
        "evidence": [],
        "query": query,
        "conditions": [],
        "alternatives": [],
        "trace": [],
        "usage": zero_spend(),
        "config": {"model": "offline"},
    }
    show_taken(record)
    _, _, command = capsys.readouterr().out.partition("to keep it: ")
    return shlex.split(command)


def test_topics_are_given_in_the_order_of_the_query(capsys: pytest.CaptureFixture[str]) -> None:
    words = kept(capsys, TWO, ADA, ULM)
    assert words[:4] == ["kgqa", "exemplars", "add", "exemplars"]
    assert words[-4:] == ["--topic", "Ulm", "--topic", "Ada"]


@pytest.mark.parametrize(
    ("query", "topics"),
    [(VALUE, [ADA]), (TWO, [ADA]), (ONE, [{**ADA, "name": None}]), (ONE, [{**ADA, "name": "Bea"}]), ("", [])],
)
def test_what_would_teach_something_else_is_not_offered(
    capsys: pytest.CaptureFixture[str], query: str, topics: list[dict[str, Any]]
) -> None:
    assert kept(capsys, query, *topics) == []


def test_a_literal_of_the_query_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    words = kept(capsys, TESTED, ADA)
    query = words[words.index("--query") + 1]
    assert query == 'SELECT ?x { <http://e/ada> <http://e/child> ?x . FILTER(?x != "a  b") }'
