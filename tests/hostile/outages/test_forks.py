"""A process that is forked while other threads ask: what they hold, the child does not wait for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.integration.serving.asking import FAMILY

CHILD = Path(__file__).with_name("fork_child.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_child_that_is_forked_while_others_ask_answers(tmp_path: Path, tried: Tried) -> None:
    graph = tmp_path / "family.ttl"
    graph.write_text(FAMILY, encoding="utf-8")
    command = [sys.executable, "-P", str(CHILD), str(graph)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert (done.returncode, done.stdout) == (0, "Ulm\n"), done.stderr[-2_000:]
    tried(faults=1, questions=2, records=2)
