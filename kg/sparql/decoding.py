"""Answers to SPARQL queries: JSON written and read as rows of terms, and rows read as typed values.

pyoxigraph's answers are written as blocks of text: row by row, it gives up and takes back Python's
lock for each row, which takes seconds where other threads are busy. Those to queries of kgqa's own are
blocks of TSV, of which each term is read once.
"""

import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

import orjson
import pyoxigraph as ox

from kgqa.kg.dialects import XSD
from kgqa.kg.errors import KGError, KGMalformed, KGRejected, KGUnavailable
from kgqa.kg.graph import Row, Rows
from kgqa.kg.sparql.patterns import BLANK_NAMESPACE, NOWHERE
from kgqa.kg.terms import XSD_STRING, Chain, Entity, Literal, Term, Triple, escape_iri, one_line

T = TypeVar("T")

NODE_ID = "nodeID://"  # how Virtuoso names blank nodes: IRIs that it understands in queries as well
VIRTUOSO_ASK = "__ASK_RETVAL"  # the column in which Virtuoso answers ASK: 1 or 0
XSD_BOOLEAN = f"{XSD}boolean"

NO_END = Entity(NOWHERE.strip("<>"))

_BARE_LITERAL = re.compile(  # what TSV writes without quotes; of any length in linear time
    "(?P<boolean>true|false)"
    "|(?P<integer>[+-]?[0-9]+)"
    r"|(?P<decimal>[+-]?[0-9]*\.[0-9]+)"
    r"|(?P<double>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+)"
)

_JSON = json.JSONDecoder(strict=False)  # its escapes are those of a text in TSV, and more
_WIDE_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\U([0-9A-Fa-f]{8})")  # as in Turtle
_SELECT_CLAUSE = re.compile(r"SELECT (?:DISTINCT )?(.*?) WHERE")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,20}(?:\.0*)?")
_SELECTED_COLUMN = re.compile(r"\((?:[^()]|\([^()]*\))* AS \?(\w+)\)|\?(\w+)")


def read_rows(answer: bytes) -> Rows:
    """Read an answer (SPARQL 1.1 Query Results JSON Format).

    Raises:
        KGMalformed: if it is none, or only a part of one.
    """
    try:
        found = _load_json(answer)
        if "boolean" in found:
            return _ask_rows({True: "true", False: "false"}[found["boolean"]])
        names, rows = found["head"]["vars"], found["results"]["bindings"]
        are_lists = isinstance(rows, list) and isinstance(names, list)
        if not (are_lists and all(isinstance(name, str) for name in names)):
            raise TypeError
        columns = tuple(names)
        if columns == (VIRTUOSO_ASK,):
            return _ask_rows({"1": "true", "0": "false"}[rows[0][VIRTUOSO_ASK]["value"]] if rows else "false")
        read = [tuple([_read_term(row[at]) if at in row else None for at in columns]) for row in rows]
        return Rows(columns, read)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        what = error if isinstance(error, json.JSONDecodeError) else "it is JSON of another form"
        raise KGMalformed(f"the graph's answer is not SPARQL's JSON, or not all of it: {what}") from error


def _load_json(answer: bytes) -> Any:
    """Return what JSON says, also where Virtuoso leaves control characters or escapes of Turtle in it."""
    try:
        return orjson.loads(answer)
    except orjson.JSONDecodeError as error:
        with suppress(ValueError, OverflowError, RecursionError):
            found = _JSON.decode(_WIDE_ESCAPE.sub(_unescape, answer.decode()))
            json.dumps(found, ensure_ascii=False).encode()  # which half of a character stops
            return found
        raise error from None


def _unescape(written: re.Match[str]) -> str:
    return f"{written[1]}{json.dumps(chr(int(written[2], 16)))[1:-1]}"


def run_query(store: ox.Store, text: str, step: "CountBytes", *, union: bool = False) -> Rows:
    """Run a SELECT or ASK of kgqa's own; what ``step`` raises before a block of its answer ends it."""
    answer = _selected(store.query(text, use_default_graph_as_union=union))
    if isinstance(answer, ox.QueryBoolean):
        return _ask_rows("true" if answer else "false")
    blocks = _BlockBuffer(step)
    answer.serialize(blocks, format=ox.QueryResultsFormat.TSV)
    head, *lines = blocks.getvalue().decode().split("\n")[:-1]
    columns = tuple(name.removeprefix("?") for name in head.split("\t"))
    read_cell = _Cells().__getitem__
    return Rows(columns, [tuple(map(read_cell, line.split("\t"))) for line in lines])


class _Cells(dict[str, Term | None]):
    """Terms by how pyoxigraph writes them in TSV."""

    def __missing__(self, cell: str) -> Term | None:
        term = self[cell] = _read_term(_parse_cell(cell))
        return term


