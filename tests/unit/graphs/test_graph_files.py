"""Each graph file holds its own method: what two methods share is a node, not a copy of lines."""

import ast
from itertools import permutations
from pathlib import Path

import pytest

from kgqa import graphs
from kgqa.graphs import METHODS

MOST = 0.1
"""Of the lines of a graph file, what another may have as well."""


def lines_of(method: str) -> list[str]:
    """Return the lines of code: no imports, no docstrings, no lone brackets, nothing that a paper sets."""
    source = Path(graphs.__file__).with_name(f"{method}.py").read_text(encoding="utf-8")
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_preset = isinstance(node, ast.Assign | ast.AnnAssign) and "PRESETS" in ast.dump(node)
        is_paper = isinstance(node, ast.Assign) and "PAPER" in ast.dump(node.targets[0])
        if is_text or is_preset or is_paper or isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    kept = (line.strip() for number, line in enumerate(source.splitlines(), 1) if number not in left_out)
    return [line for line in kept if line.strip("(){}[],")]


@pytest.mark.parametrize(("one", "other"), [*permutations(METHODS, 2)])
def test_no_more_than_a_tenth_is_shared_with_another(one: str, other: str) -> None:
    own, theirs = lines_of(one), {*lines_of(other)}
    shared = [line for line in own if line in theirs]
    assert len(shared) <= MOST * len(own), shared
