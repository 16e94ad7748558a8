"""Makes typed answers of the rows that queries give."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from kgqa.kg.errors import KGMalformed
from kgqa.kg.executor import Row, Rows
from kgqa.kg.terms import Chain, Entity, Literal, Term, Triple, one_line

T = TypeVar("T")

_NUMBER = re.compile(r"[+-]?[0-9]{1,20}(?:\.0*)?")


def integer(term: Term | None) -> int:
    """Read a number, 0 where there is none.

    Raises:
        KGMalformed: if it is something else than a whole number.
    """
    if not isinstance(term, Literal):
        return 0
    if not _NUMBER.fullmatch(term.value):
        raise KGMalformed(f"the graph answers {one_line(term.value, 40)!r} where a number was asked for")
    return int(term.value.partition(".")[0])


def at(things: Sequence[T], place: Term | None) -> T:
    """Give that of some things whose place, from 0, an answer names.

    Raises:
        KGMalformed: if there is no such place.
    """
    number = integer(place)
    if not 0 <= number < len(things):
        raise KGMalformed(f"the graph answers about the {number}th of {len(things)} things that it was asked")
    return things[number]


def only(answer: Rows) -> Term | None:
    """Give what an answer of one row and one column holds.

    Raises:
        KGMalformed: if it has no row.
    """
    if not answer.rows:
        raise KGMalformed("the graph answers nothing where one row was asked for")
    return answer.rows[0][0]


def true(term: Term | None) -> bool:
    """Read a boolean, also as servers write it that answer 1 and 0."""
    return isinstance(term, Literal) and term.value in ("true", "1")


def order(term: Term) -> tuple[bool, str, str, str, str]:
    """Order terms: named before unnamed, then by name, then by id, datatype and language."""
    tag = (term.datatype, term.language) if isinstance(term, Literal) else ("", "")
    return (term.name is None, term.name or "", term.id, *tag)


def path(chain: Chain, nodes: Mapping[int, Term]) -> tuple[Triple, ...]:
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


def parted(answer: Rows, chains: int) -> list[tuple[list[Row], list[Row]]]:
    """Part the rows of a visit of ``chains`` chains: of each its ends, and the hops that lead on.

    Args:
        answer: a column for the chain's place, four of an end, if ends were asked for, and two of
            a hop, likewise.
        chains: how many chains were visited.
    """
    parts: list[tuple[list[Row], list[Row]]] = [([], []) for _ in range(chains)]
    width = 5 if "end" in answer.columns else 1
    for row in answer.rows:
        ends, hops = at(parts, row[0])
        if row[width:] and row[width] is not None:
            hops.append(row[width:])
        elif width > 1 and row[2] is not None:  # an end is fresh or not; other rows have neither
            ends.append(row[1:5])
    return parts
