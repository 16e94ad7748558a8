"""How many small mistakes in the code the tests notice: mutation testing, by mutmut.

mutmut changes one thing at a time (a constant, an operator, an argument, a condition) and runs
the tests that reach it. A mutant that some test fails on is killed. For each group the table says
how many are; the rest is written as differences to build/mutants/GROUP.diff, to be looked at.

Four groups are measured: what scores answers, what reads replies, what writes and reads queries,
what holds the budget. Each runs in a copy of the repository, where the package is a folder
``kgqa``. mutmut leaves out module constants, the text of formatted strings and functions with a
decorator; those with one of Python's own are written without it in the copy, so that they count.
"""

import ast
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]

LEAST = 0.85
"""The share of mutants that have to be killed in each group."""

SIDE_BY_SIDE = 2
"""Mutants that are tried at a time."""

MEMORY = 6 << 30
"""Bytes that one process may take; a mutant may fill them."""

LEFT_OUT = (".*", "__pycache__", "*.egg-info", "build", "dist", "docs", "runs")
"""What of the repository's root is not copied."""

SETTINGS = {
    # A fresh process for each mutant: no cache is filled by the code that is not mutated.
    "process_isolation": "forkserver",
    "pytest_add_cli_args": ["--hypothesis-profile=ci", "-p", "no:cacheprovider"],
    "timeout_multiplier": 5.0,
    "timeout_constant": 3.0,
    "use_git_change_detection": False,
}


DECORATORS = ("asynccontextmanager", "cache", "contextmanager", "lru_cache", "property")
"""Decorators that a function can be given after it is defined."""


@dataclass(frozen=True)
class Group:
    """Modules, and the quick tests that are to notice their mistakes; both without ``.py``."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]


GROUPS = (
    Group(
        "metrics",
        ("evaluation/scoring/run_metrics", "evaluation/scoring/matching", "evaluation/scoring/statistics"),
        (
            "unit/evaluation/test_run_metrics",
            "unit/evaluation/test_matching",
            "unit/evaluation/test_statistics",
        ),
    ),
    Group("replies", ("models/parsing",), ("unit/models/test_parsing",)),
    Group(
        "queries",
        ("kg/sparql/queries", "kg/sparql/chain_queries", "kg/sparql/patterns", "kg/sparql/path_extraction"),
        (
            "unit/kg/test_algebra",
            "unit/kg/test_asked",
            "unit/kg/test_chains",
            "unit/kg/test_computed",
            "unit/kg/test_held",
            "unit/kg/test_limits",
            "unit/kg/test_neighbours",
            "unit/kg/test_patterns",
            "unit/kg/test_queries",
            "unit/kg/test_sparql",
            "unit/kg/test_visits",
        ),
    ),
    Group(
        "budget",
        ("kg/meter", "runtime/budget", "runtime/context", "runtime/server_limits", "runtime/node"),
        (
            "integration/serving/test_limits",
            "unit/runtime/test_bounds",
            "unit/runtime/test_budget",
            "unit/runtime/test_context",
            "unit/runtime/test_outages",
            "unit/runtime/test_spending",
            "unit/runtime/test_step",
        ),
    ),
)


def prepared(group: Group, folder: Path) -> None:
    """Lay out a folder that mutmut takes: the package, and the settings beside it."""
    shutil.copytree(ROOT, folder / "kgqa", ignore=_left_out)
    for module in group.modules:
        file = folder / "kgqa" / f"{module}.py"
        file.write_text(bare(file.read_text(encoding="utf-8")), encoding="utf-8")
    settings = SETTINGS | {
        "source_paths": ["kgqa"],
        "only_mutate": [f"kgqa/{module}.py" for module in group.modules],
        "pytest_add_cli_args_test_selection": [f"kgqa/tests/{test}.py" for test in group.tests],
    }
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    ours = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text("\n".join([ours, "[tool.mutmut]", *lines, ""]), encoding="utf-8")


def _left_out(folder: str, names: list[str]) -> set[str]:
    patterns = LEFT_OUT if Path(folder) == ROOT else LEFT_OUT[:2]
    return {name for name in names if any(fnmatch(name, pattern) for pattern in patterns)}


def bare(source: str) -> str:
    """Write decorated functions as ``name = decorator(name)``, in the same place."""
    lines = source.splitlines()
    for node in sorted(ast.walk(ast.parse(source)), key=lambda node: -getattr(node, "lineno", 0)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and len(node.decorator_list) == 1:
            decorator = ast.unparse(node.decorator_list[0])
            if decorator.partition("(")[0] in DECORATORS:
                indent = " " * node.col_offset
                lines.insert(node.end_lineno or 0, f"{indent}{node.name} = {decorator}({node.name})")
                del lines[node.decorator_list[0].lineno - 1]
    return "\n".join([*lines, ""])


def mutmut(folder: Path, *arguments: str) -> str:
    """Run mutmut and give what it prints."""
    run = subprocess.run(
        [sys.executable, "-m", "mutmut", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "mutants")},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    if run.returncode:
        sys.exit(f"mutmut {arguments[0]} failed:\n{run.stdout[-4000:]}{run.stderr[-4000:]}")
    return run.stdout


def measured(group: Group) -> dict[str, int]:
    """Count the mutants of a group by what became of them; keep the differences of those not killed."""
    with tempfile.TemporaryDirectory(prefix="kgqa-mutants-") as name:
        folder = Path(name)
        prepared(group, folder)
        mutmut(folder, "run", "--max-children", str(SIDE_BY_SIDE))
        left = [line.split(": ") for line in mutmut(folder, "results").splitlines()]
        shown = [mutmut(folder, "show", mutant.strip()) for mutant, _ in left]
        mutmut(folder, "export-cicd-stats")
        counts = json.loads((folder / "mutants" / "mutmut-cicd-stats.json").read_text(encoding="utf-8"))
    out = ROOT / "build" / "mutants" / f"{group.name}.diff"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(shown), encoding="utf-8")
    return {kind: int(number) for kind, number in counts.items() if isinstance(number, int)}


def main(names: list[str]) -> int:
    """Measure some groups, or all, and print a line of each; 1 if too few mutants of one are killed."""
    kinds = ("total", "killed", "timeout", "survived", "no_tests")
    print(("{:<9}" + "{:>10}" * 7).format("group", *kinds, "share", "seconds"))
    enough = True
    for group in GROUPS:
        if names and group.name not in names:
            continue
        started = time.perf_counter()
        found = measured(group)
        share = (found["killed"] + found["timeout"]) / found["total"]
        enough &= share >= LEAST
        counts = [f"{found[kind]:>10}" for kind in kinds]
        seconds = time.perf_counter() - started
        print(f"{group.name:<9}", *counts, f"{share:>10.1%}", f"{seconds:>10.0f}", sep="", flush=True)
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
