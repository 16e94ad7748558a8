"""A run that is spread over a Ray cluster of several nodes, one of which is lost."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from kgqa.data import SAMPLE_GRAPH
from kgqa.evaluation.runs import ray_cluster
from kgqa.evaluation.runs.asking import make_subject
from kgqa.evaluation.runs.evaluate import Evaluation, evaluate
from kgqa.evaluation.runs.progress import Tally
from kgqa.evaluation.runs.records import RunError
from kgqa.evaluation.runs.worker_pool import Sources, WorkerOrder, find_mismatch, make_order, open_worker
from kgqa.runtime import resources
from kgqa.runtime.open_once import OpenOnce
from kgqa.tests.support import towns
from kgqa.tests.support.run_fixtures import Command, Run

QUESTIONS = 24
STORE = 80 * 2**20

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning:ray"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
]


@contextmanager
def cluster(size: int, **settings: str) -> Iterator[Any]:
    """Start a head, which asks nothing, and so many nodes of one CPU each."""
    pytest.importorskip("ray", reason="needs the extra ray")
    with pytest.MonkeyPatch.context() as environment:
        for name, value in {"RAY_USAGE_STATS_ENABLED": "0", "KGQA_THREADS": "1", **settings}.items():
            environment.setenv(name, value)
        from ray.cluster_utils import Cluster

        started = Cluster(shutdown_at_exit=True)
        try:
            started.add_node(num_cpus=0, include_dashboard=False, object_store_memory=STORE)
            for _ in range(size):
                started.add_node(num_cpus=1, object_store_memory=STORE)
            yield started
        finally:
            started.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A cluster of two nodes."""
    with cluster(2) as started:
        yield started


async def asked(out: Path, **given: Any) -> Evaluation:
    model = "simulated:accuracy=0.7,latency=0.02"
    return await evaluate(
        "sample", kg=str(SAMPLE_GRAPH), model=model, limit=QUESTIONS, concurrency=8, out=out, **given
    )


def files(out: Path) -> tuple[bytes, dict[str, Any]]:
    """Return what is the same however a run was spread: its records, its metrics without the times."""
    metrics = json.loads((out / "metrics.json").read_bytes())
    return (out / "results.jsonl").read_bytes(), {**metrics, "seconds": None}


@pytest.mark.timeout(360)
async def test_a_node_that_is_lost_costs_nothing_but_time(nodes: Any, tmp_path: Path) -> None:
    await asked(tmp_path / "here")

    def lost(tally: Tally) -> None:
        if tally.done == 6:
            nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)

    ended = await asked(tmp_path / "there", ray=nodes.address, watch=lost)
    assert len(nodes.worker_nodes) == 1
    assert (ended.tally.done, ended.tally.failed) == (QUESTIONS, 0)
    assert files(tmp_path / "there") == files(tmp_path / "here")


@pytest.mark.timeout(360)
def test_a_run_whose_head_is_killed_goes_on(nodes: Any, command: Command, tmp_path: Path) -> None:
    out = tmp_path / "run"
    slow = "simulated:accuracy=0.7,latency=0.3"
    line = [sys.executable, "-P", "-m", "kgqa.cli.main", *command(out, model=slow, ray=nodes.address)]
    head = subprocess.Popen(line, stdout=subprocess.DEVNULL)
    try:
        until(lambda: (out / "results.jsonl").is_file() and (out / "results.jsonl").read_bytes())
    finally:
        head.kill()
    assert head.wait() == -signal.SIGKILL
    assert 0 < len((out / "results.jsonl").read_bytes().splitlines()) < towns.TOWNS
    again = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert (again.returncode, again.stderr) == (0, "")
    ids = [json.loads(record)["id"] for record in (out / "results.jsonl").read_bytes().splitlines()]
    assert ids == [f"q{n:02}" for n in range(towns.TOWNS)]


