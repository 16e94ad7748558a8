"""Memory stays bounded: half a million rows of an endpoint, and many questions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgqa.tests.hostile.conftest import Tried

CHILD = Path(__file__).with_name("memory_child.py")


def grown(what: str, *given: str) -> list[int]:
    """Run a child and give the megabytes that it says."""
    command = [sys.executable, "-W", "error", str(CHILD), what, *given]
    environment = {**os.environ, "MALLOC_ARENA_MAX": "2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=1_000, env=environment)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def test_rows_that_are_kept_do_not_grow_without_end(tried: Tried) -> None:
    """Five times as many rows as are kept come in, each answer another."""
    half, whole = grown("answers")
    assert whole - half < 40, (half, whole)
    tried(inputs=50)


@pytest.mark.timeout(1_000)
def test_many_questions_leave_nothing_behind(tried: Tried) -> None:
    half, whole, asked = grown("questions")
    sys.stdout.write(f"{asked} questions: {half} MB after half of them, {whole} MB after all\n")
    assert whole - half < 10, (half, whole)
    tried(questions=asked, records=asked)
