"""Patterns that say nothing, so that another was meant: values that are used nowhere, values taken twice."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from kgqa.kg.drafts.reading import Draft, Pattern, variables_of
from kgqa.kg.drafts.schema import Schema, Use
from kgqa.kg.sparql.nodes import Node, is_open, is_variable

UsesOf = Callable[[Pattern], Sequence[Use]]


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
        if schema.is_sure(uses) and all(map(_is_value_of_all, uses)):
            yield pattern


def _is_value_of_all(use: Use) -> bool:
    return not use.leads_to_nodes and use.profile.having >= use.owner.read


def values_taken_twice(draft: Draft, uses_of: UsesOf, schema: Schema) -> Iterator[tuple[Pattern, Node]]:
    """Yield patterns by which a node has a second variable for its only value of a property."""
    patterns = [each for each in draft.required if is_variable(each.end)]
    for one, other in combinations(patterns, 2):
        if (one.start, one.relation) == (other.start, other.relation) and one.end != other.end:
            uses = uses_of(one) if one.relation is not None else ()
            if schema.is_sure(uses) and all(use.profile.is_single for use in uses):
                yield other, one.end
