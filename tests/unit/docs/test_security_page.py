"""Each line of the threat model names the tests that prove it, and they are there."""

import ast
import re
from pathlib import Path

import pytest

import kgqa

ROOT = Path(kgqa.__file__).parent
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (?!writer|what|attack|group|---|\*\*)(.+) \|$", PAGE.partition("## Figures")[0], re.M)
NAMED = re.compile(r"\[`(\w+)`\]\(\.\./(tests/[\w/]+\.py)\)")


def functions_of(file: str) -> set[str]:
    """Return the names of the tests in a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.partition(" | ")[0][:60])
def test_a_line_of_the_threat_model_names_tests_that_exist(row: str) -> None:
    named = NAMED.findall(row)
    assert named, "no test proves this line"
    for test, file in named:
        assert test in functions_of(file), f"{file} has no {test}"


def test_the_threat_model_has_lines() -> None:
    assert len(ROWS) > 20
    assert len(re.findall(r"^## ", PAGE, re.M)) >= 5