@pytest.mark.timeout(360)
def test_a_cluster_whose_head_is_lost_is_told_and_the_run_goes_on(command: Command, tmp_path: Path) -> None:
    """Ray ends a process whose head is away for longer than its time-out, which is shorter here."""
    out = tmp_path / "run"
    line = [sys.executable, "-P", "-m", "kgqa.cli.main"]
    slow = command(out, model="simulated:accuracy=0.7,latency=0.5")
    with cluster(1, RAY_gcs_rpc_server_reconnect_timeout_s="3") as lost:
        spread = [*line, *slow, "--ray", lost.address]
        run = subprocess.Popen(spread, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            until(lambda: (out / "results.jsonl").is_file() and (out / "results.jsonl").read_bytes())
            lost.remove_node(lost.head_node, allow_graceful=False)
            said = run.communicate(timeout=120)[1]
        finally:
            run.kill()
    assert "the head of the Ray cluster at" in said and "the same command goes on" in said
    assert "Traceback" not in said
    again = subprocess.run([*line, *slow], capture_output=True, text=True, timeout=120, check=False)
    assert (again.returncode, again.stderr) == (0, "")
    ids = [json.loads(record)["id"] for record in (out / "results.jsonl").read_bytes().splitlines()]
    assert ids == [f"q{n:02}" for n in range(towns.TOWNS)]


def until(happens: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (
            "127.0.0.1:1",
            "no Ray cluster at 127.0.0.1:1 (Connection refused); start one",
        ),
        ("nowhere", '--ray takes HOST:PORT, or "auto" for the cluster of this machine, not nowhere'),
        ("ray://127.0.0.1:1", "--ray takes HOST:PORT"),
    ],
)
async def test_a_wrong_address_is_one_line_at_once(run: Run, address: str, said: str) -> None:
    pytest.importorskip("ray", reason="needs the extra ray")
    with pytest.raises(RunError) as wrong:
        await run(model="simulated", ray=address)
    assert str(wrong.value).startswith(said)


async def test_what_listens_and_is_no_ray_is_not_waited_for(
    run: Run, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="needs the extra ray")
    monkeypatch.setattr(ray_cluster, "CONNECT_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr(ray_cluster, "_check_reachable", lambda address: None)
    monkeypatch.setattr(ray_cluster, "_connect", lambda address: threading.Event().wait(1))
    with pytest.raises(RunError, match="nothing of Ray answers"):
        await run(model="simulated", ray="127.0.0.1:1")
    assert not out.exists()


async def test_without_ray_it_is_said_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(RunError, match=r"pip install 'kgqa\[ray\]'"):
        await run(model="simulated", ray="127.0.0.1:1")


async def test_what_only_this_process_holds_cannot_be_asked_elsewhere(run: Run) -> None:
    with pytest.raises(RunError, match="a cluster is told names"):
        await run(ray="127.0.0.1:1")


async def opened(kg: str, folder: Path, **other: Any) -> dict[str, Any]:
    """Return what a worker says to an order."""
    order = make_order(make_subject("cor", kg, "simulated", {}, 0))
    sent = {
        "order": {**order, **other},
        "folder": str(folder),
        "settings": ray_cluster._model_server_settings(),
    }
    said: dict[str, Any] = json.loads(await ray_cluster.RayActor().open(json.dumps(sent)))
    return said


async def test_a_worker_that_cannot_open_the_graph_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "absent.ttl" in (await opened("absent.ttl", tmp_path))["error"]


async def test_a_worker_of_another_version_says_so(
    kg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "the run 9.9" in (await opened(kg, tmp_path, kgqa="9.9"))["error"]


async def test_a_worker_takes_relative_names_from_where_the_run_is(
    kg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = await opened(os.path.basename(kg), Path(kg).parent)
    assert len(said["graph"]) > 8


def told(variables: Mapping[str, str], order: WorkerOrder) -> tuple[dict[str, str | None], Sources]:
    """Return the settings that a head with these variables sends, and what it answers from."""
    with pytest.MonkeyPatch.context() as environment, ExitStack() as held:
        for name in ray_cluster.MODEL_SERVER_VARIABLES:
            environment.delenv(name, raising=False)
        for name, value in variables.items():
            environment.setenv(name, value)
        return ray_cluster._model_server_settings(), asyncio.run(open_worker(order, held))[1]


@pytest.mark.parametrize("variable", ray_cluster.MODEL_SERVER_VARIABLES)
@pytest.mark.parametrize("address", [None, "http://me:secret@models.example/v1"])
def test_a_node_asks_the_server_of_the_run_and_no_other(
    kg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, address: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of the node")
    monkeypatch.setattr(resources, "_process", OpenOnce())
    order = make_order(make_subject("cor", kg, "openai:any", {}, 0))
    settings, here = told({variable: address} if address else {}, order)
    resources._process.things.clear()  # a node has opened nothing yet
    monkeypatch.chdir(tmp_path)
    for name in ray_cluster.MODEL_SERVER_VARIABLES:
        monkeypatch.setenv(name, "http://node.example/v1")
    sent = {"order": order, "folder": str(tmp_path), "settings": settings}
    there = json.loads(asyncio.run(ray_cluster.RayActor().open(json.dumps(sent))))
    assert there["model server"] == ("http://models.example/v1" if address else "https://api.openai.com/v1")
    assert find_mismatch("node", there, here) is None
