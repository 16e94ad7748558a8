"""Writes what a tool has found as short text for a model."""

import re
from collections.abc import Iterable

from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import Chain, Entity, Hop, Term, one_line

LINES = 50
"""Lines of one listing at most; the artifact holds the rest."""

RELATIONS = 500
"""Lines of a listing of relations at most: one that is not shown is never taken, and hubs have hundreds."""


def show_term(term: Term) -> str:
    """Write a term with its id."""
    if isinstance(term, Entity):
        return f"{one_line(term.name or '(unnamed)')} <{term.id}>"
    return f'"{one_line(term.value)}"'


def show_cell(term: Term | None) -> str:
    """Write a cell of a table: a table has ids only, and says nothing of names."""
    if term is None:
        return ""
    return f"<{term.id}>" if isinstance(term, Entity) else show_term(term)


def show_hop(hop: Hop) -> str:
    """Write a hop as the tools read it back, with its name where that differs."""
    mark = "" if hop.forward else "^"
    named = f" ({one_line(hop.name)})" if hop.name and hop.name != hop.relation else ""
    return f"{mark}{hop.relation}{named}"


def show_candidate(candidate: Candidate) -> str:
    """Write what is at a chain's end, and whether the chain has come back to its start on the way."""
    return show_term(candidate.term) + (" (by way of the start)" if candidate.returning else "")


def show_chain(chain: Chain) -> str:
    """Write a chain: its start, its hops as the tools read them back, what it is held to."""
    steps = [show_term(chain.topic)]
    for hop, held in chain.steps:
        steps += [show_hop(hop)] + [f"(only {', '.join(map(show_term, held))})"] * bool(held)
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
