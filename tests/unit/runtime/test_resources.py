"""Graphs and models are opened once per process, and what is handed over leaves nothing behind."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

import kgqa
from kgqa.api import make_context
from kgqa.data import SAMPLE_NAME
from kgqa.graphs import context_of
from kgqa.kg import opening
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.priors.exemplars import add_exemplar
from kgqa.runtime import resources
from kgqa.tests.conftest import MEMO
from kgqa.tests.support.doubles import FAMILY, QUESTION, children, shown, timeless

Write = Callable[[str], Path]
Open = Callable[[str], SparqlGraph]


@pytest.fixture
def openings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The graphs opened so far."""
    opened: list[Any] = []
    real = opening.open_graph

    def counted(sources: Any, **options: Any) -> SparqlGraph:
        opened.append(sources)
        return real(sources, **options)

    monkeypatch.setattr(opening, "open_graph", counted)
    return opened


def kept() -> tuple[int, int]:
    return len(resources._process.things), len(resources._process._locks)


async def test_a_graph_is_opened_once_for_many_questions_at_once(turtle: Write, openings: list[Any]) -> None:
    path = str(turtle(FAMILY))
    asked = (kgqa.aask("Where does Ada live?", topics=["Ada"], kg=path, model="offline") for _ in range(20))
    records = await asyncio.gather(*asked)
    assert [shown(record) for record in records] == [["Ulm"]] * 20
    assert openings == [(path,)]


async def test_a_graph_that_could_not_be_opened_is_tried_again(tmp_path: Path, openings: list[Any]) -> None:
    path = tmp_path / "late.nt"
    asked: dict[str, Any] = {"topics": ["Ada"], "kg": str(path), "model": "offline"}
    assert (await kgqa.aask("Where does Ada live?", **asked))["outcome"] == "kg_unavailable"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    path.write_text(
        f'<http://t/ada> {label} "Ada" .\n<http://t/ulm> {label} "Ulm" .\n'
        "<http://t/ada> <http://t/lives_in> <http://t/ulm> .\n"
    )
    assert shown(await kgqa.aask("Where does Ada live?", **asked)) == ["Ulm"]
    assert len(openings) == 2


async def test_what_is_handed_over_leaves_nothing_behind(graph: Open) -> None:
    opened = graph(FAMILY)
    before = kept()
    asked = (kgqa.aask(QUESTION, topics=["Ada"], method="cor", kg=opened, model=children()) for _ in range(5))
    await asyncio.gather(*asked)
    assert kept() == before


async def test_an_open_graph_that_is_called_like_the_sample_is_asked_itself(
    graph: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, model = graph(FAMILY), children()
    monkeypatch.setattr(type(opened), "fingerprint", SAMPLE_NAME)
    monkeypatch.setattr(type(model), "name", "offline")
    record = await kgqa.aask(QUESTION, topics=["Ada"], method="cor", kg=opened, model=model)
    assert (shown(record), record["config"]["kg"]) == (["Ben", "Cleo"], ["sample"])


async def test_of_a_file_that_changes_only_the_last_version_is_kept(turtle: Callable[[str], Path]) -> None:
    sizes = []
    for town in ("Ulm", "Rome", "Bern", "Oslo"):
        path = turtle(FAMILY.replace("Ulm", town))
        record = await kgqa.aask("Where does Ada live?", kg=str(path), model="offline")
        assert shown(record) == [town]
        sizes.append(kept())
    assert len(set(sizes)) == 1


async def test_exemplars_that_are_added_are_read_by_whoever_asks_next(turtle: Write, tmp_path: Path) -> None:
    kg, folder = str(turtle(FAMILY)), tmp_path / "known"
    query = "SELECT ?x { <http://t/e/ada> <http://t/r/lives_in> ?x }"
    counts, held = [], []
    for asked in ("Where does Ada live?", "Where is the home of Ada?"):
        add_exemplar(asked, query, ["Ada"], folder, MEMO.encode, MEMO.name)
        context = make_context("cor", {"kg": (kg,), "model": "offline", "exemplars": str(folder)})
        exemplars = (await resources.open_resources(context)).exemplars
        counts.append(exemplars and exemplars.header.questions)
        held.append(kept())
    assert counts == [1, 2]
    assert held[0] == held[1]  # of the earlier ones nothing is kept


async def test_a_failed_run_leaves_nothing_behind(graph: Open) -> None:
    before = kept()
    with pytest.raises(ValueError, match="no method"):
        await kgqa.aask(QUESTION, method="none", kg=graph(FAMILY), model=children())
    assert kept() == before


async def test_ask_works_where_an_event_loop_runs(graph: Open) -> None:
    assert shown(kgqa.ask(QUESTION, topics=["Ada"], method="cor", kg=graph(FAMILY), model=children())) == [
        "Ben",
        "Cleo",
    ]


def test_ask_works_in_several_threads(graph: Open) -> None:
    opened, together = graph(FAMILY), threading.Barrier(8)

    def one(_: int) -> list[str | None]:
        together.wait()
        return shown(kgqa.ask(QUESTION, topics=["Ada"], method="cor", kg=opened, model=children()))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(8))) == [["Ben", "Cleo"]] * 8


async def test_the_same_question_has_the_same_record(turtle: Write) -> None:
    asked: dict[str, Any] = {"topics": ["Ada"], "kg": str(turtle(FAMILY)), "model": "offline"}
    first, second = [await kgqa.aask("Where do Ada's children live?", **asked) for _ in range(2)]
    assert timeless(first) == timeless(second)


async def test_nothing_blocks_the_event_loop(turtle: Write) -> None:
    path = str(turtle(FAMILY))
    with blockbuster_ctx():
        record = await kgqa.aask("Where does Ada live?", kg=path, model="offline")
    assert (record["outcome"], shown(record)) == ("grounded", ["Ulm"])


@pytest.mark.parametrize("as_list", [False, True])
async def test_a_graph_may_be_given_as_a_path(turtle: Callable[[str], Path], as_list: bool) -> None:
    path = turtle(FAMILY)
    record = await kgqa.aask(
        QUESTION, topics="Ada", method="cor", kg=[path] if as_list else path, model=children()
    )
    assert shown(record) == ["Ben", "Cleo"]


async def test_a_topic_may_be_given_by_its_id_alone(turtle: Callable[[str], Path]) -> None:
    topic: Any = {"id": "http://t/e/ada"}
    record = await kgqa.aask(QUESTION, topics=[topic], method="cor", kg=turtle(FAMILY), model=children())
    assert record["topics"] == [{"id": "http://t/e/ada", "name": "Ada"}]


async def test_chains_are_found_without_solved_questions_whoever_had_them_before() -> None:
    compose = context_of("compose")
    opened = [
        await resources.open_resources(compose(model="offline", solved_questions=solved))
        for solved in (True, False)
    ]
    taught, untaught = (each.tools["retrieve_chains"] for each in opened)
    assert taught is not untaught


async def test_a_context_keeps_its_graph_whatever_others_open_in_its_place(turtle: Write) -> None:
    path = str(turtle(FAMILY))
    first = make_context("cor", {"kg": path, "model": "offline"})
    graph = await asyncio.to_thread(resources.open_graph, first)
    turtle(FAMILY.replace("Bonn", "Rome"))
    other = make_context("cor", {"kg": path, "model": "offline"})
    new = await asyncio.to_thread(resources.open_graph, other)
    assert new is not graph and await asyncio.to_thread(resources.open_graph, first) is graph
    for context, found in ((first, "Bonn"), (other, "Rome")):
        tools = (await resources.open_resources(context)).tools
        assert found in await tools["find_entities"].ainvoke({"name": found})
