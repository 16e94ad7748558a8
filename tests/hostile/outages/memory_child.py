"""A process that measures how it grows: by ``answers`` of an endpoint, or by ``questions``."""

import asyncio
import gc
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

QUESTIONS = 2_000 if os.environ.get("KGQA_EVERY_RUN") else 120
"""Questions of all methods; 2,000 with KGQA_EVERY_RUN=1."""

METHODS = ("cor", "compose", "cog", "vog", "pog", "tog")

ROWS = 9_999

ANSWERS = 50


def resident() -> int:
    """The megabytes of this process now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() >> 20


def say(*numbers: int) -> None:
    sys.stdout.write(" ".join(map(str, numbers)) + "\n")


async def answers() -> None:
    from kgqa.kg.endpoint.client import MAX_CACHED_ROWS, Endpoint
    from kgqa.tests.support.servers.faults import Answer
    from kgqa.tests.support.servers.scripted import answer, saying

    whole = answer(*(f"row {n}" for n in range(ROWS))).body

    def other(exchange: Any) -> Answer:
        number = exchange.request.query.rpartition("#")[2].encode()
        return Answer(200, answer().headers, whole.replace(b"row ", b"row %s " % number))

    with saying(then=other) as server:
        asked, seen = Endpoint(server.url), []
        for n in range(ANSWERS):
            assert len((await asked.query(f"SELECT ?x {{ ?x ?y ?z }} #{n}")).rows) == ROWS
            if n in (ANSWERS // 2, ANSWERS - 1):
                seen.append(resident())
    assert ANSWERS * ROWS > 4 * MAX_CACHED_ROWS
    say(*seen)


async def questions() -> None:
    import kgqa
    from kgqa.kg.opening import open_graph
    from kgqa.tests.conftest import PREFIXES
    from kgqa.tests.support.doubles import FAMILY, children

    path = Path(tempfile.mkdtemp()) / "family.ttl"
    path.write_text(PREFIXES + FAMILY, encoding="utf-8")
    graph, seen = open_graph([path]), []
    for n in range(QUESTIONS):
        asked, method = f"Who are the children of Ada? {n}", METHODS[n // 2 % len(METHODS)]
        how: Any = {"method": "cor", "model": children()} if n % 2 else {"method": method, "model": "offline"}
        assert (await kgqa.aask(asked, topics=["Ada"], kg=graph, **how))["answers"]
        if n in (QUESTIONS // 2, QUESTIONS - 1):
            seen.append(resident())
    path.unlink()
    path.parent.rmdir()
    say(*seen, QUESTIONS)


if __name__ == "__main__":
    run = {"answers": answers, "questions": questions}[sys.argv[1]]
    asyncio.run(run())
