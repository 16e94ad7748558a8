"""The benchmarks run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kgqa

BENCHMARKS = sorted(Path(kgqa.__file__).with_name("benchmarks").glob("[a-z]*.py"))


@pytest.mark.parametrize("script", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_runs(script: Path, tmp_path: Path) -> None:
    few = ["--entities", "5"] if script.stem == "stores" else []
    settings = {**os.environ, "KGQA_DATA": str(tmp_path)}
    subprocess.run([sys.executable, "-P", str(script), *few], check=True, capture_output=True, env=settings)
