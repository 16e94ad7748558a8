"""Several servers behind the deployment's proxy."""

import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kgqa.tests.integration.serving.asking import FAMILY, INPUT, MODEL, Reader, reading
from kgqa.tests.support.servers.langgraph import Server, missing
from kgqa.tests.support.servers.langgraph_proxy import PROGRAM, proxied, serving_all

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=str(missing())),
    pytest.mark.skipif(PROGRAM is None, reason="needs haproxy"),
]

TOWNS = ["Bonn", "Ulm"]
KEYS = [f"a-key-for-caller-{number}" for number in range(4)]


@dataclass(frozen=True)
class Deployment:
    """The proxy, the servers, and the thread that each key has made through the proxy."""

    url: str
    servers: list[Server]
    threads: dict[str, str]


def settings(folder: Path, reader: Reader) -> dict[str, str]:
    return {
        "KGQA_API_KEYS": ",".join(f"caller-{number}:{key}" for number, key in enumerate(KEYS)),
        "KGQA_KG": str(folder / "family.ttl"),
        "KGQA_MODEL": MODEL,
        "OPENAI_BASE_URL": reader.url,
    }


def client(url: str, key: str, **headers: str) -> Any:
    from langgraph_sdk import get_sync_client

    return get_sync_client(url=url, api_key=None if headers else key, headers=headers or None)


def place(deployment: Deployment, key: str) -> Server:
    """Find the one server that knows the thread of a key."""
    from langgraph_sdk.errors import NotFoundError

    holding = []
    for server in deployment.servers:
        with client(server.url, key) as direct:
            try:
                direct.threads.get(deployment.threads[key])
            except NotFoundError:
                continue
        holding.append(server)
    [only] = holding
    return only


def answered(reached: Any, thread: str | None) -> list[str]:
    record = reached.runs.wait(thread, "cor", input=INPUT)
    return sorted(answer["name"] for answer in record["answers"])


def await_gone(server: Server) -> None:
    deadline = time.monotonic() + 10
    with suppress(ConnectionError):
        while time.monotonic() < deadline:
            socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))).close()
            time.sleep(0.01)


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("proxy")
    (folder / "family.ttl").write_text(FAMILY)
    with (
        reading() as reader,
        serving_all(folder, 2, **settings(folder, reader)) as servers,
        proxied(folder, servers) as url,
    ):
        threads = {}
        for key in KEYS:
            with client(url, key) as reached:
                threads[key] = reached.threads.create()["thread_id"]
        yield Deployment(url, servers, threads)


def test_callers_are_dealt_out_evenly(deployment: Deployment) -> None:
    assert sorted(Counter(place(deployment, key).pid for key in KEYS).values()) == [2, 2]


@pytest.mark.parametrize("key", KEYS)
def test_a_caller_finds_its_threads_again(deployment: Deployment, key: str) -> None:
    thread = deployment.threads[key]
    with client(deployment.url, key) as reached:
        assert answered(reached, thread) == TOWNS
        assert reached.threads.get_state(thread)["values"]["outcome"] == "grounded"
    with client(deployment.url, key, Authorization=f"Bearer {key}") as otherwise:
        assert otherwise.threads.get(thread)["status"] == "idle"


def test_a_server_that_dies_takes_down_no_other(deployment: Deployment) -> None:
    dead = place(deployment, KEYS[0])
    living = [key for key in KEYS if place(deployment, key) != dead]
    os.kill(dead.pid, signal.SIGKILL)
    await_gone(dead)
    for key in KEYS:
        with client(deployment.url, key) as reached:
            assert answered(reached, deployment.threads[key] if key in living else None) == TOWNS
