"""Writes what a tool has found as short text for a model, and makes tools of functions."""

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from functools import update_wrapper
from inspect import signature
from itertools import islice
from typing import Any, TypeVar, cast

from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tools.base import ArgsSchema

from kgqa.kg.pages import AttributeValue, Candidate, Page
from kgqa.kg.terms import Chain, Entity, Hop, Term, Triple, one_line
from kgqa.sync import run_sync

MAX_LINES = 50  # of one listing; the artifact holds the rest
MAX_RELATION_LINES = 500  # more: a relation that is not shown is never taken, and hubs have hundreds
MAX_CONSTRAINT_NAMES = 5
MAX_ID_CHARS = 500  # an id that is cut cannot be read back, but its entity has a name
MAX_TEXT_CHARS = 60_000
UNNAMED = "(unnamed)"

A = TypeVar("A")

_AMBIGUOUS = re.compile(r"[<>|;\"]|^\(|^'|^$")
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
    return json.dumps(shown, ensure_ascii=False) if _AMBIGUOUS.search(shown) else shown


def show_id(id: str) -> str:
    """Write an id on one line; IRIs may have marks of direction and line breaks of other scripts."""
    return one_line(id, MAX_ID_CHARS)


def show_cell(term: Term | None) -> str:
    """Write a cell of a table: a table has ids only, and says nothing of names."""
    if term is None:
        return ""
    return f"<{show_id(term.id)}>" if isinstance(term, Entity) else show_term(term)


def show_hop(hop: Hop) -> str:
    """Write a hop as the tools read it back, with its name where that differs."""
    shown = show_id(hop.relation)
    named = f" ({one_line(hop.name)})" if hop.name and hop.name != shown else ""
    return f"{'' if hop.forward else '^'}{shown}{named}"


def show_candidate(candidate: Candidate) -> str:
    """Write what is at a chain's end, and whether the chain has come back to its start on the way."""
    return show_term(candidate.term) + (" (by way of the start)" if candidate.returning else "")


def show_attribute(found: AttributeValue) -> str:
    """Write a value with the end of the chain that it tells apart, and the node that has it."""
    way = " ".join(map(show_hop, found.hops)) or "is"
    return f"{show_term(found.end)}: after {found.place} hops {way} {show_term(found.value)}"


def show_chain(chain: Chain) -> str:
    """Write a chain: its start, its hops as the tools read them back, its constraints."""
    parts = [show_term(chain.topic)]
    for hop, entities in chain.steps:
        names, more = [*map(show_term, entities[:MAX_CONSTRAINT_NAMES])], len(entities) - MAX_CONSTRAINT_NAMES
        names += [f"{more} others"] if more > 0 else []
        parts += [show_hop(hop), f"(only {', '.join(names)})"] if names else [show_hop(hop)]
    return " ".join(parts)


def show_facts(facts: Iterable[Triple]) -> str:
    """Write facts on one line."""
    return "; ".join(f"{show_term(t.head)} {show_id(t.relation)} {show_term(t.tail)}" for t in facts)


def listing(what: str, lines: Iterable[str], page: Page[object] | None = None, most: int = MAX_LINES) -> str:
    """Write a headed list: ``most`` lines, one for each item of a page; ``what`` begins with a plural."""
    rest = iter(lines)
    rows = list(islice(rest, most))
    count = len(page) if page is not None else len(rows) + sum(1 for _ in rest)
    if count == 1:
        what = re.sub(r"(ie)?s\b", lambda end: "y" if end[1] else "", what, count=1)
    more = "more than " if page is not None and page.truncated else ""
    shown = [f"- {row}" for row in rows]
    if count > most:
        shown.append(f"- ... and {count - most} others")
    return "\n".join([f"{more}{count} {what}" + (":" if rows else ""), *shown])


def cut_text(text: str) -> str:
    """Cut a text of many lines after a whole line, and say so."""
    if len(text) <= MAX_TEXT_CHARS:
        return text
    kept = text[: MAX_TEXT_CHARS - 100].rpartition("\n")[0]
    return f"{kept}\n- ... and {text.count(chr(10)) - kept.count(chr(10))} other lines"


def graph_tool(function: Callable[..., Awaitable[tuple[str, A]]]) -> Callable[[Any], BaseTool]:
    """Return what makes a tool of a function for a graph, its first argument, which a caller does not give.

    The tool returns a text of limited length and, as its artifact, the typed answer.
    """
    first, *others = signature(function).parameters.values()
    schema: ArgsSchema | None = None  # made for the first graph: it takes most of the time

    def make(graph: Any) -> BaseTool:
        async def limited(**given: Any) -> tuple[str, A]:
            text, answer = await function(graph, **given)
            return cut_text(text), answer

        def waiting(**given: Any) -> tuple[str, A]:
            return run_sync(limited(**given))

        for each in (limited, waiting):
            update_wrapper(each, function)
            each.__annotations__ = {n: of for n, of in function.__annotations__.items() if n != first.name}
            cast(Any, each).__signature__ = signature(function).replace(parameters=others)
        nonlocal schema
        made = StructuredTool.from_function(
            waiting,
            limited,
            response_format="content_and_artifact",
            parse_docstring=True,
            error_on_invalid_docstring=False,  # an argument may be described by its type
            args_schema=schema,
        )
        schema = made.args_schema
        return made

    return make
