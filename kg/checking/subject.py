"""The endpoint that is looked at, and what is known of it so far."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import httpx

from kgqa.kg.dialect import DIALECTS, Dialect
from kgqa.kg.endpoint import Endpoint
from kgqa.kg.executor import Rows
from kgqa.kg.http import Http
from kgqa.kg.naming import Naming
from kgqa.kg.results import read_rows
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Entity, Term
from kgqa.kg.workers import Workers
from kgqa.retries import Retries

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """A triple of the graph: ``head`` is an entity that a query can name."""

    head: Entity
    relation: str
    tail: Term


@dataclass
class Subject:
    """The endpoint, the graph that it holds, and some triples of it.

    Attributes:
        url: Its whole address.
        deadline: Seconds that one request may take.
        is_virtuoso: Whether the server is Virtuoso.
        graph: The graph as methods see it.
        naming: By which predicates it names things.
        sample: Triples to try queries on.
        http: Sends single queries.
        endpoint: Runs queries as methods do, but asks once.
    """

    url: str
    deadline: float
    is_virtuoso: bool = False
    graph: SparqlGraph = field(init=False)
    naming: Naming = field(init=False)
    sample: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.http = Http(self.url)
        self.endpoint = Endpoint(self.url, deadline=self.deadline, retries=Retries(attempts=1))
        self.workers = Workers(8, "kgqa-check")

    @property
    def dialect(self) -> Dialect:
        """How the graph writes names, types and noise."""
        return DIALECTS[self.graph.dialect]

    def send(self, text: str, seconds: float | None = None) -> Rows:
        """Send one query and give its rows; blocks, and raises what `Http.send` raises."""
        return read_rows(self.http.send(text, seconds or self.deadline, lambda: None).body)

    async def in_thread(self, job: Callable[[], T]) -> T:
        """Do what blocks elsewhere; nobody waits for it at the end of the process."""
        return await asyncio.wrap_future(self.workers.submit(job))

    def entities(self) -> list[str]:
        """Give the ids of all entities in the sample, each once."""
        terms = (term for step in self.sample for term in (step.head, step.tail))
        return list(dict.fromkeys(term.id for term in terms if isinstance(term, Entity)))


FAILURES = (httpx.HTTPError, OSError)
"""What `Http.send` raises beside a `KGError`."""


def timed(job: Callable[[], object]) -> float:
    """Do a job, and give the seconds that it took."""
    start = time.monotonic()
    job()
    return time.monotonic() - start