def _parse_cell(cell: str) -> dict[str, Any] | None:
    """Return a term of SPARQL's TSV as `_read_term` takes it."""
    if not cell or cell.startswith("<<"):  # nothing, or a triple
        return None
    if cell.startswith("<"):
        return {"type": "uri", "value": cell[1:-1]}
    if cell.startswith("_:"):
        return {"type": "bnode", "value": cell[2:]}
    if not cell.startswith('"'):
        if (bare := _BARE_LITERAL.fullmatch(cell)) is None:
            raise KGMalformed(f"the store's answer is not SPARQL's TSV: {one_line(cell, 40)!r}")
        return {"type": "literal", "value": cell, "datatype": f"{XSD}{bare.lastgroup}"}
    quoted, _, tag = cell.rpartition('"')
    text = _JSON.decode(f'{quoted}"') if "\\" in quoted else quoted[1:]
    if tag.startswith("@"):
        return {"type": "literal", "value": text, "xml:lang": tag[1:].partition("--")[0]}
    return {"type": "literal", "value": text, "datatype": tag[3:-1]}


def requested_columns(query: str) -> tuple[str, ...]:
    """Return the columns that a query asks for, in its order; none where it does not list them.

    >>> requested_columns("SELECT DISTINCT ?end (COUNT(*) AS ?n) WHERE { ?s ?p ?end }")
    ('end', 'n')
    """
    head = _SELECT_CLAUSE.match(query)
    return tuple(computed or plain for computed, plain in _SELECTED_COLUMN.findall(head[1])) if head else ()


def select_columns(answer: Rows, columns: tuple[str, ...]) -> Rows:
    """Return the columns of an answer that were asked for; an answer without rows has them all.

    Raises:
        KGMalformed: if it lacks one.
    """
    if not columns or answer.columns == columns:
        return answer
    if lacking := set(columns) - set(answer.columns) if answer.rows else set():
        raise KGMalformed(f"the graph's answer lacks what was asked for: {', '.join(sorted(lacking))}")
    places = [answer.columns.index(column) for column in columns] if answer.rows else []
    return replace(answer, columns=columns, rows=[tuple(row[at] for at in places) for row in answer.rows])


def _ask_rows(answer: str) -> Rows:
    return Rows(("ask",), [(Literal(answer, XSD_BOOLEAN),)])


def _read_term(value: dict[str, Any] | None) -> Term | None:
    """Read a term (§3.2.2); one that is none, such as a triple, is left out.

    Of an IRI that a store has let in, what none may have is escaped (RFC 3987, 3.1): a space is ``%20``.
    """
    if value is None:
        return None
    text, kind = value["value"], value["type"]
    if kind == "triple":
        return None
    if not isinstance(text, str):
        raise TypeError("the value of a term is no text")
    try:
        if kind == "uri":
            blank = text.removeprefix(BLANK_NAMESPACE)
            return Entity(f"_:{blank}" if blank != text else escape_iri(text))
        if kind == "bnode":
            return Entity(text if text.startswith(NODE_ID) else f"_:{text}")
        datatype = value.get("datatype") or XSD_STRING  # of type typed-literal in Virtuoso, as in a draft
        if datatype == XSD_BOOLEAN:
            text = {"1": "true", "0": "false"}.get(text, text)
        return Literal(text, datatype, language=value.get("xml:lang") or "")
    except ValueError:
        return None


def read_integer(term: Term | None) -> int:
    """Read a number, 0 where there is none; raise KGMalformed if it is something else than a whole number."""
    if not isinstance(term, Literal):
        return 0
    if not _WHOLE_NUMBER.fullmatch(term.value):
        raise KGMalformed(f"the graph answers {one_line(term.value, 40)!r} where a number was asked for")
    return int(term.value.partition(".")[0])


def read_pair_counts(answer: Rows) -> tuple[tuple[str, str, int], ...]:
    """Return pairs of relations and their counts: the answer to `queries.both_ways`."""
    return tuple((one.id, other.id, read_integer(n)) for one, other, n in answer.rows if one and other)


def item_at(things: Sequence[T], place: Term | None) -> T:
    """Return the one of some things whose place, from 0, an answer names.

    Raises:
        KGMalformed: if there is no such place.
    """
    number = read_integer(place)
    if not 0 <= number < len(things):
        raise KGMalformed(f"the graph answers about the {number}th of {len(things)} things that it was asked")
    return things[number]


def single_value(answer: Rows) -> Term | None:
    """Return what an answer of one row and one column holds; raise KGMalformed if it has no row."""
    if not answer.rows:
        raise KGMalformed("the graph answers nothing where one row was asked for")
    return answer.rows[0][0]


def is_true(term: Term | None) -> bool:
    """Read a boolean, also as servers write it that answer 1 and 0."""
    return isinstance(term, Literal) and term.value in ("true", "1")


