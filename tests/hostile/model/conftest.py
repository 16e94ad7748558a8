from collections.abc import Iterator, Sequence

import pytest

from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.priors.encoder import Vectors
from kgqa.runtime import node
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.hostile.model.asking import FAMILY
from kgqa.tests.support.guided import by_words
from kgqa.tests.support.model_stub import Stub, stubbed


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> SparqlGraph:
    path = tmp_path_factory.mktemp("family") / "family.ttl"
    path.write_text(PREFIXES + FAMILY, encoding="utf-8")
    return open_graph([path])


@pytest.fixture(autouse=True)
def _by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare texts by their words: an encoder would take most of the time."""

    async def encode(context: object, texts: Sequence[str], encoder: str | None = None) -> Vectors:
        return by_words(texts)

    monkeypatch.setattr(node, "encode", encode)


@pytest.fixture(scope="module")
def stub() -> Iterator[Stub]:
    with stubbed() as server:
        yield server
