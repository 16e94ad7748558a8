"""Many questions at once from Python: the records of `ask`, in order, one a question whatever fails."""

import asyncio
import logging
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from langchain_core.language_models import FakeListChatModel

import kgqa
from kgqa.evaluation.runs import batch as batches, processes
from kgqa.evaluation.runs.worker_pool import MAX_LOSSES
from kgqa.kg.opening import open_graph
from kgqa.tests.support import towns
from kgqa.tests.support.doubles import KEYS, shown, timeless

QUESTIONS: list[Any] = [
    {"question": towns.question(n)["question"], "topics": [f"Town {n}"], "id": f"q{n}"} for n in range(6)
]


@pytest.fixture
def pids(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let two processes ask, however few the questions are; their numbers as they start."""
    started: list[int] = []
    real = processes.WorkerProcess.__init__

    def noted(self: Any, process: Any) -> None:
        started.append(process.pid)
        real(self, process)

    monkeypatch.setattr(processes, "CORES", (0, 1))
    monkeypatch.setattr(processes, "QUESTIONS_PER_PROCESS", 1)
    monkeypatch.setattr(processes.WorkerProcess, "__init__", noted)
    return started


def test_processes_give_the_records_of_ask_in_order(kg: str, pids: list[int]) -> None:
    given: dict[str, Any] = {"kg": kg, "model": "offline", "method": "cor", "depth": 3}
    asked = [*QUESTIONS, QUESTIONS[0]["question"], QUESTIONS[2]]  # without its topic, and twice
    records = kgqa.batch(asked, **given)
    assert len(pids) == 2
    assert [record["id"] for record in records][:6] == [f"q{n}" for n in range(6)]
    alone = [kgqa.ask(**(each if isinstance(each, dict) else {"question": each}), **given) for each in asked]
    assert list(map(timeless, records)) == list(map(timeless, alone))
    assert all(record["usage"]["seconds"] > 0 for record in records)
    assert str(records[0]).count("\n") == 3


def test_what_is_remembered_of_a_question_changes_no_record(kg: str) -> None:
    given: dict[str, Any] = {"kg": kg, "model": "offline"}
    first, _, again = (kgqa.ask(**QUESTIONS[n], **given) for n in (3, 4, 3))
    assert timeless(first) == timeless(again)
    assert first["usage"]["kg_queries"] > 0 < first["usage"]["model_queries"]


async def test_it_works_in_asynchronous_code(kg: str, pids: list[int]) -> None:
    records = await kgqa.abatch(QUESTIONS, kg=kg, model="offline")
    assert (len(pids), [record["id"] for record in records]) == (2, [each["id"] for each in QUESTIONS])


async def test_it_works_where_a_loop_runs_and_waits(kg: str) -> None:
    assert len(kgqa.batch(QUESTIONS[:2], kg=kg, model="offline")) == 2


def test_few_questions_are_asked_here(kg: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "open_asker", None)
    assert len(kgqa.batch(QUESTIONS, kg=kg, model="offline")) == 6
    assert kgqa.batch([]) == []


def test_what_cannot_be_asked_has_its_record_at_its_place(kg: str, pids: list[int]) -> None:
    odd: list[Any] = [" ", None, {"q": "?"}, {"question": QUESTIONS[0]["question"], "topics": 7}]
    records = kgqa.batch([QUESTIONS[0], *odd, QUESTIONS[1]], kg=kg, model="offline")
    assert [record.get("error") for record in records] == [
        None,
        "ValueError: the question is empty; write what you want to know",
        "ValueError: the question has to be text, not NoneType",
        "ValueError: a question is given as 'question', and not by q",
        "ValueError: topics are names or ids in a list",
        None,
    ]
    assert all(set(record) >= KEYS for record in records)
    assert [record["id"] for record in records][0::5] == ["q0", "q1"]


def test_a_graph_that_is_not_there_is_told_by_each_record(tmp_path: Path, pids: list[int]) -> None:
    records = kgqa.batch(QUESTIONS, kg=str(tmp_path / "none.nt"), model="offline")
    assert [record["outcome"] for record in records] == ["kg_unavailable"] * 6
    assert not pids


async def test_a_process_that_is_lost_costs_no_record(kg: str, pids: list[int]) -> None:
    async def kill() -> None:
        while not pids:
            await asyncio.sleep(0.01)
        os.kill(pids[0], signal.SIGKILL)

    _, records = await asyncio.gather(kill(), kgqa.abatch(QUESTIONS, kg=kg, model="offline"))
    assert [record["id"] for record in records] == [each["id"] for each in QUESTIONS]
    assert not any("error" in record for record in records)
    assert len(pids) > 2


def test_where_no_process_lives_each_question_has_a_record_that_says_so(
    kg: str, pids: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes.sys, "executable", "/bin/false")
    monkeypatch.setattr("kgqa.evaluation.runs.worker_pool.RESTART_PAUSE_SECONDS", 0.0)
    records = kgqa.batch(QUESTIONS, kg=kg, model="offline")
    assert len(pids) >= MAX_LOSSES
    assert all("no worker can be started" in record["error"] for record in records)
    assert [record["id"] for record in records] == [each["id"] for each in QUESTIONS]


def test_a_language_model_is_asked_many_at_once() -> None:
    together = threading.Barrier(3)

    class Slow(FakeListChatModel):
        def _call(self, *args: Any, **kwargs: Any) -> str:
            together.wait(30)  # fails where fewer than three are asked at a time
            return super()._call(*args, **kwargs)

    model = Slow(responses=['{"answers": ["Danube"]}'])
    records = kgqa.batch(["Which river?"] * 9, method="io", model=model, concurrency=3)
    assert [shown(record) for record in records] == [["Danube"]] * 9


def test_an_open_graph_stays_here_and_that_is_said(
    kg: str, pids: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="kgqa"):
        records = kgqa.batch(QUESTIONS, kg=open_graph([kg]), model="offline")
    assert (len(records), pids) == (6, [])
    said = "an open graph or model cannot go to other processes: this one asks alone; 2 would ask if both had"
    assert [entry.getMessage() for entry in caplog.records] == [f"{said} names"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"questions": ["?"], "dept": 3}, "compose has no option 'dept'"),
        ({"questions": ["?"], "method": "none"}, "no method is called 'none'"),
        ({"questions": ["?"], "concurrency": 0}, "at least 1 at a time, not 0"),
        ({"questions": "Who?"}, "questions come in a list; for one alone there is ask"),
        ({"questions": pd.DataFrame({"question": ["?"]})}, 'of a data frame: frame.to_dict\\("records"\\)'),
    ],
)
def test_what_is_wrong_for_all_is_raised(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        kgqa.batch(**arguments)
