"""A run: one record a question whatever happens, to the byte, and never twice."""

import asyncio
import json
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import rdflib
from blockbuster import blockbuster_ctx
from langchain_core.language_models import FakeListChatModel
from langchain_core.language_models.base import LangSmithParams

import kgqa
from kgqa.evaluation.result_files import read_results
from kgqa.evaluation.runs import evaluate as evaluating, ray_cluster
from kgqa.evaluation.runs.progress import Tally
from kgqa.evaluation.runs.records import TIME_FIELDS, RunError
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.models.errors import ModelUnavailable, UnknownModel
from kgqa.tests.support import towns
from kgqa.tests.support.run_fixtures import Run

ALL = [f"q{n:02}" for n in range(towns.TOWNS)]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def ids(out: Path) -> list[str]:
    return [record["id"] for record in lines(out / "results.jsonl")]


def down(*numbers: int) -> Any:
    """A model that cannot be reached for the questions about these towns."""
    names = {f"Town {n}" for n in numbers}
    return towns.guide(lambda p: ModelUnavailable("it is down") if str(p.chain.topic) in names else None)


def broken(*numbers: int) -> Any:
    """A model that raises what no method expects."""
    names = {f"Town {n}" for n in numbers}
    return towns.guide(lambda p: ZeroDivisionError("odd\nthing") if str(p.chain.topic) in names else None)


async def test_every_question_has_one_record_in_the_order_of_the_file(run: Run, out: Path) -> None:
    ended = await run()
    assert ids(out) == ALL
    assert ended.metrics is not None
    assert ended.metrics["hits_at_1"]["value"] == ended.metrics["kg_grounded_rate_strict"]["value"] == 1.0
    assert json.loads((out / "metrics.json").read_text()) == ended.metrics


async def test_a_record_is_that_of_kgqa_without_its_times(run: Run, kg: str, out: Path) -> None:
    await run()
    first = lines(out / "results.jsonl")[0]
    given = towns.question(0)
    topics = given["topic_entities"]
    asked = await kgqa.aask(
        given["question"], topics=topics, method="cor", kg=kg, model=towns.guide(), id="q00"
    )
    assert list(first) == list(asked)
    assert first == {**asked, "usage": {**asked["usage"], **dict.fromkeys(TIME_FIELDS)}}


async def test_the_times_lie_beside_the_records(run: Run, out: Path) -> None:
    await run()
    assert sorted(time["id"] for time in lines(out / "timings.jsonl")) == ALL
    assert all((result.usage["seconds"] or 0) > 0 for result in read_results(out))


async def test_the_head_tells_what_was_asked_of_whom(run: Run, kg: str, out: Path) -> None:
    await run(seed=3, split="test", limit=4)
    head = json.loads((out / "run.json").read_text())
    assert head["kgqa"] == kgqa.__version__
    assert head["config"] == lines(out / "results.jsonl")[0]["config"]
    assert {key: head["dataset"][key] for key in ("name", "format", "split", "limit", "questions")} == {
        "name": "towns",
        "format": "kgqa",
        "split": "test",
        "limit": 4,
        "questions": 4,
    }
    assert (head["graph"], head["seed"]) == (open_graph([kg]).fingerprint, 3)
    assert head["versions"].keys() >= {"python", "langgraph"}


async def test_many_at_a_time_write_the_same_bytes(run: Run, tmp_path: Path) -> None:
    files = []
    for concurrency in (1, 5, 64):
        await run(out=tmp_path / str(concurrency), concurrency=concurrency)
        files.append((tmp_path / str(concurrency) / "results.jsonl").read_bytes())
    assert files[0] == files[1] == files[2]


async def test_no_more_questions_run_than_told(run: Run) -> None:
    running, most = set(), 0

    def note(prompt: Any) -> None:
        nonlocal most
        running.add(str(prompt.chain.topic))
        most = max(most, len(running))
        if prompt.name == "verify_chain" and prompt.chain.depth == 2:
            running.discard(str(prompt.chain.topic))

    await run(model=towns.guide(note), concurrency=3)
    assert most <= 3


async def test_what_is_recorded_is_not_asked_again(run: Run, out: Path) -> None:
    await run(limit=5)
    before = (out / "timings.jsonl").read_bytes()
    again = towns.guide()
    ended = await run(model=again)
    assert {str(prompt.chain.topic) for prompt in again.prompts} == {
        f"Town {n}" for n in range(5, towns.TOWNS)
    }
    assert (out / "timings.jsonl").read_bytes().startswith(before)
    assert (ids(out), ended.tally.total) == (ALL, towns.TOWNS)
    assert json.loads((out / "run.json").read_text())["dataset"]["limit"] is None


