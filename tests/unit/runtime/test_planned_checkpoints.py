"""A run of VoG can be stopped, stored, edited and taken up again; a thread takes several questions."""

import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from kgqa.graphs import vog
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.runtime.budget import Budget
from kgqa.tests.support.doubles import KEYS, timeless
from kgqa.tests.support.planned import TOWNS, entries, nodes, plan, playing, revision, shown, steps, take

Open = Callable[[str], SparqlGraph]

INPUT: Any = {"question": "Which river is where Ada's husband lives?", "topics": ["Ada"]}
THREAD: Any = {"configurable": {"thread_id": "1"}}
SEARCHES = ("Ada partner Ben", "Finn lives_in Bonn", "Bonn river Rhine")

WRONG = plan(*SEARCHES, answers=["Danube"])
BETTER = ("Ada partner Finn", *SEARCHES[1:])


def wandering(whether: bool = False) -> Any:
    """A model that plans with another husband, and finds the way by the facts."""
    return playing(
        plan_steps=lambda p: (
            {**WRONG, "whether": whether}
            if p.question == INPUT["question"]
            else plan("Cleo lives_in Ulm", answers=["Ulm"])
        ),
        select_relations=take("marriage", "partner", "lives_in", "river"),
        verify_step=lambda p: {"revise": "Ben" in p.step.search},
        revise_locally=revision(*SEARCHES, answers=["nowhere"]),
        revise_ahead=revision(*BETTER, answers=["Rhine"]),
        revise_globally=revision(*SEARCHES, answers=["Ulm"]),
        judge_claim={"verdict": "yes", "favour": [1], "against": []},
    )


@pytest.fixture
def graph_of_towns(graph: Open) -> Any:
    return graph(TOWNS)


@pytest.fixture(params=[False, True], ids=["names", "yes or no"])
def either(request: pytest.FixtureRequest, graph_of_towns: Any) -> Any:
    """The context of a question for names, and of one for yes or no."""
    model = wandering(request.param)
    return vog.VoG(kg=graph_of_towns, model=model, threshold=1, revisions=3, guide_decomposition=True)


@pytest.fixture
def context(graph_of_towns: Any) -> Any:
    return vog.VoG(kg=graph_of_towns, model=wandering(), threshold=1, revisions=3)


@asynccontextmanager
async def stored(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """Checkpoints in a file, of which only plain types are read back."""
    async with aiosqlite.connect(path) as connection:
        yield AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))


async def test_the_runs_visit_every_node(either: Any) -> None:
    record: Any = await vog.graph.ainvoke(INPUT, context=either)
    yes_or_no = record["answers"] == [{"id": "true", "name": "yes"}]
    assert yes_or_no or shown(record) == ["Rhine"]
    unseen = {"look_again"} if yes_or_no else {"look_again", "judge"}
    assert set(vog.graph.builder.nodes) - set(nodes(record)) == unseen
    assert [entry["arm"] for entry in entries(record, "appraise")] == ["local", "lookahead", "global"]
    assert [entry["step"] for entry in entries(record, "expand")] == [1, 2, 3]


async def test_a_run_that_was_interrupted_at_every_step_ends_like_one_that_was_not(
    either: Any, tmp_path: Path
) -> None:
    whole: Any = await vog.graph.ainvoke(INPUT, context=either)
    given, left, times = INPUT, True, 0
    while left:
        async with stored(tmp_path / "runs.sqlite") as saver:
            halting = vog.graph.builder.compile(checkpointer=saver, interrupt_after="*")
            resumed: Any = await halting.ainvoke(given, THREAD, context=either)
            left = bool((await halting.aget_state(THREAD)).next)
        given, times = None, times + 1
    assert times >= len(whole["trace"])
    assert resumed.keys() == KEYS
    assert timeless(resumed) == timeless(whole)


async def test_checkpoints_hold_plain_types_only(
    either: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with stored(tmp_path / "runs.sqlite") as saver:
        graph = vog.graph.builder.compile(checkpointer=saver)
        await graph.ainvoke(INPUT, THREAD, context=either)
        with caplog.at_level(logging.WARNING):
            states = [state.values async for state in graph.aget_state_history(THREAD)]
    assert {"plan", "frontier", "feedback", "pool", "bandit", "best", "supporting"} <= states[0].keys()
    assert caplog.messages == []


async def test_the_state_is_json_after_every_step(either: Any) -> None:
    states = [state async for state in vog.graph.astream(INPUT, context=either, stream_mode="values")]
    for state in states:
        assert json.loads(json.dumps(state, allow_nan=False)).keys() == state.keys()


async def edited(context: Any, at: str, edit: dict[str, Any]) -> Any:
    """Interrupt a run before a node, edit its state, and let it go on."""
    graph = vog.graph.builder.compile(checkpointer=InMemorySaver(), interrupt_before=[at])
    await graph.ainvoke(INPUT, THREAD, context=context)
    forked = await graph.aupdate_state(THREAD, edit)
    resumed = vog.graph.builder.compile(checkpointer=graph.checkpointer)
    return await resumed.ainvoke(None, forked, context=context)


async def test_an_edited_plan_is_followed(context: Any) -> None:
    mine = {"steps": steps(*BETTER[:2]), "answers": ["Bonn"]}
    record = await edited(context, "retrieve_relations", {"plan": mine})
    assert (shown(record), record["outcome"]) == (["Bonn"], "grounded")
    assert entries(record, "choose_arm") == []


async def test_an_edited_bandit_is_gone_by(context: Any) -> None:
    counts = {"local": 1, "lookahead": 1, "global": 0}
    tried = {"counts": counts, "rewards": dict.fromkeys(counts, 0.5)}
    record = await edited(context, "choose_arm", {"bandit": tried})
    assert entries(record, "choose_arm")[0]["arm"] == "global"


async def test_an_edit_that_does_not_fit_is_refused(context: Any) -> None:
    with pytest.raises(ValueError, match=r"feedback\.0\.0"):
        await edited(context, "verify", {"feedback": [["Ada"]]})


async def test_a_question_asked_again_on_its_thread_is_searched_again(either: Any) -> None:
    thread = vog.graph.builder.compile(checkpointer=InMemorySaver())
    first: Any = await thread.ainvoke(INPUT, THREAD, context=either)
    second: Any = await thread.ainvoke(INPUT, THREAD, context=either)
    assert timeless(second) == timeless(first)


@pytest.mark.parametrize(
    ("topic", "budget", "answers", "stopped_by"),
    [
        ("Cleo", {}, ["Ulm"], None),
        ("Cleo", {"llm_calls": 0}, [], "llm_calls"),
        ("Cleo", {"kg_queries": 0}, [], "kg_queries"),
        ("Nobody", {}, [], None),
    ],
    ids=["answered", "without calls", "without queries", "of an unknown topic"],
)
async def test_another_question_on_a_thread_ends_as_it_would_alone(
    either: Any, topic: str, budget: Any, answers: list[str], stopped_by: str | None
) -> None:
    other: Any = {"question": "Where does Cleo live?", "topics": [topic]}
    limited = either.model_copy(update={"budget": Budget(**budget)})
    thread = vog.graph.builder.compile(checkpointer=InMemorySaver())
    await thread.ainvoke(INPUT, THREAD, context=either)
    second: Any = await thread.ainvoke(other, THREAD, context=limited)
    alone: Any = await vog.graph.ainvoke(other, context=limited)
    assert timeless(second) == timeless(alone)
    assert (shown(second), second["stopped_by"]) == (answers, stopped_by)
