"""Mutation testing measures what is there, in a copy that does what the code does."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from kgqa.benchmarks.mutants import GROUPS, ROOT, bare

SOURCE = '''
from contextlib import contextmanager
from functools import lru_cache

class Point:
    @property
    def twice(self):
        """Return 2."""
        return 2

    @staticmethod
    def thrice():
        return 3

@lru_cache(maxsize=4)
def half(n):
    return n / 2

@contextmanager
def inside():
    yield "in"
'''


def test_every_module_and_test_of_a_group_is_there() -> None:
    listed = [f"{module}.py" for group in GROUPS for module in group.modules]
    listed += [f"tests/{test}.py" for group in GROUPS for test in group.tests]
    assert [file for file in listed if not (ROOT / file).is_file()] == []


def test_a_decorator_is_put_after_its_function(tmp_path: Path) -> None:
    text = bare(SOURCE)
    assert [line for line in text.splitlines() if "@" in line] == ["    @staticmethod"]
    (tmp_path / "bared.py").write_text(text)
    spec = spec_from_file_location("bared", tmp_path / "bared.py")
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    with found.inside() as where:
        assert (found.Point().twice, found.Point.thrice(), found.half(1), where) == (2, 3, 0.5, "in")
    assert found.half.cache_info().maxsize == 4
