"""Nothing in the repository runs what it reads: no pickle, eval or yaml.load, in tests neither."""

import ast
import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from kgqa.tests.hostile.conftest import Tried

ROOT = Path(__file__).parents[3]

BANNED = [
    "import pickle",
    "from pickle import loads",
    "import marshal",
    "import shelve",
    "import dill",
    "import cloudpickle",
    "import joblib",
    "import jsonpickle",
    "import yaml\nyaml.load('x')",
    "import yaml\nyaml.unsafe_load('x')",
    "import torch\ntorch.load('x')",
    "import pandas\npandas.read_pickle('x')",
    "from langchain_core.load import loads",
    "import os\nos.system('x')",
    "import os\nos.popen('x')",
    "import tempfile\ntempfile.mktemp()",
    "eval('1')",
    "exec('1')",
    "import subprocess\nsubprocess.run('x', shell=True)",
]
"""What ruff refuses, in product code and in tests."""

REFUSALS = {"TID251", "S102", "S307", "S602", "S604"}

READS_CODE = [
    "import numpy\nnumpy.load('x', allow_pickle=True)",
    "encoder('x', trust_remote_code=True)",
    "torch_load('x', weights_only=False)",
    "serde(pickle_fallback=True)",
    "__import__('pickle')",
    "import importlib\nimportlib.import_module('marshal')",
    "import builtins\nbuiltins.eval('1')",
]
"""What no rule of ruff refuses, and the walk below does."""

KEYWORDS = {
    "allow_pickle": True,
    "trust_remote_code": True,
    "pickle_fallback": True,
    "weights_only": False,
    "shell": True,
}

MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "jsonpickle"}

RUNS_PAGES = {"tests/integration/docs/test_readme.py", "tests/hostile/outages/test_resume.py"}
"""Tests that run the code of our own pages."""

WATCHES = {"tests/hostile/model/parsing_child.py"}
"""Tests that show that their watch sees an eval."""


def offences(code: str) -> Iterator[str]:
    """Name the calls that would run what they are given or what they read."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
            )
            yield from (name for name in names if name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            bare = (
                isinstance(node.func, ast.Name)
                or getattr(getattr(node.func, "value", None), "id", "") == "builtins"
            )
            if bare and called in {"eval", "exec"}:
                yield called
            if called in {"__import__", "import_module"} and node.args:
                yield from (str(one.value) for one in node.args[:1] if getattr(one, "value", None) in MODULES)
            for word in node.keywords:
                if word.arg in KEYWORDS and getattr(word.value, "value", None) is KEYWORDS[word.arg]:
                    yield str(word.arg)


def sources() -> list[Path]:
    """Return all code of the repository, whatever folder it is in."""
    out = {"build", "dist", "node_modules", ".git", "runs", *(path.name for path in ROOT.glob(".venv*"))}
    return [path for path in ROOT.rglob("*.py") if not out & set(path.relative_to(ROOT).parts)]


def test_no_code_runs_what_it_reads(tried: Tried) -> None:
    found = {}
    for path in sources():
        name = str(path.relative_to(ROOT))
        allowed = {"exec"} if name in RUNS_PAGES else {"eval", "exec"} if name in WATCHES else set()
        if bad := set(offences(path.read_text(encoding="utf-8"))) - allowed:
            found[name] = bad
    assert found == {}
    assert len(sources()) > 500
    tried(inputs=len(BANNED) + len(READS_CODE))


@pytest.mark.parametrize("folder", ["models", "tests/unit/models", "benchmarks", "examples", "docs", "data"])
def test_the_linter_refuses_each_banned_thing_everywhere(folder: str) -> None:
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists() and not shutil.which("ruff"):
        pytest.skip("needs ruff")
    command = [str(ruff) if ruff.exists() else "ruff", "check", "--no-cache", "--output-format", "json"]
    name = str(ROOT / folder / "made_up.py")
    ended = subprocess.run(
        [*command, "--config", str(ROOT / "pyproject.toml"), "--stdin-filename", name, "-"],
        input="\n".join(BANNED),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    told = [one for one in json.loads(ended.stdout) if one["code"] in REFUSALS]
    ends = list(accumulate(len(code.splitlines()) for code in BANNED))
    assert {one["location"]["row"] for one in told} >= set(ends)


@pytest.mark.parametrize(
    "code", [*READS_CODE, "eval('1')", "exec('1')", "import pickle", "run('x', shell=True)"]
)
def test_the_walk_refuses_what_the_linter_knows_nothing_of(code: str) -> None:
    assert list(offences(code))


@pytest.fixture
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "scripts" / "audit.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GOOD = {"name": "good", "version": "1", "vulns": []}
BAD = {"name": "bad", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}
UNKNOWN = {"name": "other", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("told", "end", "said"),
    [
        (["no network"], None, "skipped"),
        ([json.dumps({"dependencies": [UNKNOWN]})], None, "skipped"),
        ([json.dumps({"dependencies": [GOOD]}), json.dumps({"dependencies": [GOOD, UNKNOWN]})], None, ""),
        (
            [json.dumps({"dependencies": [BAD]}), json.dumps({"dependencies": [GOOD, BAD]})],
            "bad 2: CVE-1 (mended in 3)",
            "",
        ),
    ],
)
def test_the_audit_fails_on_what_is_known_and_on_nothing_else(
    audit: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    told: list[str],
    end: str | None,
    said: str,
) -> None:
    answers = iter(told)
    monkeypatch.setattr(audit.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=next(answers)))
    if end:
        with pytest.raises(SystemExit, match="raise these") as failed:
            audit.main()
        assert str(failed.value).endswith(end)
    else:
        audit.main()
    assert (said in capsys.readouterr().err) and not list(answers)
