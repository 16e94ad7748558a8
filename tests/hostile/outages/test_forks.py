"""A process that is forked while other threads ask: what they hold, the child does not wait for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.integration.serving.asking import FAMILY

HERE = Path(__file__).parent

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def told(script: str, given: Path) -> str:
    command = [sys.executable, "-P", str(HERE / script), str(given)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]
    return done.stdout


def test_a_child_that_is_forked_while_others_ask_answers(tmp_path: Path, tried: Tried) -> None:
    graph = tmp_path / "family.ttl"
    graph.write_text(FAMILY, encoding="utf-8")
    assert told("fork_child.py", graph) == "Ulm\n"
    tried(faults=1, questions=2, records=2)


def test_graphs_that_are_open_answer_in_the_child_and_after_it_in_the_parent(
    tmp_path: Path, tried: Tried
) -> None:
    both = "http://x/a http://x/a 1 1 1"
    assert told("fork_open_child.py", tmp_path) == (
        f"first {both}\nchild {both}\nread http://x/a 1 1\nthen {both}\n"
    )
    tried(faults=1)
