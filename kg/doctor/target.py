"""The endpoint that is checked, and the findings about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

import httpx

from kgqa.kg.dialects import Dialect, dialect_named
from kgqa.kg.endpoint.client import Endpoint
from kgqa.kg.endpoint.transport import HttpTransport
from kgqa.kg.errors import KGError
from kgqa.kg.graph import Rows
from kgqa.kg.naming import Naming
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import Entity, Triple
from kgqa.retries import RetryPolicy

QUERY_FAILURES = (KGError, httpx.HTTPError, OSError)  # what `HttpTransport.send` raises


class Level(StrEnum):
    """How bad a finding is."""

    GOOD = "good"
    NOTE = "note"  # worth knowing; nothing is wrong
    WARNING = "warning"  # kgqa works, but slower, or with less than the graph has
    FATAL = "fatal"  # kgqa cannot be used, or would take a part for the whole


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, in a word or two; what was found, what to do about it, and what was measured."""

    check: str
    level: Level
    says: str
    advice: str = ""
    figures: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about an endpoint, in the order of the checks; its ``url`` without secrets."""

    url: str
    seconds: float
    findings: tuple[Finding, ...]

    @property
    def level(self) -> Level:
        """The worst of the findings; a note is as good as none."""
        found = {finding.level for finding in self.findings}
        return next((level for level in (Level.FATAL, Level.WARNING) if level in found), Level.GOOD)


def _find(level: Level, check: str, says: str, advice: str = "", **figures: float | str) -> Finding:
    return Finding(check, level, says, advice, figures)


good, note = partial(_find, Level.GOOD), partial(_find, Level.NOTE)
warning, fatal = partial(_find, Level.WARNING), partial(_find, Level.FATAL)


@dataclass
class CheckTarget:
    """The endpoint, the graph that it holds, and some triples of it to try queries on."""

    url: str
    deadline: float  # seconds that one request may take
    is_virtuoso: bool = False
    graph: SparqlGraph = field(init=False)
    naming: Naming = field(init=False)
    sample: list[Triple] = field(default_factory=list)
    names_advice: str = ""  # for what takes too long because it lists names

    def __post_init__(self) -> None:
        self.transport = HttpTransport(self.url)
        self.endpoint = Endpoint(self.url, deadline=self.deadline, retries=RetryPolicy(attempts=1))

    @property
    def dialect(self) -> Dialect:
        """How the graph writes names, types and noise."""
        return dialect_named(self.graph.dialect)

    async def send(self, text: str, seconds: float | None = None) -> Rows:
        """Send one query and return its rows; raise any of `QUERY_FAILURES`."""
        return (await self.transport.send(text, seconds or self.deadline)).read()

    def entities(self) -> list[str]:
        """Return the ids of all entities in the sample, each once."""
        terms = (term for triple in self.sample for term in (triple.head, triple.tail))
        return list(dict.fromkeys(term.id for term in terms if isinstance(term, Entity)))
