"""Reads SPARQL's JSON into rows of terms, whoever wrote it."""

from typing import Any

import orjson

from kgqa.kg.errors import KGMalformed
from kgqa.kg.executor import Rows
from kgqa.kg.sparql import BLANK
from kgqa.kg.terms import XSD_STRING, Entity, Literal, Term

NODE_ID = "nodeID://"
"""How Virtuoso names blank nodes, in answers and in queries."""

VIRTUOSO_ASK = "__ASK_RETVAL"
"""The column in which Virtuoso answers ASK: 1 or 0."""

XSD_BOOLEAN = "http://www.w3.org/2001/XMLSchema#boolean"


def read_rows(answer: bytes) -> Rows:
    """Read an answer (SPARQL 1.1 Query Results JSON Format).

    Raises:
        KGMalformed: if it is none, or only a part of one.
    """
    try:
        found = orjson.loads(answer)
        if "boolean" in found:
            return _asked({True: "true", False: "false"}[found["boolean"]])
        columns, rows = _strings(found["head"]["vars"]), found["results"]["bindings"]
        if columns == (VIRTUOSO_ASK,):
            return _asked({"1": "true", "0": "false"}[rows[0][VIRTUOSO_ASK]["value"]])
        if not isinstance(rows, list):
            raise TypeError("its rows are no list")
        return Rows(columns, [tuple(_term(row.get(column)) for column in columns) for row in rows])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise KGMalformed(f"the graph's answer is not SPARQL's JSON, or not all of it: {error}") from error


def _asked(answer: str) -> Rows:
    return Rows(("ask",), [(Literal(answer, XSD_BOOLEAN),)])


def _strings(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError("its columns are no list of names")
    return tuple(values)


def _term(value: dict[str, Any] | None) -> Term | None:
    """Read a term (§3.2.2); one that is none, such as an IRI with a space in it, is left out."""
    try:
        return _made(value) if value is not None else None
    except ValueError:
        return None


def _made(value: dict[str, Any]) -> Term:
    text, kind = value["value"], value["type"]
    if kind == "triple":
        return Literal(text if isinstance(text, str) else orjson.dumps(text).decode())
    if not isinstance(text, str):
        raise TypeError("the value of a term is no text")
    match kind:
        case "uri":
            return Entity(f"_:{text.removeprefix(BLANK)}" if text.startswith(BLANK) else text)
        case "bnode":
            return Entity(f"_:{text.removeprefix(NODE_ID)}")
    # a draft of the format has typed-literal, and so has Virtuoso
    return Literal(text, value.get("datatype") or XSD_STRING, language=value.get("xml:lang") or "")