def sort_key(term: Term) -> tuple[bool, str, str, str, str]:
    """Order terms: named before unnamed, then by name, then by id, datatype and language."""
    tag = (term.datatype, term.language) if isinstance(term, Literal) else ("", "")
    return (term.name is None, term.name or "", term.id, *tag)


def path_triples(chain: Chain, nodes: Mapping[int, Term]) -> tuple[Triple, ...]:
    """Make triples of the nodes at places 0 (topic) to the chain's depth; none if one is missing."""
    if len(nodes) <= chain.depth:
        return ()
    triples = []
    for place, hop in enumerate(chain.hops):
        head, tail = nodes[place], nodes[place + 1]
        if not hop.forward:
            head, tail = tail, head
        if isinstance(head, Entity):
            triples.append(Triple(head, hop.relation, tail))
    return tuple(triples)


@dataclass(slots=True)
class ChainRows:
    """The rows of a visit that are about one chain: its ends, the hops that lead on, and what was cut."""

    ends: list[Row] = field(default_factory=list)
    hops: list[Row] = field(default_factory=list)
    cuts: set[str] = field(default_factory=set)


def split_by_chain(answer: Rows, chains: int) -> list[ChainRows]:
    """Part the rows of a visit of ``chains`` chains (`chain_queries.visit_chains`)."""
    parts = [ChainRows() for _ in range(chains)]
    places = {name: place for place, name in enumerate(answer.columns)}
    visit, cut, relation, end = (places.get(name, -1) for name in ("visit", "cut", "relation", "end"))
    for row in answer.rows:
        part = item_at(parts, row[visit])
        if (limit := row[cut]) is not None:
            part.cuts.add(str(limit))
        elif relation >= 0 and row[relation] is not None:
            part.hops.append(row[relation : relation + 2])
        elif end >= 0 and row[end] is not None and row[end] != NO_END:
            part.ends.append(row[end : end + 4])
    return parts


CountBytes = Callable[[int], None]
"""Told of so many bytes more, each time before they are kept; what it raises ends the answer."""


def serialise_answer(answer: Any, limit: int | None, step: CountBytes) -> bytes:
    """Write an answer in JSON, of rows no more than ``limit``; raise KGRejected if it is triples."""
    answer = _selected(answer)
    if isinstance(answer, ox.QuerySolutions) and limit is not None:
        return _serialise_first_rows(answer, limit, step)
    blocks = _BlockBuffer(step)
    answer.serialize(blocks, format=ox.QueryResultsFormat.JSON)
    return blocks.getvalue()


def to_kg_error(error: Exception) -> KGError:
    """Make an error of ours of what came of a query."""
    reason = one_line(str(error), 300)
    if isinstance(error, KGError):
        return type(error)(*error.args)
    if isinstance(error, SyntaxError | UnicodeEncodeError):
        return KGRejected(f"not a SPARQL query: {reason}")
    if isinstance(error, OSError):
        return KGUnavailable(f"the store cannot be read: {reason}")
    if isinstance(error, RuntimeError | MemoryError):
        return KGRejected(f"the store refused the query: {reason or 'it takes too much memory'}")
    return KGUnavailable(f"the store failed: {type(error).__name__}: {reason}")


def _selected(answer: Any) -> Any:
    """Return an answer of rows, or yes or no; raise KGRejected if it is triples."""
    if isinstance(answer, ox.QueryTriples):
        raise KGRejected("only SELECT and ASK are answered")
    return answer


class _BlockBuffer(io.BytesIO):
    """Collects the blocks of an answer; ``step`` is called before each."""

    def __init__(self, step: CountBytes) -> None:
        super().__init__()
        self._step = step

    def write(self, block: Any) -> int:
        self._step(len(block))
        return super().write(block)


def _serialise_first_rows(answer: ox.QuerySolutions, limit: int, step: CountBytes) -> bytes:
    """Write no more than the first rows of an answer: one that kgqa did not ask for may be endless."""
    names = [variable.value for variable in answer.variables]
    rows = []
    for solution in islice(answer, limit):
        row = {name: _term_json(term) for name, term in zip(names, solution, strict=True) if term is not None}
        step(sum(len(text) for term in row.values() for text in term.values()))
        rows.append(row)
    return orjson.dumps({"head": {"vars": names}, "results": {"bindings": rows}})


def _term_json(term: Any) -> dict[str, str]:
    """Write a term in SPARQL's JSON."""
    if isinstance(term, ox.NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, ox.BlankNode):
        return {"type": "bnode", "value": term.value}
    if not isinstance(term, ox.Literal):
        return {"type": "triple", "value": str(term)}
    tag = {"xml:lang": term.language} if term.language else {"datatype": term.datatype.value}
    return {"type": "literal", "value": term.value, **tag}
