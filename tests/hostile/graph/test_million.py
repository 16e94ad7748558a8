"""A node with a million neighbours costs time, and no more memory than its page."""

import json
import os
import subprocess
import sys
from pathlib import Path

from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.graph import million

MEGABYTES = 300
"""What a question may take beyond what the store took while it was filled."""


def test_a_node_with_a_million_neighbours_is_answered_in_bounded_memory(tmp_path: Path, tried: Tried) -> None:
    command = [sys.executable, str(Path(million.__file__)), str(tmp_path / "hub.nt")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=280, env=os.environ)
    assert ended.returncode == 0, ended.stderr[-2000:]
    said = json.loads(ended.stdout)
    assert said["megabytes"] < MEGABYTES
    assert said["longest"] < 20_000
    assert (said["outcome"], said["stopped_by"], said["evidence"]) == (
        "grounded_unverified",  # more than a page
        None,
        50,
    )
    assert 0 < said["answers"] < 10_000
    assert all(id.endswith("00") for id in said["ids"])  # which have a name
    tried(inputs=1, questions=1, records=1)
