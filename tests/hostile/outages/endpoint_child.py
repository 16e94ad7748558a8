"""A process that uses an endpoint: ``leave`` in the middle of a query, or ``fork``."""

import asyncio
import os
import sys
import warnings
from contextlib import suppress

from kgqa.graphs import context_of
from kgqa.kg.endpoint.client import Endpoint
from kgqa.runtime.resources import open_graph


def leave(url: str) -> None:
    async def run() -> None:
        asked = Endpoint(url)
        await asked.query("SELECT ?x { ?x ?y ?z }")
        with suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await asked.query("SELECT ?z { ?x ?y ?z }")
        sys.stdout.write("gave up\n")

    asyncio.run(run())


def fork(url: str) -> None:
    context = context_of("cor")(kg=(url,), model="offline")

    def name(who: str, id: str) -> None:
        graph = open_graph(context)
        sys.stdout.write(f"{who} {asyncio.run(graph.names([id]))[id]}\n")
        sys.stdout.flush()

    name("parent", "http://t/e/ada")
    warnings.simplefilter("ignore", DeprecationWarning)
    if (pid := os.fork()) == 0:
        name("child", "http://t/e/ada")
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    name("parent", "http://t/e/ada")


if __name__ == "__main__":
    {"leave": leave, "fork": fork}[sys.argv[1]](sys.argv[2])
