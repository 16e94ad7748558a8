"""Makes typed answers of the rows that queries give."""

from collections.abc import Mapping

from kgqa.kg.executor import Row, Rows
from kgqa.kg.terms import Chain, Entity, Literal, Term, Triple


def integer(term: Term | None) -> int:
    """Read a number, 0 where there is none."""
    return int(term.value) if isinstance(term, Literal) else 0


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
        ends, hops = parts[integer(row[0])]
        if row[width:] and row[width] is not None:
            hops.append(row[width:])
        elif width > 1 and row[2] is not None:  # an end is fresh or not; other rows have neither
            ends.append(row[1:5])
    return parts
