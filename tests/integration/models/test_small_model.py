"""The whole way to a real, small language model and back: graph, prompts, wire, usage.

The model is often wrong; what is tried here is that every question ends in a
complete record whose cost was counted.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import kgqa
from kgqa.runtime.record import Outcome
from kgqa.tests.support.llm_server import missing

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or ""),
]

MODEL = "openai:smollm2"

CALLS = 1
"""Calls that a question may make; one more where it needs a repair turn."""

TOKENS = 32
"""Of a reply at most: a small model may go on for ever."""

FAMILY = """
e:ada rdfs:label "Ada"@en ; r:child e:ben, e:cleo ; r:lives_in e:ulm .
e:ben rdfs:label "Ben"@en ; r:lives_in e:bonn .
e:cleo rdfs:label "Cleo"@en ; r:lives_in e:ulm .
e:ulm rdfs:label "Ulm"@en .
e:bonn rdfs:label "Bonn"@en .
"""

KEYS = kgqa.Record.__annotations__.keys()

IN_THE_GRAPH = {f"http://t/e/{name}" for name in ("ada", "ben", "cleo", "ulm", "bonn")}


@pytest.fixture
def kg(turtle: Any, llm_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_BASE_URL", llm_server)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    path: Path = turtle(FAMILY)
    return str(path)


async def test_a_question_ends_in_a_complete_record(kg: str) -> None:
    given = {"kg": kg, "method": "vog", "model": MODEL, "max_tokens": TOKENS, "budget": {"llm_calls": CALLS}}
    record = await kgqa.aask("Where does Ada live?", topics=["Ada"], **given)
    assert record.keys() == KEYS
    assert record["outcome"] in set(get_args(Outcome)) - {"kg_unavailable", "model_unavailable"}
    check_usage(record)
    check_answers(record)


def test_the_command_prints_a_complete_record(kg: str) -> None:
    command = [sys.executable, "-c", "from kgqa.cli.main import main; main()", "ask", "Where does Ada live?"]
    options = f"--topic Ada --model {MODEL} --option budget.llm_calls={CALLS} --format json".split()
    options += ["--option", f"max_tokens={TOKENS}"]
    command += ["--kg", kg, *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=280, env=os.environ)
    record = json.loads(ended.stdout)
    assert record.keys() == KEYS
    check_usage(record)
    check_answers(record)
    assert (ended.returncode, ended.stderr) == (0 if record["answers"] else 1, "")


def check_usage(record: Any) -> None:
    usage = record["usage"]
    assert 0 < usage["llm_calls"] <= CALLS + 1
    assert usage["unknown_calls"] == 0
    assert usage["input_tokens"] > usage["output_tokens"] > 0
    assert 0 < usage["seconds_llm"] <= usage["seconds"]


def check_answers(record: Any) -> None:
    """What is called grounded is in the graph; what is not says so by having no id."""
    ids = {answer["id"] for answer in record["answers"]}
    assert ids <= (IN_THE_GRAPH if record["outcome"] in {"grounded", "grounded_unverified"} else {None})
