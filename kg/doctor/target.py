"""The endpoint that is checked, and the findings about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import httpx

from kgqa.kg.dialects import DIALECTS, Dialect
from kgqa.kg.endpoint.client import Endpoint
from kgqa.kg.endpoint.transport import HttpTransport
from kgqa.kg.errors import KGError
from kgqa.kg.graph import Rows
from kgqa.kg.naming import Naming
from kgqa.kg.sparql.decoding import read_rows
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Entity, Triple
from kgqa.retries import RetryPolicy

QUERY_FAILURES = (KGError, httpx.HTTPError, OSError)  # what `HttpTransport.send` raises


class Level(StrEnum):
    """How bad a finding is."""

    GOOD = "good"
    NOTE = "note"
    """Worth knowing; nothing is wrong."""
    WARNING = "warning"
    """kgqa works, but slower, or with less than the graph has."""
    FATAL = "fatal"
    """kgqa cannot be used, or would take a part for the whole."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        check: What was looked at, in a word or two.
        level: How bad it is.
        says: What was found, in plain words.
        advice: What to do; empty where there is nothing to do.
        figures: What was measured: seconds, rows, counts.
    """

    check: str
    level: Level
    says: str
    advice: str = ""
    figures: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about an endpoint, in the order of the checks.

    Attributes:
        url: Its address, without user, password and parameters.
        seconds: That the check took.
        findings: Each of them.
    """

    url: str
    seconds: float
    findings: tuple[Finding, ...]

    @property
    def level(self) -> Level:
        """The worst of the findings; a note is as good as none."""
        found = {finding.level for finding in self.findings}
        return next((level for level in (Level.FATAL, Level.WARNING) if level in found), Level.GOOD)


def good(check: str, says: str, **figures: float | str) -> Finding:
    """Find nothing wrong."""
    return Finding(check, Level.GOOD, says, figures=figures)


def note(check: str, says: str, advice: str = "", **figures: float | str) -> Finding:
    """Find what is worth knowing."""
    return Finding(check, Level.NOTE, says, advice, figures)


def warning(check: str, says: str, advice: str = "", **figures: float | str) -> Finding:
    """Find what makes kgqa slower, or gives it less than the graph has."""
    return Finding(check, Level.WARNING, says, advice, figures)


def fatal(check: str, says: str, advice: str = "", **figures: float | str) -> Finding:
    """Find what kgqa cannot be used with."""
    return Finding(check, Level.FATAL, says, advice, figures)


@dataclass
class CheckTarget:
    """The endpoint, the graph that it holds, and some triples of it.

    Attributes:
        url: Its whole address.
        deadline: Seconds that one request may take.
        is_virtuoso: Whether the server is Virtuoso.
        graph: The graph as methods see it.
        naming: By which predicates it names things.
        sample: Triples to try queries on.
        transport: Sends single queries.
        endpoint: Runs queries as methods do, but asks once.
    """

    url: str
    deadline: float
    is_virtuoso: bool = False
    graph: SparqlGraph = field(init=False)
    naming: Naming = field(init=False)
    sample: list[Triple] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.transport = HttpTransport(self.url)
        self.endpoint = Endpoint(self.url, deadline=self.deadline, retries=RetryPolicy(attempts=1))

    @property
    def dialect(self) -> Dialect:
        """How the graph writes names, types and noise."""
        return DIALECTS[self.graph.dialect]

    async def send(self, text: str, seconds: float | None = None) -> Rows:
        """Send one query and return its rows.

        Raises:
            KGError, httpx.HTTPError, OSError: as `HttpTransport.send`.
        """
        return read_rows((await self.transport.send(text, seconds or self.deadline)).body)

    def entities(self) -> list[str]:
        """Return the ids of all entities in the sample, each once."""
        terms = (term for triple in self.sample for term in (triple.head, triple.tail))
        return list(dict.fromkeys(term.id for term in terms if isinstance(term, Entity)))
