"""What becomes of questions and workers when workers are lost."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest

from kgqa.evaluation.question import Question
from kgqa.evaluation.runs import worker_pool as pools
from kgqa.evaluation.runs.records import AskedRecord, RunError, asked_record
from kgqa.evaluation.runs.worker_pool import Sources, WorkerLost, WorkerPool, open_pool

HEAD: Sources = {
    "kgqa": "1",
    "model server": "http://m/v1",
    "relations": "listed",
    "graph": "a",
    "blueprints": None,
    "exemplars": None,
    "wording": None,
}
UNLISTED: Sources = {**HEAD, "relations": None, "graph": "b"}
CONFIG = {"method": "cor"}


class Fake:
    """A worker that takes a moment, and dies of some questions and whatever it asks beside them."""

    def __init__(self, name: str, deadly: set[str], said: Sources) -> None:
        self.name, self._deadly, self._said = name, deadly, said
        self.asking: set[str] = set()
        self.most = 0
        self.ended = False
        self._dead = asyncio.Event()

    async def open(self) -> Sources:
        return self._said

    async def ask(self, question: Question) -> AskedRecord:
        self.asking.add(question.id)
        self.most = max(self.most, len(self.asking))
        if question.id in self._deadly:
            self._dead.set()
        try:
            async with asyncio.timeout(0.01):
                await self._dead.wait()
        except TimeoutError:
            self.asking.discard(question.id)
            return AskedRecord({"id": question.id, "by": self.name}, b"", b"")
        raise WorkerLost("it died")

    async def end(self) -> None:
        self.ended = True


class Staff:
    """Starts workers and remembers them; those that die of a question, and what they say, can be set."""

    def __init__(self) -> None:
        self.workers: list[Fake] = []
        self.deadly: set[str] = set()
        self.says: Callable[[int], Sources] = lambda number: HEAD
        self.room: Callable[[int], bool] = lambda number: True

    async def start(self, place: int) -> Fake:
        number = len(self.workers)
        if not self.room(number):
            await asyncio.Event().wait()
        self.workers.append(Fake(f"worker {number}", self.deadly, self.says(number)))
        return self.workers[-1]

    @asynccontextmanager
    async def asking(self, size: int = 2, concurrency: int = 8) -> Any:
        async with asyncio.timeout(5), open_pool(self.start, size, concurrency, CONFIG, HEAD) as opened:
            yield opened


@pytest.fixture
def staff(monkeypatch: pytest.MonkeyPatch) -> Iterator[Staff]:
    monkeypatch.setattr(pools, "RESTART_PAUSE_SECONDS", 0.001)
    hired = Staff()
    yield hired
    assert all(worker.ended for worker in hired.workers)


async def ask_all(opened: WorkerPool, size: int) -> dict[str, Any]:
    """Ask so many questions at once and give the records by their ids."""
    answers = await asyncio.gather(*(opened.ask(Question(f"q{n}", "?")) for n in range(size)))
    return {asked.record["id"]: asked.record for asked in answers}


async def test_each_question_goes_to_the_worker_with_the_fewest(staff: Staff) -> None:
    async with staff.asking(2, 8) as opened:
        records = await ask_all(opened, 8)
    assert sorted(record["by"] for record in records.values()) == ["worker 0"] * 4 + ["worker 1"] * 4


async def test_a_lost_worker_is_replaced_and_its_questions_asked_again(staff: Staff) -> None:
    async with staff.asking(2, 8) as opened:
        asked = asyncio.create_task(ask_all(opened, 8))
        while not (staff.workers and staff.workers[0].asking):
            await asyncio.sleep(0)
        staff.workers[0]._dead.set()
        records = await asked
    assert len(records) == 8
    assert all("by" in record for record in records.values())
    assert len(staff.workers) == 3
    assert all(worker.most <= 4 for worker in staff.workers)


async def test_a_question_that_kills_whoever_asks_it_fails_alone(
    staff: Staff,
) -> None:
    staff.deadly.add("q3")
    async with staff.asking(2, 8) as opened:
        records = await ask_all(opened, 8)
    failed = records.pop("q3")
    assert (failed["outcome"], failed["error"]) == (
        "none",
        "WorkerLost: 3 workers were lost that asked it: it died",
    )
    assert asked_record(failed)
    assert all("by" in record for record in records.values())
    assert len(staff.workers) == 2 + pools.MAX_LOSSES
    assert [worker.asking for worker in staff.workers if "q3" in worker.asking][-1] == {"q3"}


async def test_where_every_question_kills_the_run_ends(staff: Staff) -> None:
    staff.deadly.update(f"q{n}" for n in range(8))
    with pytest.raises(RunError, match=r"whatever they are asked \(it died\); what is recorded stays"):
        async with staff.asking() as opened:
            await ask_all(opened, 8)


async def test_where_no_worker_comes_the_run_ends(staff: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "MAX_WAIT_SECONDS", 0.02)
    staff.room = lambda number: number < 2
    staff.deadly.add("q0")
    with pytest.raises(RunError, match=r"no worker for 0.02 s; what is recorded stays"):
        async with staff.asking(2, 2) as opened:
            await ask_all(opened, 4)


async def test_a_worker_with_another_graph_is_refused(staff: Staff) -> None:
    staff.says = lambda number: {**HEAD, "graph": "b"} if number == 1 else HEAD
    with pytest.raises(RunError, match=r"worker 1 has another graph than this process \(b, not a\)"):
        async with staff.asking():
            await asyncio.sleep(1)


async def test_a_worker_whose_model_is_elsewhere_is_refused(staff: Staff) -> None:
    staff.says = lambda number: {**HEAD, "model server": "http://n/v1"}
    with pytest.raises(RunError, match=r"has another model server than this process \(http://n/v1, not http"):
        async with staff.asking():
            await asyncio.sleep(1)


async def test_a_worker_to_which_an_endpoint_did_not_list_its_relations_is_started_again(
    staff: Staff,
) -> None:
    staff.says = lambda number: UNLISTED if number < 2 else HEAD
    async with staff.asking(2, 8) as opened:
        records = await ask_all(opened, 8)
    assert {record["by"] for record in records.values()} <= {"worker 2", "worker 3"}
    assert len(staff.workers) == 4


async def test_where_an_endpoint_does_not_list_its_relations_again_it_is_said_what_to_do(
    staff: Staff,
) -> None:
    staff.says = lambda number: UNLISTED
    said = r"its relations were listed here and not there; ask again when the endpoint is quiet"
    with pytest.raises(RunError, match=said):
        async with staff.asking(1):
            await asyncio.sleep(1)
    assert len(staff.workers) == 2


async def test_a_worker_that_cannot_work_says_why(staff: Staff) -> None:
    staff.says = lambda number: {"error": "no such file: a.ttl"}
    with pytest.raises(RunError, match=r"worker [01]: no such file: a.ttl"):
        async with staff.asking():
            await asyncio.sleep(1)


async def test_a_replacement_that_cannot_work_is_left_out(staff: Staff) -> None:
    staff.says = lambda number: HEAD if number < 2 else {"error": "no such file"}
    async with staff.asking(2, 8) as opened:
        asked = asyncio.create_task(ask_all(opened, 8))
        while not (staff.workers and staff.workers[0].asking):
            await asyncio.sleep(0)
        staff.workers[0]._dead.set()
        records = await asked
        await asyncio.sleep(0.05)
    assert {record["by"] for record in records.values()} == {"worker 1"}
    assert len(staff.workers) == 2 + pools.MAX_LOSSES


async def test_workers_that_never_get_to_work_are_not_started_for_ever(staff: Staff) -> None:
    numbers = count()

    async def dies(place: int) -> Fake:
        next(numbers)
        raise WorkerLost("exit status 1")

    staff.start = dies  # type: ignore[method-assign]
    with pytest.raises(RunError, match=r"no worker can be started \(exit status 1\)"):
        async with staff.asking(2) as opened:
            await ask_all(opened, 1)
    assert next(numbers) == 2 * pools.MAX_LOSSES
