"""What LangGraph asks of every checkpointer (`langgraph-checkpoint-conformance`), asked of both stores."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kgqa.serving.checkpoints import CheckpointSaver, checkpointer

conformance = pytest.importorskip("langgraph.checkpoint.conformance")
Capability = pytest.importorskip("langgraph.checkpoint.conformance.capabilities").Capability


@pytest.mark.parametrize("capability", Capability, ids=lambda capability: capability.value)
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
async def test_a_store_can_do_what_langgraph_asks(
    store: str,
    capability: "Capability",
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = str(tmp_path) if store == "sqlite" else request.getfixturevalue("postgres")
    monkeypatch.setenv("KGQA_CHECKPOINTS", where)

    @conformance.checkpointer_test(name=store)
    async def opened() -> AsyncIterator[CheckpointSaver]:
        async with checkpointer() as saver:
            yield saver

    report = await conformance.validate(opened, capabilities={capability})
    result = report.results[capability.value]
    assert result.failures == []
    assert result.tests_passed >= 4
