"""The table of benchmarks by name."""

import re

import pytest

from kgqa.evaluation.datasets import FORMATS, DatasetError, load
from kgqa.evaluation.datasets.sources import SOURCES, Source, find_part


@pytest.mark.parametrize("source", SOURCES.values(), ids=str)
def test_a_source_says_what_it_is_and_where(source: Source) -> None:
    assert source.about and source.licence and source.citations and source.parts
    assert source.place.startswith("https://")
    assert source.format in (None, *FORMATS)
    files = {name for part in source.parts.values() for name in (*part.files, part.graph) if name}
    assert not any(name.startswith(("/", ".")) or ".." in name for name in files)
    assert all(re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", each) for each in source.checksums.values())
    if source.host == "github":  # a commit, and what each file is there
        assert re.fullmatch("[0-9a-f]{40}", source.revision)
        assert files == source.checksums.keys()


def test_a_name_stands_for_its_first_part() -> None:
    source, part = find_part("CWQ") or pytest.fail("no such benchmark")
    assert (source.name, part) == ("cwq", "test")
    assert find_part("cwq:train") == (source, "train")
    assert find_part("cwq.json") is None


def test_a_part_that_there_is_not_is_one_line_with_those_that_there_are() -> None:
    with pytest.raises(DatasetError, match="webqsp has no part 'dev'; it has test, validation, train"):
        load("webqsp:dev")


def test_what_is_not_here_is_one_line_with_the_command_that_fetches_it() -> None:
    with pytest.raises(DatasetError, match=r"not here yet; fetch it with: kgqa data get qald10 \(1 MB, lic"):
        load("qald10")
