"""The examples in docstrings run."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import kgqa

ROOMS = [
    module.name
    for module in pkgutil.walk_packages(kgqa.__path__, "kgqa.")
    if not module.name.startswith(("kgqa.tests", "kgqa.benchmarks", "kgqa.examples", "kgqa.build"))
]


@pytest.mark.parametrize("module", ROOMS)
def test_doctests(module: str) -> None:
    assert doctest.testmod(import_module(module)).failed == 0


def test_there_are_examples() -> None:
    examples = (
        len(test.examples) for name in ROOMS for test in doctest.DocTestFinder().find(import_module(name))
    )
    assert sum(examples) > 20
