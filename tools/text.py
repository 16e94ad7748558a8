"""Writes what a tool has found as short text for a model."""

import json
import re
from collections.abc import Iterable

from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import Chain, Entity, Hop, Term, one_line

LINES = 50
"""Lines of one listing at most; the artifact holds the rest."""

RELATIONS = 500
"""Lines of a listing of relations at most: one that is not shown is never taken, and hubs have hundreds."""

HELD = 5
"""Of the entities that a chain is held to at one node, those that are named at most."""

IDS = 500
"""Characters of an id at most; one that is cut cannot be read back, but its entity has a name."""

WHOLE = 60_000
"""Characters of what a tool says at most."""

UNNAMED = "(unnamed)"

_MISTAKABLE = re.compile(r"[<>|;\"]|^\(|^'|^$")
"""What is in a name that might be read as more than that, beside an id or in a list."""


def show_term(term: Term) -> str:
    """Write a term with its id."""
    if isinstance(term, Entity):
        return f"{show_name(term.name) if term.name else UNNAMED} <{show_id(term.id)}>"
    return json.dumps(one_line(term.value), ensure_ascii=False)


def show_name(name: str, limit: int = 200) -> str:
    """Write a name on one line, in quotes where it could be taken for more than a name.

    >>> show_name("Ulm"), show_name("Ulm <http://x/b>")
    ('Ulm', '"Ulm <http://x/b>"')
    """
    shown = one_line(name, limit)
    return json.dumps(shown, ensure_ascii=False) if _MISTAKABLE.search(shown) else shown


def show_id(id: str) -> str:
    """Write an id on one line; IRIs may have marks of direction and line breaks of other scripts."""
    return one_line(id, IDS)


def show_cell(term: Term | None) -> str:
    """Write a cell of a table: a table has ids only, and says nothing of names."""
    if term is None:
        return ""
    return f"<{show_id(term.id)}>" if isinstance(term, Entity) else show_term(term)


def show_hop(hop: Hop) -> str:
    """Write a hop as the tools read it back, with its name where that differs."""
    mark = "" if hop.forward else "^"
    shown = show_id(hop.relation)
    named = f" ({one_line(hop.name)})" if hop.name and hop.name != shown else ""
    return f"{mark}{shown}{named}"


def show_candidate(candidate: Candidate) -> str:
    """Write what is at a chain's end, and whether the chain has come back to its start on the way."""
    return show_term(candidate.term) + (" (by way of the start)" if candidate.returning else "")


def show_chain(chain: Chain) -> str:
    """Write a chain: its start, its hops as the tools read them back, what it is held to."""
    steps = [show_term(chain.topic)]
    for hop, held in chain.steps:
        names = [*map(show_term, held[:HELD]), *([f"{len(held) - HELD} others"] if len(held) > HELD else [])]
        steps += [show_hop(hop)] + [f"(only {', '.join(names)})"] * bool(held)
    return " ".join(steps)


def listing(what: str, lines: Iterable[str], page: Page[object] | None = None, most: int = LINES) -> str:
    """Write a headed list, cut at ``most`` lines; ``what`` begins with a plural."""
    rows = list(lines)
    if len(rows) == 1:
        what = re.sub(r"(ie)?s\b", lambda end: "y" if end[1] else "", what, count=1)
    more = "more than " if page is not None and page.truncated else ""
    shown = [f"- {row}" for row in rows[:most]]
    if len(rows) > most:
        shown.append(f"- ... and {len(rows) - most} others")
    return "\n".join([f"{more}{len(rows)} {what}" + (":" if rows else ""), *shown])


def bounded(text: str) -> str:
    """Cut a text of many lines at `WHOLE` characters, after a whole line, and say so."""
    if len(text) <= WHOLE:
        return text
    kept = text[: WHOLE - 100].rpartition("\n")[0]
    return f"{kept}\n- ... and {text.count(chr(10)) - kept.count(chr(10))} other lines"
