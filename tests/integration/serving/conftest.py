"""A family as a file, and the model that reads its questions, for servers that are asked by clients."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kgqa.tests.integration.serving.asking import FAMILY, Reader, reading


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("graph") / "family.ttl"
    path.write_text(FAMILY)
    return path


@pytest.fixture(scope="module")
def model() -> Iterator[Reader]:
    with reading() as reader:
        yield reader
