"""The in-memory runtime of `langgraph dev`, mended; in a process of its own, since nothing undoes it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from kgqa.serving.server_patches import patch_inmem_runtime
from kgqa.tests.support.servers.langgraph import missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=str(missing()))

SETTINGS = {
    "DATABASE_URI": ":memory:",
    "REDIS_URI": "fake",
    "LANGGRAPH_RUNTIME_EDITION": "inmem",
    "LANGSMITH_TRACING": "false",
}

SCRIPT = """
import asyncio, json, time, uuid
from langgraph_runtime_inmem import database, ops
from kgqa.serving.server_patches import patch_inmem_runtime

patch_inmem_runtime()

async def checkpoints_go(thread_id, conn):
    await asyncio.sleep(0.01)

async def deleted(conn):
    ops._delete_checkpoints_for_thread = checkpoints_go
    ids = [uuid.uuid4() for _ in range(8)]
    conn.store["threads"] = [dict(thread_id=each, metadata={}) for each in ids]
    await asyncio.gather(*(ops.Threads.delete(conn, each) for each in ids[:4]))
    return [each["thread_id"] for each in conn.store["threads"]] == ids[4:]

async def queued(conn):
    made = dict(assistant_id=uuid.uuid4(), graph_id="cor", config={}, metadata=dict(created_by="system"))
    conn.store["assistants"] = [made]
    async def taken():
        async for run, attempt in ops.Runs.next(wait=True):
            return run["run_id"]
    waits = asyncio.create_task(taken())
    await asyncio.sleep(0.05)
    start, run = time.perf_counter(), uuid.uuid4()
    await ops.Runs.put(conn, made["assistant_id"], {}, run_id=run, status="pending", metadata={},
                       prevent_insert_if_inflight=False)
    return await waits == run, time.perf_counter() - start

async def main():
    async with database.connect() as conn:
        said = dict(deleted=await deleted(conn), queued=await queued(conn))
    print(json.dumps(said))

asyncio.run(main())
"""


def test_threads_of_others_are_kept_and_runs_begin_at_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["deleted"] is True
    is_this, seconds = said["queued"]
    assert is_this
    assert seconds < 0.3


def test_a_runtime_that_is_not_known_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def following(wait: bool, limit: int) -> None: ...
    def delete(conn: object, thread_id: object, ctx: object, *, force: bool) -> None: ...

    other = SimpleNamespace(Runs=SimpleNamespace(next=following), Threads=SimpleNamespace(delete=delete))
    monkeypatch.setitem(sys.modules, "langgraph_runtime_inmem.ops", cast(ModuleType, other))
    patch_inmem_runtime()
    assert (other.Runs.next, other.Threads.delete) == (following, delete)
    assert "Threads.delete" in caplog.text
