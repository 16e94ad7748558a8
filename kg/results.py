"""Reads SPARQL's JSON into rows of terms, whoever wrote it."""

import re
from dataclasses import replace
from typing import Any

import orjson

from kgqa.kg.errors import KGMalformed
from kgqa.kg.executor import Rows
from kgqa.kg.sparql import BLANK
from kgqa.kg.terms import XSD_STRING, Entity, Literal, Term

NODE_ID = "nodeID://"
"""How Virtuoso names blank nodes: IRIs that it understands in queries as well."""

VIRTUOSO_ASK = "__ASK_RETVAL"
"""The column in which Virtuoso answers ASK: 1 or 0."""

XSD_BOOLEAN = "http://www.w3.org/2001/XMLSchema#boolean"

_HEAD = re.compile(r"SELECT (?:DISTINCT )?(.*?) WHERE")
_COLUMN = re.compile(r"\((?:[^()]|\([^()]*\))* AS \?(\w+)\)|\?(\w+)")


def read_rows(answer: bytes) -> Rows:
    """Read an answer (SPARQL 1.1 Query Results JSON Format).

    Raises:
        KGMalformed: if it is none, or only a part of one.
    """
    try:
        found = orjson.loads(answer)
        if "boolean" in found:
            return _asked({True: "true", False: "false"}[found["boolean"]])
        columns, rows = _names(found["head"]["vars"]), _listed(found["results"]["bindings"])
        if columns == (VIRTUOSO_ASK,):
            return _asked({"1": "true", "0": "false"}[rows[0][VIRTUOSO_ASK]["value"]] if rows else "false")
        return Rows(columns, [tuple(_term(row.get(column)) for column in columns) for row in rows])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise KGMalformed(f"the graph's answer is not SPARQL's JSON, or not all of it: {error}") from error


def columns_of(query: str) -> tuple[str, ...]:
    """Give the columns that a query asks for, in its order; none where it does not list them.

    >>> columns_of("SELECT DISTINCT ?end (COUNT(*) AS ?n) WHERE { ?s ?p ?end }")
    ('end', 'n')
    """
    head = _HEAD.match(query)
    return tuple(computed or plain for computed, plain in _COLUMN.findall(head[1])) if head else ()


def fitted(answer: Rows, columns: tuple[str, ...]) -> Rows:
    """Give the columns of an answer that were asked for, in that order; an answer without rows has them all.

    Raises:
        KGMalformed: if it lacks one.
    """
    if not columns or answer.columns == columns:
        return answer
    if lacking := set(columns) - set(answer.columns) if answer.rows else set():
        raise KGMalformed(f"the graph's answer lacks what was asked for: {', '.join(sorted(lacking))}")
    places = [answer.columns.index(column) for column in columns] if answer.rows else []
    return replace(answer, columns=columns, rows=[tuple(row[at] for at in places) for row in answer.rows])


def _asked(answer: str) -> Rows:
    return Rows(("ask",), [(Literal(answer, XSD_BOOLEAN),)])


def _listed(values: Any) -> list[Any]:
    if not isinstance(values, list):
        raise TypeError("what should be a list is none")
    return values


def _names(values: Any) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in _listed(values)):
        raise TypeError("a column has no name")
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
        raise ValueError("a triple that stands for a term is none of RDF 1.1")
    if not isinstance(text, str):
        raise TypeError("the value of a term is no text")
    match kind:
        case "uri":
            return Entity(f"_:{text.removeprefix(BLANK)}" if text.startswith(BLANK) else text)
        case "bnode":
            return Entity(text if text.startswith(NODE_ID) else f"_:{text}")
    datatype = value.get("datatype") or XSD_STRING  # of type typed-literal in Virtuoso, as in a draft
    if datatype == XSD_BOOLEAN:
        text = {"1": "true", "0": "false"}.get(text, text)
    return Literal(text, datatype, language=value.get("xml:lang") or "")
