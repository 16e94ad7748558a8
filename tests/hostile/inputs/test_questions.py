"""Whatever is asked, by whatever method: one record, in time; no question is a path or a query."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.graphs import METHODS
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.prompts.base import MAX_QUESTION_CHARS
from kgqa.tests.conftest import MEMO, PREFIXES
from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.hostile.inputs.strings import BLANK, LONG, MB, SHORT, UNSEEN
from kgqa.tests.unit.evaluation.simulation import family

SEARCHING = ("compose", "cor", "cog", "vog", "pog", "pog_egp", "tog")

SECONDS = 30.0
"""That a question may take, on a machine that does other things as well; the slowest takes under one."""


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> SparqlGraph:
    path = tmp_path_factory.mktemp("family") / "family.ttl"
    path.write_text(PREFIXES + family.FAMILY, encoding="utf-8")
    return open_graph([path], encode=MEMO.encode)


@pytest.fixture(scope="module")
def kg(graph: SparqlGraph) -> SparqlGraph:
    return graph


async def asked(question: str, **given: Any) -> kgqa.Record:
    """Ask, and look at the record and the time it took."""
    started = time.perf_counter()
    record = await kgqa.aask(question, **given)
    assert time.perf_counter() - started < SECONDS, question[:40]
    assert record.keys() == kgqa.Record.__annotations__.keys()
    assert record["question"] == question.encode("utf-8", "replace").decode()
    assert record["outcome"] != "kg_unavailable"
    json.dumps(record, allow_nan=False, ensure_ascii=False).encode()
    return record


@pytest.mark.parametrize("method", SEARCHING)
def test_offline_every_question_ends_in_one_record(kg: str, method: str, tried: Tried) -> None:
    some = (*SHORT[::4], *LONG) if method == "cor" else (*UNSEEN[::3], *LONG[::6])
    questions = [text for text in some if text.strip()]

    async def all_of_them() -> None:
        for question in questions:
            record = await asked(question, method=method, kg=kg, model="offline")
            assert record["outcome"] in ("grounded", "grounded_unverified", "none")

    asyncio.run(all_of_them())
    tried(inputs=len(questions), questions=len(questions), records=len(questions))


@pytest.mark.parametrize("method", [each for each in METHODS if each != "draft"])  # which nobody simulates
def test_with_a_model_every_question_ends_in_one_record(
    graph: SparqlGraph, kg: str, method: str, tried: Tried
) -> None:
    questions = [text for text in (*SHORT[::9], *LONG[::9], "\x00" * 10 * MB) if text.strip()]
    model = SimulatedModel(family.question("ulm bonn", "parent born_in"), graph, ErrorRates(recall=1.0))

    async def all_of_them() -> None:
        for question in questions:
            record = await asked(question, method=method, kg=kg, model=model, topics=["Ann"])
            assert record["answers"] or method in ("io", "cot", "sc")

    asyncio.run(all_of_them())
    tried(inputs=len(questions), questions=len(questions), records=len(questions))


async def test_topics_and_ids_that_the_graph_does_not_have_are_told(kg: str, tried: Tried) -> None:
    names = [text for text in (*SHORT[1::2], *LONG) if text.strip()]
    for name in names:
        by_name = await asked("Where?", topics=[name], id=name, kg=kg, model="offline")
        by_id = await asked("Where?", topics=[{"id": name, "name": None}], kg=kg, model="offline")
        for record in (by_name, by_id):
            link = record["trace"][0]
            assert not record["answers"] or record["topics"], name[:40]
            assert len(str(link.get("error", ""))) < 1_000
    many = await asked("Where?", topics=[f"nobody {n}" for n in range(20_000)], kg=kg, model="offline")
    assert many["stopped_by"] == "kg_queries"
    tried(inputs=2 * len(names) + 1, questions=2 * len(names) + 1, records=2 * len(names) + 1)


async def test_what_no_node_reads_of_a_question_is_told(kg: str, tried: Tried) -> None:
    whole = "Where was Ann born?".ljust(MAX_QUESTION_CHARS)
    record = await asked(f"{whole}And Ben?", kg=kg, model="offline")
    assert record["trace"][0]["unread"] == len("And Ben?")
    assert "unread" not in (await asked(whole, kg=kg, model="offline"))["trace"][0]
    others = await asked(f"{whole}And Cleo?", kg=kg, model="offline")
    assert others["id"] != record["id"]
    tried(inputs=2, questions=3, records=3)


async def test_a_question_opens_no_file(
    kg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: Tried
) -> None:
    """What is written nowhere is read nowhere: the folder stays empty, and a file of that name unread."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("Ulm")
    for text in (
        "secret",
        "./secret",
        str(tmp_path / "secret"),
        f"file://{tmp_path}/secret",
        "@secret",
        "$(cat secret)",
    ):
        record = await asked(text, topics=[text], id=text, kg=kg, model="offline")
        assert not record["answers"]
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    tried(inputs=6, questions=6, records=6)


@pytest.mark.parametrize("question", ["", *BLANK[:3], None, 5, b"who", ["who"], {"question": "who"}, True])
def test_what_is_no_question_is_refused_in_one_line(question: Any) -> None:
    with pytest.raises(ValueError, match=r"^the question (is empty|has to be text)[^\n]*$"):
        kgqa.ask(question, method="cor", kg="nowhere")
