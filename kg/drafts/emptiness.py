"""Why a query gives nothing: the smallest part of its patterns that nothing in the graph fits."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from kgqa.kg.drafts.reading import Draft, Pattern, read_draft, write_path
from kgqa.kg.sparql.nodes import is_open

MAX_QUESTIONS = 8  # queries by which the empty part of a query is found at most
Ask = Callable[[str], Awaitable[bool]]  # runs an ASK


async def find_empty(query: str, ask: Ask) -> list[Pattern]:
    """Return the smallest part of the required patterns of a query that is empty, as far as was asked.

    None where all of them together have rows: then what tests or joins them leaves none.

    Raises:
        KGRejected: if the query cannot be read; and what ``ask`` raises.
    """
    draft = read_draft(query)
    patterns = _in_order([each for each in draft.required if write_path(each.path)])
    left = MAX_QUESTIONS

    async def is_empty(some: Sequence[Pattern]) -> bool:
        nonlocal left
        left -= 1
        return not await ask(_write_ask(some, draft))

    if not patterns or not await is_empty(patterns):
        return []
    low, high = 0, len(patterns)  # so many of the first patterns have rows, and have none
    while high - low > 1 and left > 0:
        middle = (low + high) // 2
        low, high = (low, middle) if await is_empty(patterns[:middle]) else (middle, high)
    kept, others = patterns[high - 1 : high], patterns[: high - 1]
    while others and left > 0:
        first, *others = others
        if not await is_empty([*others, *kept]):
            kept = [first, *kept]
    return [*others, *kept]


async def fits_instead(query: str, relation: str, instead: str, ask: Ask) -> bool:
    """Return whether the required patterns of a query have rows with another relation in place of one.

    Raises:
        KGRejected: if the query cannot be read; and what ``ask`` raises.
    """
    from rdflib import URIRef

    draft, other = read_draft(query), URIRef(instead)
    patterns = [
        replace(each, relation=other, path=other) if str(each.relation) == relation else each
        for each in draft.required
        if write_path(each.path)
    ]
    return bool(patterns) and await ask(_write_ask(_in_order(patterns), draft))


def _write_ask(patterns: Sequence[Pattern], draft: Draft) -> str:
    nodes = {node for each in patterns for node in each.nodes}
    parts = []
    for variable, values in draft.values.items():
        if variable in nodes:
            written = " ".join("UNDEF" if value == "UNDEF" else value.n3() for value in values)
            parts.append(f"VALUES {_write(variable)} {{ {written} }}")
    parts += [f"{_write(each.start)} {write_path(each.path)} {_write(each.end)} ." for each in patterns]
    return f"ASK {{ {' '.join(parts)} }}"


def _write(node: object) -> str:
    """Write a node; the mark of a variable of an inner SELECT is none that SPARQL has."""
    written: str = node.n3()  # type: ignore[attr-defined]
    return written.replace("·", "__") if is_open(node) else written


def _in_order(patterns: Sequence[Pattern]) -> list[Pattern]:
    """Return patterns so that each is joined with those before it, as far as any is."""
    ordered: list[Pattern] = []
    left, nodes = [*patterns], set[object]()
    while left:
        joined = (each for each in left if not nodes.isdisjoint(each.nodes))
        ordered.append(each := next(joined, left[0]))
        left.remove(each)
        nodes |= {node for node in each.nodes if is_open(node)}
    return ordered
