"""The examples in docstrings run."""

import doctest
import pkgutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import kgqa

ROOMS = [
    module.name
    for module in pkgutil.walk_packages(kgqa.__path__, "kgqa.")
    if not module.name.startswith(("kgqa.tests", "kgqa.benchmarks", "kgqa.examples", "kgqa.build"))
]


def shows_an_example(name: str) -> bool:
    spec = find_spec(name)
    return bool(spec and spec.origin and ">>>" in Path(spec.origin).read_text(encoding="utf-8"))


WITH_EXAMPLES = [name for name in ROOMS if shows_an_example(name)]


def test_every_module_is_imported() -> None:
    assert [import_module(name).__name__ for name in ROOMS] == ROOMS


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_doctests(module: str) -> None:
    assert doctest.testmod(import_module(module)).failed == 0


def test_there_are_examples() -> None:
    examples = (
        len(test.examples)
        for name in WITH_EXAMPLES
        for test in doctest.DocTestFinder().find(import_module(name))
    )
    assert sum(examples) > 20