async def test_a_complete_run_asks_nothing(run: Run, out: Path) -> None:
    first = await run()
    asked = towns.guide()
    assert (await run(model=asked)).metrics == first.metrics
    assert asked.prompts == []


async def test_an_exception_is_a_failed_record(run: Run, out: Path) -> None:
    ended = await run(model=broken(2))
    assert ids(out) == ALL
    record = lines(out / "results.jsonl")[2]
    assert (record["outcome"], record["error"]) == ("none", "ZeroDivisionError: odd thing")
    assert list(record)[:-1] == list(kgqa.Record.__annotations__)
    assert record["usage"] == dict.fromkeys(record["usage"])
    assert (ended.tally.failed, ended.metrics and ended.metrics["errors"]) == (1, 1)


async def test_an_outage_is_a_failed_record(run: Run, out: Path) -> None:
    ended = await run(model=down(1, 2))
    assert [record["outcome"] for record in lines(out / "results.jsonl")[:3]] == [
        "grounded",
        "model_unavailable",
        "model_unavailable",
    ]
    assert ended.tally.reasons == {"it is down": 2}


async def test_a_record_that_is_no_json_is_a_failed_record(
    run: Run, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgqa.nodes.link.ref", lambda topic: {"id": topic.id, "name": float("nan")})
    await run(limit=1)
    assert lines(out / "results.jsonl")[0]["error"].startswith("ValueError: Out of range float values")


async def test_failed_questions_are_asked_again_when_told(run: Run, out: Path, tmp_path: Path) -> None:
    await run(model=broken(0, 7))
    assert (await run(model=down(7))).tally.failed == 2
    assert (await run(model=down(7), retry_failed=True)).tally.failed == 1
    ended = await run(retry_failed=True)
    assert (ended.tally.failed, ids(out)) == (0, ALL)
    await run(out=tmp_path / "other")
    assert (out / "results.jsonl").read_bytes() == (tmp_path / "other" / "results.jsonl").read_bytes()


@pytest.fixture
def wanted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For how many questions processes were thought of, or a cluster was asked for workers."""
    wanted: list[int] = []

    def how_many(subject: Any, questions: int, concurrency: int) -> int:
        wanted.append(questions)
        return 0

    @asynccontextmanager
    async def spread(subject: Any, head: Any, address: str, questions: int, concurrency: int) -> Any:
        wanted.append(questions)
        if address == "nowhere":
            raise RunError("no Ray cluster")
        yield None

    monkeypatch.setattr(evaluating, "count_processes", how_many)
    monkeypatch.setattr(ray_cluster, "open_cluster", spread)
    return wanted


@pytest.mark.parametrize("ray", [None, "there"])
async def test_workers_are_wanted_for_all_that_will_be_asked(
    run: Run, wanted: list[int], ray: str | None
) -> None:
    await run(model=down(3, 7), limit=10)
    await run(model=down(3), limit=10, retry_failed=True, ray=ray)
    await run(retry_failed=True, ray=ray)
    assert wanted == [10, 2, 3]


async def test_a_torn_record_is_asked_again_beside_the_failed_ones(
    run: Run, out: Path, wanted: list[int]
) -> None:
    await run(model=down(3))
    whole = (out / "results.jsonl").read_bytes()
    (out / "results.jsonl").write_bytes(whole[:-20])
    assert (await run(retry_failed=True)).tally.failed == 0
    assert wanted == [towns.TOWNS, 2]


async def test_nothing_is_touched_before_there_are_workers(run: Run, out: Path, wanted: list[int]) -> None:
    await run(model=down(3))
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(RunError, match="no Ray cluster"):
        await run(retry_failed=True, ray="nowhere")
    with pytest.raises(RunError, match="another --out"):
        await run(retry_failed=True, ray="there", seed=1)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert wanted == [towns.TOWNS, 1]


async def test_a_stopped_run_ends_what_is_running_and_goes_on_later(run: Run, out: Path) -> None:
    stop = asyncio.Event()

    def watch(tally: Tally) -> None:
        if tally.done == 4:
            stop.set()

    await run(limit=2)
    ended = await run(concurrency=3, stop=stop, watch=watch)
    assert (ended.metrics, (out / "metrics.json").exists()) == (None, False)
    assert 4 <= len(ids(out)) == ended.tally.done <= 6
    assert (await run()).metrics is not None
    assert ids(out) == ALL


async def test_a_cancelled_run_can_go_on(run: Run, out: Path) -> None:
    task: asyncio.Task[Any] = asyncio.create_task(
        run(concurrency=2, watch=lambda tally: tally.done < 3 or task.cancel())
    )
    with pytest.raises(asyncio.CancelledError):
        await task
    assert 3 <= len(ids(out)) < towns.TOWNS
    await run()
    assert ids(out) == ALL


async def test_a_cancellation_that_a_question_keeps_to_itself_ends_the_run_all_the_same(
    run: Run, out: Path
) -> None:
    class Deaf:
        name = "deaf"

        async def ask(self, prompt: Any) -> Any:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
            return await towns.guide().ask(prompt)

    task: asyncio.Task[Any] = asyncio.create_task(
        run(model=Deaf(), concurrency=2, watch=lambda tally: tally.done != 2 or task.cancel())
    )
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(ids(out)) <= 4


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"depth": 3}, "depth is 4 there and 3 here"),
        ({"budget": {"tokens": 9}}, "budget.tokens is 200000 there and 9 here"),
        ({"model": "offline"}, "model is scripted there and offline here"),
        ({"seed": 1}, "seed is 0 there and 1 here"),
        ({"split": "test"}, "split is all there and test here"),
        ({"limit": 3}, "a run of 12 questions, not 3"),
    ],
)
async def test_a_folder_of_another_run_is_refused(
    run: Run, out: Path, other: dict[str, Any], words: str
) -> None:
    await run()
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(RunError, match="another --out") as refused:
        await run(**other)
    assert words in str(refused.value)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


async def test_a_changed_question_file_is_refused(run: Run, tmp_path: Path) -> None:
    changing = towns.write(tmp_path / "towns.jsonl")
    await run(dataset=changing)
    towns.write(changing, towns.TOWNS - 1)
    with pytest.raises(RunError, match="the dataset's sha256 is"):
        await run(dataset=changing)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"kg": "nowhere.nt"}, KGUnavailable),
        ({"model": "nobody:nothing"}, UnknownModel),
        ({"dataset": "nowhere.jsonl"}, ValueError),
        ({"split": "dev"}, ValueError),
        ({"breadth": 3}, RunError),
        ({"method": "guess"}, RunError),
        ({"model": "simulated:accuracy=x"}, RunError),
        ({"concurrency": 0}, RunError),
        ({"kg": []}, RunError),
    ],
)
async def test_a_run_that_cannot_begin_leaves_no_folder(
    run: Run, out: Path, given: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await run(**given)
    assert not out.exists()


async def test_records_of_other_questions_are_not_thrown_away(run: Run, out: Path) -> None:
    await run(limit=2)
    with (out / "results.jsonl").open("a") as file:
        file.write('{"id": "q99"}\n')
    with pytest.raises(RunError, match="a record of 'q99', which is no question"):
        await run(limit=2)


async def test_what_is_no_record_is_named(run: Run, out: Path) -> None:
    await run(limit=1)
    with (out / "results.jsonl").open("a") as file:
        file.write('{"id": "q01"}\n')
    with pytest.raises(RunError, match="of 'q01' is no record; delete the line"):
        await run(limit=2)


async def test_nothing_blocks_the_event_loop(run: Run, out: Path) -> None:
    with blockbuster_ctx() as blockbuster:
        blockbuster.functions["os.write"].can_block_in("runs/records.py", "append")
        await run()
    assert ids(out) == ALL


async def test_a_simulated_model_knows_each_question(run: Run, out: Path) -> None:
    ended = await run(model="simulated:accuracy=1.0", concurrency=6)
    assert ended.metrics is not None
    assert ended.metrics["f1"]["value"] == 1.0
    assert ended.head["config"]["model"].startswith("simulated")


async def test_a_chat_model_is_taken_as_it_is_and_named(run: Run, out: Path) -> None:
    class Named(FakeListChatModel):
        model_name: str = "towns-1"

        def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
            return LangSmithParams(ls_provider="fake", ls_model_name=self.model_name)

    ended = await run(model=Named(responses=['{"answers": ["Sea 0"]}']), method="io")
    assert ended.tally.failed == 0
    assert json.loads((out / "run.json").read_text())["config"]["model"] == "fake:towns-1"
    right = [[each["name"] for each in line["answers"]] for line in lines(out / "results.jsonl")]
    assert right == [["Sea 0"]] * towns.TOWNS


async def test_a_graph_of_rdflib_is_asked(run: Run, kg: str) -> None:
    ended = await run(kg=rdflib.Graph().parse(kg), method="cor")
    assert (ended.tally.failed, ended.tally.done) == (0, towns.TOWNS)


async def test_triples_of_a_data_frame_are_asked(run: Run) -> None:
    towns_of = [(f"Town {n}", "river", f"River {n}") for n in range(towns.TOWNS)]
    seas = [(f"River {n}", "mouth", f"Sea {n % 3}") for n in range(towns.TOWNS)]
    ended = await run(kg=pd.DataFrame(towns_of + seas), method="cor")
    assert (ended.tally.failed, ended.tally.done) == (0, towns.TOWNS)
