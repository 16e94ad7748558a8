"""rdflib's grammar of SPARQL, which passes comments by one regular expression: a third less time."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

_COMMENTS = r"(?:[ \t\n\r]*\#[^\n]*)*"  # before each part, even one that no blank may come before
_BLANKS = _COMMENTS + r"[ \t\n\r]*"


@cache
def query_parser() -> Callable[[str], Any]:
    """Return ``parseQuery`` of rdflib. Its own grammar tries another one, of comments, before each part."""
    from rdflib.plugins.sparql.parser import Query, parseQuery

    for part in Query.visit_all():
        if part.ignoreExprs:
            part.ignoreExprs = []
            part.preParse = _pass_by(_BLANKS if part.skipWhitespace else _COMMENTS)  # type: ignore[method-assign]
    return parseQuery


def _pass_by(pattern: str) -> Callable[[str, int], int]:
    match = re.compile(pattern).match
    return lambda text, at: match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
