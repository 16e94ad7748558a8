from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.kg.opening import open_graph
from kgqa.priors.encoder import Vectors
from kgqa.runtime.node import NodeRuntime
from kgqa.tests.support.guided import FAMILY, Shelf, by_words
from kgqa.tests.support.planned import PLAN_ANSWERS, TOWNS

AskCoG = Callable[..., Awaitable[kgqa.Record]]
AskVoG = Callable[..., Awaitable[kgqa.Record]]

VOG_QUESTION = "the question, a number or when"
"""It may ask for a count or an extreme, and asks for none of the two in so many words."""
Lend = Callable[[Shelf | None], None]


@pytest.fixture
def lend(monkeypatch: pytest.MonkeyPatch) -> Lend:
    """Let every run use an encoder by words and this library."""

    def put(library: Shelf | None) -> None:
        async def encode(runtime: NodeRuntime, texts: Sequence[str], encoder: str | None = None) -> Vectors:
            return by_words(texts)

        async def lent(runtime: NodeRuntime) -> Shelf | None:
            return library

        monkeypatch.setattr(NodeRuntime, "encode", encode)
        monkeypatch.setattr(NodeRuntime, "blueprint_library", lent)

    return put


@pytest.fixture
def cog(turtle: Callable[[str], Path], lend: Lend) -> AskCoG:
    """Ask by CoG, of the family and with the plan first if nothing else is said."""

    async def ask(
        model: Any,
        library: Shelf | None = None,
        *,
        topics: Sequence[str] = ("Ada",),
        question: str = "the question",
        kg: Any = FAMILY,
        **options: Any,
    ) -> kgqa.Record:
        lend(library)
        graph = open_graph([turtle(kg)]) if isinstance(kg, str) else kg
        options = {"planning": "first", **options}
        record = await kgqa.aask(question, topics=topics, method="cog", kg=graph, model=model, **options)
        assert record.keys() == kgqa.Record.__annotations__.keys()
        return record

    return ask


@pytest.fixture
def vog(turtle: Callable[[str], Path]) -> AskVoG:
    """Ask by VoG, of the towns and with the answers of the plan if nothing else is said."""

    async def ask(
        model: Any, *, topics: Sequence[str] = ("Ada",), kg: Any = TOWNS, **options: Any
    ) -> kgqa.Record:
        graph = open_graph([turtle(kg)]) if isinstance(kg, str) else kg
        record = await kgqa.aask(
            VOG_QUESTION, topics=topics, method="vog", kg=graph, model=model, **{**PLAN_ANSWERS, **options}
        )
        assert record.keys() == kgqa.Record.__annotations__.keys()
        return record

    return ask
