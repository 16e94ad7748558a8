"""Forks while other threads hold what a question needs, and has the child ask; prints what it is told.

Run with the file of a graph.
"""

import faulthandler
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import kgqa
from kgqa.kg.sparql.guard import RDFLIB_LOCK
from kgqa.locks import cached_property
from kgqa.priors import encoder
from kgqa.runtime import resources
from kgqa.runtime.open_once import OpenOnce

SECONDS = 30.0
"""That the child has for its question; it takes a hundredth."""


class Slow:
    """What another thread is computing."""

    def __init__(self, compute: Callable[[], None]) -> None:
        self.compute = compute

    @cached_property
    def value(self) -> int:
        """Wait for ever, or not."""
        self.compute()
        return 1


def ask(graph: str) -> list[str]:
    record = kgqa.ask("Where does Ada live?", kg=graph, method="compose", model="offline")
    return [str(answer["name"]) for answer in record["answers"]]


def hold(begin: Callable[[Callable[[], Any]], Any]) -> None:
    """Have a thread begin something that does not end."""
    held = threading.Event()

    def wait() -> None:
        held.set()
        threading.Event().wait()

    threading.Thread(target=begin, args=(wait,), daemon=True).start()
    held.wait()


def holding(lock: Any) -> Callable[[Callable[[], Any]], None]:
    def held(wait: Callable[[], Any]) -> None:
        with lock:
            wait()

    return held


def main() -> None:
    graph = sys.argv[1]
    assert ask(graph) == ["Ulm"]
    opened: OpenOnce = resources._process
    cached = encoder.CachedEncoder(lambda: encoder.open_encoder())
    for lock in (encoder._blas_lock, resources._tools_lock, RDFLIB_LOCK, opened._guard, cached._opening):
        hold(holding(lock))
    for key in list(opened.things):
        hold(lambda wait, key=key: holding(opened._locks[key])(wait))  # type: ignore[misc]
    hold(lambda wait: Slow(wait).value)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        assert Slow(lambda: None).value == 1
        assert len(cached.encode(["Ada"])) == 1
        sys.stdout.write(" ".join(ask(graph)) + "\n")
        sys.stdout.flush()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status))


main()
