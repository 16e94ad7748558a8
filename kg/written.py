"""Writes what pyoxigraph answers as SPARQL's JSON, and what it raises as one of our errors.

Answers are written as blocks: row by row, pyoxigraph gives up and takes back Python's lock for
each row, which takes seconds where other threads are busy.
"""

import io
from collections.abc import Callable
from itertools import islice
from typing import Any

import orjson
import pyoxigraph as ox

from kgqa.kg.errors import KGError, KGRejected, KGUnavailable

Step = Callable[[int], None]
"""Told of so many bytes more, each time before they are kept; what it raises ends the answer."""


def written(answer: Any, limit: int | None, step: Step) -> bytes:
    """Write an answer, of rows no more than ``limit``.

    Raises:
        KGRejected: if it is triples.
    """
    if isinstance(answer, ox.QueryTriples):
        raise KGRejected("only SELECT and ASK are answered")
    if isinstance(answer, ox.QuerySolutions) and limit is not None:
        return _first(answer, limit, step)
    blocks = _Blocks(step)
    answer.serialize(blocks, format=ox.QueryResultsFormat.JSON)
    return blocks.getvalue()


def failure(error: Exception) -> KGError:
    """Make an error of ours of what came of a query."""
    reason = " ".join(str(error).split())[:300]
    if isinstance(error, KGError):
        return type(error)(*error.args)
    if isinstance(error, SyntaxError | UnicodeEncodeError):
        return KGRejected(f"not a SPARQL query: {reason}")
    if isinstance(error, OSError):
        return KGUnavailable(f"the store cannot be read: {reason}")
    if isinstance(error, RuntimeError | MemoryError):
        return KGRejected(f"the store refused the query: {reason or 'it takes too much memory'}")
    return KGUnavailable(f"the store failed: {type(error).__name__}: {reason}")


class _Blocks(io.BytesIO):
    """Collects the blocks of an answer; ``step`` is called before each."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self._step = step

    def write(self, block: Any) -> int:
        self._step(len(block))
        return super().write(block)


def _first(answer: ox.QuerySolutions, limit: int, step: Step) -> bytes:
    """Write no more than the first rows of an answer: one that kgqa did not ask for may be endless."""
    names = [variable.value for variable in answer.variables]
    rows = []
    for solution in islice(answer, limit):
        row = {name: _json(term) for name, term in zip(names, solution, strict=True) if term is not None}
        step(sum(len(text) for term in row.values() for text in term.values()))
        rows.append(row)
    return orjson.dumps({"head": {"vars": names}, "results": {"bindings": rows}})


def _json(term: Any) -> dict[str, str]:
    """Write a term in SPARQL's JSON."""
    if isinstance(term, ox.NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, ox.BlankNode):
        return {"type": "bnode", "value": term.value}
    if not isinstance(term, ox.Literal):
        return {"type": "triple", "value": str(term)}
    tag = {"xml:lang": term.language} if term.language else {"datatype": term.datatype.value}
    return {"type": "literal", "value": term.value, **tag}
