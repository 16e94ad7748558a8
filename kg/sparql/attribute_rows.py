"""The rows of answers to `attribute_queries`, read as values of the nodes on a chain.

``named`` are nodes with their names, ``hop`` makes a hop of a relation and whether it is forward.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kgqa.kg.graph import Row, Rows
from kgqa.kg.pages import AttributeValue, ChainAttributes, Page
from kgqa.kg.sparql.decoding import is_true, item_at, read_integer, sort_key
from kgqa.kg.terms import Chain, Hop, Literal, Term, is_iri

Facts: TypeAlias = Mapping[str, Iterable[tuple[Hop, Term]]]  # of entities, by their ids


@dataclass(frozen=True)
class ReadAttributes:
    """What was read of one chain: values, the ends' types and names, and whether a limit cut any."""

    values: Sequence[AttributeValue]
    types: Collection[tuple[Term, Term]]
    names: tuple[AttributeValue, ...]
    cut: bool

    def page(self, chain: Chain, rows: int) -> ChainAttributes:
        """Return it sorted."""
        values = [each for each in self.values if each.hops or (each.place < chain.depth and each.value.name)]
        values.sort(key=lambda each: (each.place, each.hops, sort_key(each.end), sort_key(each.value)))
        types = sorted(self.types, key=lambda pair: (sort_key(pair[0]), sort_key(pair[1])))
        return ChainAttributes(
            Page(tuple(_some_of_each(values, rows)), self.cut or len(values) > rows),
            Page(tuple(types[:rows]), self.cut or len(types) > rows),
            self.names,
        )


def _some_of_each(values: Sequence[AttributeValue], rows: int) -> list[AttributeValue]:
    """Return so many values, of each attribute as many as of the others where it has them, in their order."""
    if len(values) <= rows:
        return list(values)
    before = Counter[tuple[int, tuple[Hop, ...]]]()
    ranks = []
    for at, each in enumerate(values):
        ranks.append((before[each.place, each.hops], at))
        before[each.place, each.hops] += 1
    return [values[at] for at in sorted(at for _, at in sorted(ranks)[:rows])]


def split_by_chain(answer: Rows, chains: int) -> list[list[Row]]:
    """Return the rows of each of some chains, without the column that tells them apart."""
    parts: list[list[Row]] = [[] for _ in range(chains)]
    for number, *row in answer.rows:
        item_at(parts, number).append(tuple(row))
    return parts


def read_values(
    rows: Iterable[Row], named: Mapping[Term, Term], hop: Callable[[str, bool], Hop]
) -> list[AttributeValue]:
    """Return the values in rows of `attribute_queries.attribute_values`, and the nodes that have them."""
    found: dict[AttributeValue, None] = {}
    for place, end, relation, forward, further, value, *_ in rows:
        if end is None or value is None or further is not None:
            continue
        if relation is None or is_iri(relation.id):
            hops = (hop(relation.id, is_true(forward)),) if relation else ()
            found[AttributeValue(read_integer(place), hops, named.get(end, end), named[value])] = None
    return list(found)


def read_names(
    rows: Iterable[Row], named: Mapping[Term, Term], depth: int, labels: Sequence[Hop]
) -> tuple[AttributeValue, ...]:
    """Return what says the names of a chain's ends, sorted; ``labels`` are hops that names are read by."""
    found = {
        AttributeValue(depth, (labels[read_integer(rank)],), end, label)
        for _, start, relation, _, further, value, label, rank in rows
        if start and relation is further is None and start == value and isinstance(label, Literal)
        if (end := named.get(start, start)).name == label.value
    }
    return tuple(sorted(found, key=lambda each: (each.hops, sort_key(each.end), sort_key(each.value))))


def largest_part(rows: Iterable[Row]) -> int:
    """Return how many rows the largest part of the query gave: each is limited for itself."""
    sizes = Counter(
        (place, relation and forward, further is None) for place, _, relation, forward, further, *_ in rows
    )
    return max(sizes.values(), default=0)


def read_facts(
    rows: Iterable[Row],
    named: Mapping[Term, Term],
    hop: Callable[[str, bool], Hop],
    ignores: Callable[[str], bool],
) -> Facts:
    """Return what nodes without a name have, but for relations that a search ignores."""
    facts: dict[str, dict[tuple[Hop, Term], None]] = {}
    for _, start, _, _, further, value, *_ in rows:
        if start is None or value is None or further is None or not is_iri(further.id):
            continue
        if not ignores(further.id):
            facts.setdefault(start.id, {})[hop(further.id, True), named[value]] = None
    return facts


def is_unnamed(found: AttributeValue) -> bool:
    """Return whether a value is a node without a name, past which there may be others."""
    return bool(found.hops) and found.value.name is None


def past_unnamed(
    found: Sequence[AttributeValue], facts: Facts, owned: Collection[str] = ()
) -> list[AttributeValue]:
    """Return, in place of each value without a name, what this has that is called anything, after all others.

    Likewise what values have to which ``owned`` relations lead, which stay.
    """
    past = [
        replace(each, hops=(*each.hops, hop), value=value)
        for each in found
        if is_unnamed(each) or (len(each.hops) == 1 and each.hops[0].relation in owned)
        for hop, value in facts.get(each.value.id, ())
        if value.name and value != each.end
    ]
    return list(dict.fromkeys([*(each for each in found if not is_unnamed(each)), *past]))
