"""Writes what a tool has found as short text for a model."""

from collections.abc import Iterable

from kgqa.kg.pages import Page
from kgqa.kg.terms import Entity, Hop, Term

LINES = 50
"""Lines of one listing at most; the artifact holds the rest."""


def show_term(term: Term) -> str:
    """Write a term with its id."""
    if isinstance(term, Entity):
        return f"{_line(term.name or '(unnamed)')} <{term.id}>"
    return f'"{_line(term.value)}"'


def show_hop(hop: Hop) -> str:
    """Write a hop as the tools read it back, with its name where that differs."""
    mark = "" if hop.forward else "^"
    return f"{mark}{hop.relation}" + (f" ({_line(hop.name)})" if hop.name else "")


def listing(what: str, lines: Iterable[str], page: Page[object] | None = None) -> str:
    """Write a headed list, cut at `LINES`."""
    rows = list(lines)
    more = "more than " if page is not None and page.truncated else ""
    shown = [f"- {row}" for row in rows[:LINES]]
    if len(rows) > LINES:
        shown.append(f"- ... and {len(rows) - LINES} others")
    return "\n".join([f"{more}{len(rows)} {what}" + (":" if rows else ""), *shown])


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 200 else words[:199] + "…"
