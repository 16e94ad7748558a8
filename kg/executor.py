"""What answers SPARQL text: the embedded store, or an endpoint."""

from dataclasses import dataclass
from typing import Protocol

from kgqa.kg.terms import Term

Row = tuple[Term | None, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """The answer to a SELECT, or the boolean of an ASK as one literal in column ``ask``."""

    columns: tuple[str, ...]
    rows: list[Row]
    cut: bool = False
    """Whether the server may have left rows out by a limit of its own."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a graph when it is opened.

    Attributes:
        source: The files, folder or address it is at, as ``kgqa kg info`` shows it.
        fingerprint: A short hash of its content; of an endpoint, of its address and what is known of it.
        triples: Number of triples (a triple in two named graphs counts twice); None where nobody has counted.
        predicates: Triples per predicate; empty where an endpoint does not list them in time.
        entities: Number of entities; None where nobody has counted.
        named: Number of entities with a name, likewise.
    """

    source: str
    fingerprint: str
    triples: int | None
    predicates: dict[str, int]
    entities: int | None = None
    named: int | None = None


class Executor(Protocol):
    """Runs SPARQL text and counts it."""

    async def query(self, text: str, *, limit: int | None = None, foreign: bool = False) -> Rows:
        """Run one query that kgqa wrote, or (``foreign``) one that passed the guard.

        At most ``limit`` rows are read.

        Every call, failed or not, is one query of the meters (`kg/meter.py`).

        Raises:
            KGTimeout: if the deadline passed.
            KGRejected: if the query is not understood.
            KGUnavailable: if the store cannot be read.
        """
        ...

    def query_now(self, text: str) -> Rows:
        """Run one query in the calling thread, uncounted: for opening and indexing."""
        ...
