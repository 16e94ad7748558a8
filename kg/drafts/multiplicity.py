"""What a query has once too often: values that its joins multiply, that it does not use, or takes twice."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from kgqa.kg.drafts.reading import Aggregated, Draft, Pattern, Select, variables_of
from kgqa.kg.drafts.schema import TYPES, Schema, Use
from kgqa.kg.sparql.nodes import Node, is_constant, is_open, is_variable

_COUNTING = {"SUM", "AVG", "COUNT"}

UsesOf = Callable[[Pattern], Sequence[Use]]


def multiplied_rows(
    select: Select, uses_of: UsesOf, schema: Schema
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
    uses_of: UsesOf,
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


def unused_values(draft: Draft, uses_of: UsesOf, schema: Schema) -> Iterator[Pattern]:
    """Yield the patterns that lead to a value used nowhere else, which all of their nodes have.

    Not those that alone say what their nodes are.
    """
    used = Counter(node for pattern in draft.patterns for node in pattern.nodes)
    for _, test in draft.tests:
        used.update(variables_of(test))
    for select in draft.selects:
        if any(each.of == "*" for each in select.aggregates):
            return
        used.update([*select.columns, *(each for each in select.keys or () if is_open(each))])
        for each in select.expressions:
            used.update(variables_of(each))
    for pattern in draft.required:
        named = is_variable(pattern.start) and is_variable(pattern.end)
        alone = sum(pattern.start in each.nodes for each in draft.patterns) == 1
        uses = uses_of(pattern) if named and not alone and used[pattern.end] == 1 else ()
        in_all = all(not use.leads_to_nodes and use.profile.having >= use.owner.read for use in uses)
        if schema.is_sure(uses) and in_all:
            yield pattern


def values_taken_twice(draft: Draft, uses_of: UsesOf, schema: Schema) -> Iterator[tuple[Pattern, Node]]:
    """Yield patterns by which a node has a second variable for its only value of a property."""
    patterns = [each for each in draft.required if is_variable(each.end)]
    for one, other in combinations(patterns, 2):
        if (one.start, one.relation) == (other.start, other.relation) and one.end != other.end:
            uses = uses_of(one) if one.relation is not None else ()
            if schema.is_sure(uses) and all(use.profile.is_single for use in uses):
                yield other, one.end
