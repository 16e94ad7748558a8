"""A process that runs queries nobody vouches for: whatever one does to it, kgqa lives on.

The first line of JSON that it is given tells of the store; each after it is a query. The answer to
each is a line of JSON with so many ``bytes`` behind it. It ends when nobody asks any more.
"""

import json
import os
import shutil
import sys
import threading
from queue import SimpleQueue
from typing import Any

import pyoxigraph as ox

from kgqa.kg.errors import KGRejected
from kgqa.kg.written import failure, written

Message = dict[str, Any]


def main() -> None:
    """Open the store, then answer a query at a time."""
    given: Message = json.loads(sys.stdin.buffer.readline())
    messages: SimpleQueue[Message] = SimpleQueue()
    threading.Thread(target=_listen, args=(messages, given), daemon=True).start()
    try:
        store = _opened(given["folder"], given["quads"])
    except Exception as error:
        _tell(error)
        os._exit(1)
    _bound(given["memory"])
    _say({}, b"")
    while True:
        asked = messages.get()
        try:
            answer = _answer(store, asked)
        except Exception as error:
            _tell(error)
        else:
            _say({}, answer)


def _listen(messages: "SimpleQueue[Message]", given: Message) -> None:
    """Take messages, and end the process, whatever it is at, when nobody can send any.

    kgqa has ended then, perhaps without a chance to remove a store that was meant for this process.
    """
    while line := sys.stdin.buffer.readline():
        messages.put(json.loads(line))
    try:
        if given["temporary"]:
            shutil.rmtree(given["folder"], ignore_errors=True)
    finally:
        os._exit(0)


def _opened(folder: str, quads: int | None) -> ox.Store:
    """Open a folder, or fill it from a file that is open already."""
    if quads is None:
        return ox.Store.read_only(folder)
    store = ox.Store(folder)
    with os.fdopen(quads, "rb") as file:
        store.bulk_load(file, ox.RdfFormat.N_QUADS)
    store.flush()
    return store


def _bound(memory: int) -> None:
    """Leave so many bytes to take beyond what is taken, where the system tells that; dump no core."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            limit = int(file.read().split()[0]) * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (OSError, ValueError):
        return


def _answer(store: ox.Store, asked: dict[str, Any]) -> bytes:
    left = asked["most"]

    def step(size: int) -> None:
        nonlocal left
        left -= size
        if left < 0:
            raise KGRejected(f"the answer is longer than {asked['most']:,} bytes; ask for less")

    answer = store.query(asked["query"], use_default_graph_as_union=asked["union"])
    return written(answer, asked["limit"], step)


def _tell(error: Exception) -> None:
    known = failure(error)
    _say({"failure": type(known).__name__, "reason": str(known)}, b"")


def _say(said: dict[str, str], content: bytes) -> None:
    line = json.dumps({**said, "bytes": len(content)}).encode()
    sys.stdout.buffer.write(line + b"\n" + content)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
