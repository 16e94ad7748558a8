"""Which aggregates of a query take a value several times, as its rows come of joins."""

from collections.abc import Callable, Iterator, Sequence

from kgqa.kg.drafts.reading import Aggregated, Pattern, Select
from kgqa.kg.drafts.schema import TYPES, Schema, Use
from kgqa.kg.sparql.nodes import Node, is_constant, is_open

_COUNTING = {"SUM", "AVG", "COUNT"}


def multiplied_rows(
    select: Select, uses_of: Callable[[Pattern], Sequence[Use]], schema: Schema
) -> Iterator[tuple[Aggregated, Pattern, Node]]:
    """Yield the sums, averages and counts of a SELECT that take a value once for each of several others.

    With each comes a pattern by which a node goes with several others, and the variable of these. What
    rows are grouped by is fixed.
    """
    if select.keys is None or not select.is_plain:
        return
    fixed = {each for each in select.keys if is_open(each)}
    fixed |= {source for key in [*fixed] if is_open(source := select.computed.get(key))}
    for each in select.aggregates:
        if each.function not in _COUNTING or each.distinct:
            continue
        of = _source(each.of, select)
        if of is None:
            continue
        owner = next((p.start for p in select.patterns if p.end == of and _is_value(uses_of(p))), of)
        found = _several_beside(owner, of, fixed, select.patterns, uses_of, schema)
        if found is not None:
            yield each, *found


def _source(of: Node, select: Select) -> Node | None:
    """Return the variable of the graph that an aggregate is of, by itself or cast."""
    seen: set[Node] = set()
    while of is not None:
        if is_open(of):
            if of in seen:
                return None
            seen.add(of)
            if any(of in {p.start, p.end} for p in select.patterns):
                return of
            of = select.computed.get(of)
        elif getattr(of, "name", "") == "Function" and len(of.expr or ()) == 1:
            of = of.expr[0]
        else:
            return None
    return None


def _is_value(uses: Sequence[Use]) -> bool:
    return bool(uses) and not any(use.leads_to_nodes for use in uses)


def _several_beside(
    owner: Node,
    of: Node,
    fixed: set[Node],
    patterns: Sequence[Pattern],
    uses_of: Callable[[Pattern], Sequence[Use]],
    schema: Schema,
) -> tuple[Pattern, Node] | None:
    """Return the first pattern by which a node goes with several others, on the way from it to all others."""
    reached, new = {owner}, [owner]
    while new:
        node = new.pop()
        for pattern in patterns:
            if pattern.relation is None or str(pattern.relation) in TYPES or not is_open(node):
                continue
            for here, there in ((pattern.start, pattern.end), (pattern.end, pattern.start)):
                if here != node or there in reached or not is_open(there):
                    continue
                reached.add(there)
                if there in fixed or there == of:
                    continue
                if _is_several(pattern, forward=here == pattern.start, uses=uses_of(pattern), schema=schema):
                    return pattern, there
                new.append(there)
    return None


def _is_several(pattern: Pattern, *, forward: bool, uses: Sequence[Use], schema: Schema) -> bool:
    """Return whether a node is known to have several others along a pattern, or against it."""
    if not uses or not is_constant(pattern.relation):
        return False
    if forward:
        return any(not use.profile.is_single for use in uses)
    return any(use.profile.distinct and use.profile.distinct < use.profile.facts for use in uses)
