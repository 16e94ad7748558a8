"""Workers on the nodes of a Ray cluster: the head of the run keeps its folder, they ask."""

import asyncio
import json
import logging
import os
import platform
import socket
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.asking import Asker, Subject
from kgqa.evaluation.runs.event_loop import EXECUTOR_THREADS
from kgqa.evaluation.runs.records import AskedRecord, RunError
from kgqa.evaluation.runs.worker_pool import (
    RESUME_HINT,
    Sources,
    WorkerLost,
    WorkerPool,
    make_order,
    open_pool,
    open_worker,
    read_question,
    write_question,
)
from kgqa.kg.store.embedded import DaemonThreads
from kgqa.kg.terms import one_line

CONNECT_TIMEOUT_SECONDS = 20.0  # how long a cluster may take to answer
HEAD_POLL_SECONDS = 1.0  # seconds between two looks whether the head of the cluster is there
MODEL_SERVER_VARIABLES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")  # keys and folders are those of the node

MAX_REASON_CHARS = 200  # characters that Ray may say about a lost worker

_log = logging.getLogger(__name__)


class RayActor:
    """What runs on a node."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._asker: Asker | None = None

    async def node(self) -> str:
        """Tell where it is."""
        return f"{platform.node()} ({_ray().util.get_node_ip_address()})"

    async def open(self, setup: str) -> str:
        """Open what the run names; see `open_worker`."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(EXECUTOR_THREADS))
        sent = json.loads(setup)
        for name, value in sent["settings"].items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        with suppress(OSError):  # a graph that is not there is told by its name
            os.chdir(sent["folder"])
        self._asker, said = await open_worker(sent["order"], self._held)
        return json.dumps(said)

    async def ask(self, question: bytes) -> tuple[bytes, bytes]:
        """Ask one question and return the lines of its record."""
        if self._asker is None:
            raise WorkerLost("nothing is open")
        asked = await self._asker.ask(read_question(question))
        return asked.times_line, asked.record_line


class RayWorker:
    """An actor on a node, as the head of the run sees it."""

    def __init__(self, actor: Any, node: str, setup: str) -> None:
        self._actor, self._setup = actor, setup
        self.name = f"node {node}"

    async def open(self) -> Sources:
        """Let it open what the run names; see `Worker`."""
        said: Sources = json.loads(await _call_actor(self._actor.open, self._setup))
        return said

    async def ask(self, question: Question) -> AskedRecord:
        """Ask one question; see `Asker.ask`."""
        times, line = await _call_actor(self._actor.ask, write_question(question))
        return AskedRecord(json.loads(line), times, line)

    async def end(self) -> None:
        """End it, wherever it is."""
        with suppress(_ray().exceptions.RayError):
            await asyncio.to_thread(_ray().kill, self._actor)


@asynccontextmanager
async def open_cluster(
    subject: Subject, head: Sources, address: str, questions: int, concurrency: int
) -> AsyncIterator[WorkerPool]:
    """Start a worker on each CPU of a cluster, no more than are needed, and end them afterwards."""
    if not subject.named:
        raise RunError("a cluster is told names: give files or an address for the graph, a model by its name")
    cpus = await _connect_with_timeout(address)
    watching = asyncio.create_task(_watch_head(_ray().get_runtime_context().gcs_address))
    try:
        size = max(1, min(cpus, concurrency, questions))
        settings = _model_server_settings()
        setup = json.dumps({"order": make_order(subject), "folder": os.getcwd(), "settings": settings})
        actors = {"num_cpus": 1, "scheduling_strategy": "SPREAD", "max_concurrency": concurrency + 1}

        async def start(place: int) -> RayWorker:
            """Start an actor where a CPU is free, as soon as one is."""
            actor = _ray().remote(**actors)(RayActor).remote()
            return RayWorker(actor, await _call_actor(actor.node), setup)

        async with open_pool(start, size, concurrency, subject.context.config(), head) as opened:
            yield opened
    finally:
        watching.cancel()
        await asyncio.to_thread(_ray().shutdown)


async def _watch_head(address: str) -> None:
    """Say once that the head of a cluster is lost: Ray ends this process a minute later, if it has not ended.

    Until then workers answer what they were asked.
    """
    host, _, port = address.rpartition(":")
    while True:
        await asyncio.sleep(HEAD_POLL_SECONDS)
        try:
            _, writer = await asyncio.open_connection(host, int(port))
            writer.close()
        except OSError as error:
            why = error.strerror or error
            _log.warning("the head of the Ray cluster at %s is lost (%s); %s", address, why, RESUME_HINT)
            return


async def _call_actor(method: Any, *given: object) -> Any:
    """Return what an actor answers; where it is lost, the last line of what Ray says is the cause."""
    try:
        return await method.remote(*given)
    except _ray().exceptions.RayError as error:
        cause = str(error).strip().rpartition("\n")[2]
        raise WorkerLost(one_line(f"{type(error).__name__}: {cause.strip()}", MAX_REASON_CHARS)) from None


def _model_server_settings() -> dict[str, str | None]:
    """Return what is set here, and None for what is not: a node that has it would ask another server."""
    return {name: os.environ.get(name) for name in MODEL_SERVER_VARIABLES}


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise RunError("a cluster needs the package ray: pip install 'kgqa[ray]'") from None
    return ray


async def _connect_with_timeout(address: str) -> int:
    """Connect to a cluster and return the number of its CPUs."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    _ray()
    if address != "auto":
        await asyncio.to_thread(_check_reachable, address)
    # In a thread of its own, Ray leaves the signals alone and may take as long as it likes.
    cpus = DaemonThreads(1, "ray").submit(partial(_connect, address))
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS):
            return await asyncio.wrap_future(cpus)
    except TimeoutError:
        raise _no_cluster(address, "nothing of Ray answers") from None
    except Exception as error:  # whatever Ray finds wrong
        raise _no_cluster(address, str(error).strip().partition("\n")[0]) from None


def _check_reachable(address: str) -> None:
    """See whether anything listens there: Ray itself tries for two minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        raise RunError(f'--ray takes HOST:PORT, or "auto" for the cluster of this machine, not {address}')
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_SECONDS / 4).close()
    except OSError as error:
        raise _no_cluster(address, error.strerror or str(error)) from None


def _connect(address: str) -> int:
    ray = _ray()
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        return int(ray.cluster_resources().get("CPU", 0))
    except BaseException as error:  # it may also exit
        raise RuntimeError(str(error)) from None


def _no_cluster(address: str, why: str) -> RunError:
    return RunError(f"no Ray cluster at {address} ({why}); start one with ray start --head, or name another")
