"""-"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from kgqa.kg.dialects import is_statement_relation
from kgqa.kg.graph import Row, Rows
from kgqa.kg.pages import AttributeValue, ChainAttributes, Page
from kgqa.kg.sparql.chain_queries import CUT_ENDS, CUT_TRIPLES, Limits, cut_query, nodes_after
from kgqa.kg.sparql.decoding import is_true, item_at, read_integer, sort_key
from kgqa.kg.sparql.patterns import (
    FALSE,
    NOWHERE,
    TRUE,
    label_of,
    not_deprecated,
    serialise,
    triple_pattern,
    values_list,
    without_label,
    write_iri,
)
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term, is_iri

Wanted = Mapping[int, Sequence[Hop]]
"""Under the places of a chain whose nodes are read, the relations whose values are wanted."""


def attribute_values(
    wanted: Sequence[tuple[Chain, Wanted]],
    near: Sequence[Term],
    types: Sequence[str],
    labels: Sequence[str],
    limits: Limits,
    owned: Collection[str] = (),
) -> str:
    """Ask for ``?chain ?place ?end ?relation ?forward ?further ?value ?label ?rank`` of chains.

    A row without a ``?relation`` has the node itself as its value, or what a value without a name has by a
    ``?further`` relation (it is the ``?end`` then), or ``?cut``; further values are asked for too where an
    ``owned`` relation leads to what belongs to one node alone. ``types`` lead to the types of ends.
    """
    blocks = [
        f'{{ {block} BIND("{number:d}" AS ?chain) }}'  # in each: Virtuoso loses rows of a UNION in a UNION
        for number, (chain, places) in enumerate(wanted)
        for block in _of_chain(chain, places, near, types, labels, limits, owned)
    ]
    return (
        "SELECT ?chain ?place ?end ?relation ?forward ?further ?value ?label ?rank ?cut WHERE { "
        f"{{ {' UNION '.join(blocks)} }} {label_of(labels, '?value')} }}"
    )


def _of_chain(
    chain: Chain,
    wanted: Wanted,
    near: Sequence[Term],
    types: Sequence[str],
    labels: Sequence[str],
    limits: Limits,
    owned: Collection[str],
) -> Iterator[str]:
    near = [term for term in near if term != chain.topic]  # all nodes may be beside it
    for place, hops in wanted.items():
        node, blocks = f"?e{place}", [*_nodes(chain, place, limits), *_near(chain, place, near, limits)]
        for forward in (True, False):
            listed = [hop.relation for hop in hops if hop.forward == forward]
            if every := [*(types if forward and place == chain.depth else ()), *listed]:
                step = f"{_triple(place, forward)} {_among(every, '?value' if forward else node)}"
                blocks.append(_values(chain, place, forward, step, limits))
            if listed:
                step = f"{_triple(place, forward, '?past')} {_among(listed, '?past' if forward else node)}"
                blocks.append(_past_unnamed(chain, place, step, labels, limits))
            if forward and (parts := [each for each in listed if each in owned]):
                step = f"{_triple(place, forward, '?past')} {_among(parts, '?past')}"
                blocks.append(_past_unnamed(chain, place, step, (), limits))
        yield from (f'{{ {block} }} BIND("{place:d}" AS ?place)' for block in blocks)


def _among(relations: Sequence[str], object_: str) -> str:
    """Hold ``?relation`` to some: by VALUES, Oxigraph would read all facts of each of them.

    What a Wikibase states as deprecated is not stated.
    """
    among = f"FILTER(?relation IN ({', '.join(map(write_iri, relations))}))"
    stating = any(map(is_statement_relation, relations))
    return f"{among} {not_deprecated(object_)}" if stating else among


def _starts(chain: Chain, place: int, limits: Limits) -> str:
    return f"{{ {nodes_after(chain, place, limits.scanned)} LIMIT {limits.scanned:d} }}"


def _triple(place: int, forward: bool, value: str = "?value") -> str:
    """Write the triple from a node to a value; what has a literal is the node before it."""
    if forward:
        return f"?e{place} ?relation {value} ."
    return f"{value} ?relation ?e{place} . FILTER(!isLiteral(?e{place}))"


def _onwards(chain: Chain, place: int) -> str:
    """Walk from a node at a place to the chain's end."""
    steps = enumerate(chain.steps[place:], place)
    return " ".join(triple_pattern(f"?e{at}", hop, f"?e{at + 1}", held) for at, (hop, held) in steps)


