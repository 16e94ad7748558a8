"""What answers SPARQL text: the embedded store or, later, an endpoint."""

from dataclasses import dataclass
from typing import Protocol

from kgqa.kg.terms import Term

Row = tuple[Term | None, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """The answer to a SELECT, or the boolean of an ASK as one literal in column ``ask``."""

    columns: tuple[str, ...]
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a graph when it is opened.

    Attributes:
        source: The files or folder it came from, as ``kgqa kg info`` shows it.
        fingerprint: A short hash of its content.
        triples: Number of triples (a triple in two named graphs counts twice).
        predicates: Triples per predicate.
        entities: Number of entities; None where nobody has counted.
        named: Number of entities with a name, likewise.
    """

    source: str
    fingerprint: str
    triples: int
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
