"""Reads the branches of blueprints out of SPARQL queries, many of them in several processes.

Parsing takes some 15 ms a query, and Python keeps a process to one core.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeAlias

from kgqa.kg import algebra
from kgqa.kg.algebra import Unreadable
from kgqa.kg.terms import local_name
from kgqa.priors.blueprints.errors import BlueprintError
from kgqa.priors.blueprints.slots import Slot
from kgqa.priors.settings import threads

SHARE = 200
"""Queries that a process of its own is worth starting for."""


class Branch(NamedTuple):
    """The slots from a constant (an IRI, or the value of a literal) to the answer."""

    start: str
    slots: tuple[Slot, ...]


Read: TypeAlias = tuple[Branch, ...] | str
"""The branches of a query, or in a few words why it has none."""


def read(query: str) -> Read:
    """Read one query: of several alternatives (UNION, OPTIONAL) the first."""
    try:
        first = algebra.read(query).alternatives[0]
    except Unreadable as error:
        return str(error).partition(":")[0].partition(" ?")[0]
    return tuple(
        Branch(path.start.id, tuple(Slot(local_name(hop.relation), hop.forward) for hop in path.hops))
        for path in first
    )


def read_all(queries: Iterable[str]) -> dict[str, Read]:
    """Read many queries, each once, in ``KGQA_THREADS`` processes if that is worth it.

    Raises:
        BlueprintError: if a process ends early.
    """
    distinct = list(dict.fromkeys(queries))
    processes = min(threads(), len(distinct) // SHARE)
    if processes < 2:
        return {query: read(query) for query in distinct}
    parts = [distinct[place::processes] for place in range(processes)]
    with ThreadPoolExecutor(processes) as pool:
        answers = list(pool.map(_elsewhere, parts))
    return {
        query: found
        for part, answer in zip(parts, answers, strict=True)
        for query, found in zip(part, answer, strict=True)
    }


def _elsewhere(queries: Sequence[str]) -> list[Read]:
    """Read queries in a process of their own."""
    ended = subprocess.run(
        (sys.executable, "-P", "-m", "kgqa.priors.blueprints.child"),
        input="".join(f"{json.dumps(query)}\n" for query in queries),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if ended.returncode:
        last = (ended.stderr.splitlines() or [f"status {ended.returncode}"])[-1]
        raise BlueprintError(f"a process that reads queries ended early: {last}")
    return [_typed(json.loads(line)) for line in ended.stdout.splitlines()]


def _typed(read: str | list[tuple[str, list[str]]]) -> Read:
    if isinstance(read, str):
        return read
    return tuple(Branch(start, tuple(map(Slot.parse, slots))) for start, slots in read)


def plain(found: Read) -> str | list[tuple[str, list[str]]]:
    """Write what was read as JSON can hold it."""
    return found if isinstance(found, str) else [(start, [*map(str, slots)]) for start, slots in found]