def _nodes(chain: Chain, place: int, limits: Limits) -> Iterator[str]:
    """Ask for the nodes at a place, and whether there are more of them than are read."""
    yield _rows(chain, place, f"(?e{place} AS ?value)", _starts(chain, place, limits), limits)
    yield _cut(CUT_ENDS, nodes_after(chain, place, limits.scanned), limits.scanned)


def _values(chain: Chain, place: int, forward: bool, step: str, limits: Limits) -> str:
    return _rows(chain, place, _shown(forward), f"{_starts(chain, place, limits)} {step}", limits)


def _shown(forward: bool) -> str:
    return f"?relation ?value ({TRUE if forward else FALSE} AS ?forward)"


def _past_unnamed(chain: Chain, place: int, step: str, labels: Sequence[str], limits: Limits) -> str:
    """Ask for what those of the first values have that have no name.

    They are called ``?end``: Virtuoso loses the ends of other parts where one has none.
    """
    most = f"LIMIT {limits.rows + 1:d}"
    first = f"SELECT DISTINCT ?past WHERE {{ {_starts(chain, place, limits)} {step} }} {most}"
    unnamed = f"{{ {first} }} FILTER(!isLiteral(?past)) {without_label(labels, '?past')}"
    return (  # the filters in a query of their own, else Oxigraph applies them after all facts were read
        "SELECT DISTINCT (?past AS ?end) ?further ?value WHERE { "
        f"{{ SELECT ?past WHERE {{ {unnamed} }} }} ?past ?further ?value }} {most}"
    )


def _near(chain: Chain, place: int, near: Sequence[Term], limits: Limits) -> Iterator[str]:
    """Ask where terms stand at the nodes of a place: entities are looked up, of literals all are read.

    Each node is paired with each entity first: Oxigraph would read all facts of an entity.
    """
    entities = [term for term in near if isinstance(term, Entity)]
    beside = f"{_starts(chain, place, limits)} VALUES ?value {{ {values_list(entities)} }}"
    pairs = f"{{ SELECT DISTINCT ?e{place} ?value WHERE {{ {beside} }} }}"
    for forward in (True, False) if entities else ():
        yield _rows(chain, place, _shown(forward), f"{pairs} {_triple(place, forward)}", limits)
    if tests := [test for term in near if isinstance(term, Literal) for test in _text_tests(term)]:
        starts = f"{_starts(chain, place, limits)} {_triple(place, True)}"
        read = f"SELECT ?e{place} ?relation ?value WHERE {{ {starts} }}"
        kept = f"{{ {read} LIMIT {limits.triples:d} }} FILTER(isLiteral(?value) && ({' || '.join(tests)}))"
        yield _rows(chain, place, f"?relation ?value ({TRUE} AS ?forward)", kept, limits)
        yield _cut(CUT_TRIPLES, read, limits.triples)


def _text_tests(term: Literal) -> Iterator[str]:
    """Yield what tells that a literal has this text, or is a date within this one."""
    yield f"STR(?value) = {serialise(Literal(term.value))}"
    yield f"STRSTARTS(STR(?value), {serialise(Literal(f'{term.value}-'))})"


def _rows(chain: Chain, place: int, shown: str, starts: str, limits: Limits) -> str:
    """Ask for the ends that the nodes at a place lead to, and what is shown of these."""
    walk = f"{starts} {_onwards(chain, place)}"
    return f"SELECT DISTINCT (?e{chain.depth} AS ?end) {shown} WHERE {{ {walk} }} LIMIT {limits.rows + 1:d}"


def _cut(limit: str, query: str, most: int) -> str:
    return f"SELECT ?cut ({NOWHERE} AS ?value) WHERE {{ {{ {cut_query(limit, query, most)} }} }}"


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
    """Return the values in rows of `attribute_values`, and the nodes that have them."""
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

    So is what values have to which ``owned`` relations lead, which stay.
    """
    past = [
        replace(each, hops=(*each.hops, hop), value=value)
        for each in found
        if is_unnamed(each) or (len(each.hops) == 1 and each.hops[0].relation in owned)
        for hop, value in facts.get(each.value.id, ())
        if value.name and value != each.end
    ]
    return list(dict.fromkeys([*(each for each in found if not is_unnamed(each)), *past]))
