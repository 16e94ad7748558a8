"""A server whose disk is full where it keeps steps says so in one line, until there is room."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kgqa.tests.hostile.conftest import Tried
from kgqa.tests.integration.serving.asking import FAMILY, INPUT
from kgqa.tests.support.servers.langgraph import Server, missing, serving

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=str(missing())),
    pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux"),
]

TOWNS = ["Bonn", "Ulm"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("full")
    (folder / "family.ttl").write_text(FAMILY)
    kept = {"KGQA_KG": str(folder / "family.ttl"), "KGQA_CHECKPOINTS": str(folder / "kept")}
    with serving(folder, **kept) as running:
        yield running


@contextmanager
def full(server: Server) -> Iterator[None]:
    """Let no file of a server grow, as on a disk that is full."""
    before = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, before)


def refusal(call: Callable[[], Any]) -> Exception:
    with pytest.raises(Exception, match="the steps of a run cannot be kept or read") as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


def test_a_full_disk_is_told_in_one_line_until_there_is_room(server: Server, tried: Tried) -> None:
    from langgraph_sdk import get_sync_client

    with get_sync_client(url=server.url) as client:

        def asked(thread: str | None) -> list[str]:
            record: Any = client.runs.wait(thread, "cor", input=INPUT)
            return [answer["name"] for answer in record["answers"]]

        thread = client.threads.create()["thread_id"]
        assert asked(thread) == asked(None) == TOWNS
        with full(server):
            assert str(refusal(lambda: asked(thread))).startswith("CheckpointsUnavailable: ")
            assert asked(None) == TOWNS  # it keeps nothing
            edit = {"decision": "stop"}
            calls: list[Callable[[], Any]] = [
                lambda: client.threads.update_state(thread, edit, as_node="verify"),
                lambda: client.threads.delete(thread),
            ]
            for call in calls:
                refused: Any = refusal(call)
                assert refused.response.status_code == 503
            assert client.threads.get_state(thread)["values"]["question"] == INPUT["question"]
        assert asked(thread) == asked(None) == TOWNS
        client.threads.delete(thread)
    tried(faults=3, questions=6, records=6)
