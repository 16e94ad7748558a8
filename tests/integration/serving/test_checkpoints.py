"""Checkpoints and time travel in a program of one's own, on both stores."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kgqa.graphs import context_of, graph_of
from kgqa.serving import checkpoints
from kgqa.serving.checkpoints import checkpointer
from kgqa.tests.integration.serving.asking import FAMILY

INPUT = {"question": "Where does Ada live?", "topics": ["Ada"]}

THREAD: Any = {"configurable": {"thread_id": "ada"}}


@pytest.fixture
def context(tmp_path: Path) -> Any:
    graph = tmp_path / "family.ttl"
    graph.write_text(FAMILY)
    return context_of("cor")(kg=str(graph), model="offline")


@pytest.fixture(params=["sqlite", "postgres"])
async def graph(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Any]:
    """CoR, with its steps kept."""
    where = str(tmp_path / "kept") if request.param == "sqlite" else request.getfixturevalue("postgres")
    monkeypatch.setenv("KGQA_CHECKPOINTS", where)
    async with checkpointer() as saver:
        await saver.adelete_thread("ada")
        yield graph_of("cor").builder.compile(checkpointer=saver)


async def before(node: str, graph: Any) -> Any:
    steps = [step async for step in graph.aget_state_history(THREAD)]
    return next(step for step in steps if step.next == (node,))


def shown(record: Any) -> list[str]:
    return [answer["name"] for answer in record["answers"]]


def timeless(record: Any) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "usage"}


async def test_every_step_is_kept(graph: Any, context: Any) -> None:
    record = await graph.ainvoke(INPUT, THREAD, context=context)
    steps = [step async for step in graph.aget_state_history(THREAD)]
    nodes = [step.next[0] for step in reversed(steps) if step.next]
    assert [entry["node"] for entry in record["trace"]] == [name for name in nodes if name in traced(record)]
    assert steps[0].values["answers"] == record["answers"]


def traced(record: Any) -> set[str]:
    return {entry["node"] for entry in record["trace"]}


async def test_a_run_may_be_run_again_from_a_step(graph: Any, context: Any) -> None:
    record = await graph.ainvoke(INPUT, THREAD, context=context)
    again = await graph.ainvoke(None, (await before("prune", graph)).config, context=context)
    assert timeless(again) == timeless(record)


async def test_a_run_may_be_forked_with_another_decision(graph: Any, context: Any) -> None:
    await graph.ainvoke(INPUT, THREAD, context=context)
    step = await before("verify", graph)
    edit = {"decision": "backtrack", "candidates": []}
    fork = await graph.aupdate_state(step.config, edit, as_node="verify")
    assert shown(await graph.ainvoke(None, fork, context=context)) == ["Bonn", "Ulm"]


async def test_the_steps_of_a_run_are_forgotten_and_those_of_others_kept(graph: Any, context: Any) -> None:
    kept: list[Any] = []
    for run in ("first", "second"):
        config: Any = {**THREAD, "metadata": {"run_id": run}}
        await graph.ainvoke({**INPUT, "id": run}, config, context=context)
        kept.append(await graph.aget_state(THREAD))
    await graph.checkpointer.adelete_for_runs(["second", "x' OR '1'='1"])
    assert await graph.aget_state(THREAD) == kept[0]
    steps = [step async for step in graph.aget_state_history(THREAD)]
    assert {step.metadata["run_id"] for step in steps} == {"first"}
    assert (await graph.ainvoke(INPUT, THREAD, context=context))["answers"] == kept[0].values["answers"]
    await graph.checkpointer.adelete_for_runs(["first"])
    assert {step.metadata.get("run_id") async for step in graph.checkpointer.alist(THREAD)} == {None}


async def test_nothing_but_plain_values_is_read_back(graph: Any) -> None:
    serde = graph.checkpointer.serde
    assert serde.loads_typed(serde.dumps_typed({"a": [1, None, "ü"]})) == {"a": [1, None, "ü"]}
    assert not isinstance(serde.loads_typed(serde.dumps_typed(context_of("cor")())), context_of("cor"))


async def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KGQA_CHECKPOINTS", str(tmp_path / "file"))
    with pytest.raises(RuntimeError, match=r"KGQA_CHECKPOINTS: \S+ cannot be used .*; name a folder$"):
        async with checkpointer():
            pass


async def test_a_database_that_does_not_answer_is_told_without_its_password(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("psycopg_pool")
    monkeypatch.setattr(checkpoints, "CONNECT_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setenv("KGQA_CHECKPOINTS", "postgresql://kgqa:secret@127.0.0.1:1/kgqa")
    with pytest.raises(RuntimeError, match=r"PostgreSQL does not answer; check its address$") as told:
        async with checkpointer():
            pass
    assert "secret" not in caplog.text + str(told.value)
