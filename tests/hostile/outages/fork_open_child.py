"""Forks with graphs open, and has the child ask them, then the parent; prints what each is told.

Run with a folder. The child has the seconds of `fork_child` for it.
"""

import faulthandler
import gc
import os
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from kgqa.kg.endpoint.client import Endpoint
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.opening import open_graph
from kgqa.kg.store import file_cache
from kgqa.kg.store.directory import build_store
from kgqa.kg.terms import Chain, Entity
from kgqa.sync import run_sync
from kgqa.tests.support.servers.scripted import answer, saying

SECONDS = 25.0
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def say(who: str, graphs: list[Any], endpoint: Endpoint) -> None:
    """Look for a name and what leads on, ask a query in the process apart, and an endpoint something new."""
    for graph in graphs:
        run_sync(graph.visit_chains([Chain(Entity("http://x/a"))]))
    found = [run_sync(graph.find_entities("Ada"))[0].entity.id for graph in graphs]
    found += [str(len(run_sync(graph.select("SELECT ?s { ?s ?p ?o }")).rows)) for graph in graphs]
    rows = run_sync(endpoint.query(f"SELECT ?x {{ ?x <http://x/{who}> ?z }}")).rows
    sys.stdout.write(f"{who} {' '.join(found)} {len(rows)}\n")
    sys.stdout.flush()


def main() -> None:
    folder = Path(sys.argv[1])
    file, store = folder / "g.nt", folder / "store"
    file.write_text(f'<http://x/a> {LABEL} "Ada" .\n', encoding="utf-8")
    build_store([file], store)
    graphs = [open_graph([file]), open_graph([store])]
    with saying(then=answer("one")) as server:
        endpoint = Endpoint(server.url)
        say("first", graphs, endpoint)
        held = ExitStack()
        held.enter_context(graphs[0]._visits._lock)  # type: ignore[attr-defined]  # as another thread may
        child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            say("child", graphs, endpoint)
            with suppress(KGUnavailable):  # RocksDB would wait for threads that are the parent's
                build_store([file], folder / "other")
                os._exit(1)
            file_cache.MIN_BYTES_KEPT = 1
            graphs = [open_graph([file])]  # what would be kept in a folder is read
            say("read", graphs, endpoint)
            graphs.clear()
            gc.collect()
            os._exit(0)
        held.close()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for graph in graphs:
            graph._executor._sandbox._stop()  # type: ignore[attr-defined]
        say("then", graphs, endpoint)
    sys.stdout.flush()
    os._exit(status)


main()
