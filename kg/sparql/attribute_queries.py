"""Queries about what the nodes at each place of a relation chain have.

As with chains, nothing is sorted, and what is read is limited. From each node it is walked on to the
chain's end: a row is of a node and an end.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kgqa.kg.sparql.chain_queries import CUT_ENDS, CUT_TRIPLES, Limits, cut_query, nodes_after
from kgqa.kg.sparql.patterns import (
    FALSE,
    NOWHERE,
    TRUE,
    label_of,
    serialise,
    triple_pattern,
    values_list,
    write_iri,
)
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term

Wanted = Mapping[int, Sequence[Hop]]
"""Under the places of a chain whose nodes are read, the relations whose values are wanted."""


def attribute_values(
    wanted: Sequence[tuple[Chain, Wanted]], near: Sequence[Term], labels: Sequence[str], limits: Limits
) -> str:
    """Ask for ``?chain ?place ?end ?relation ?forward ?value ?label ?rank`` of chains.

    A row without a ``?relation`` has the node itself as its value, or ``?cut``.
    """
    blocks = [
        f'{{ {block} BIND("{number:d}" AS ?chain) }}'  # in each: Virtuoso loses rows of a UNION in a UNION
        for number, (chain, places) in enumerate(wanted)
        for block in _of_chain(chain, places, near, limits)
    ]
    return (
        "SELECT ?chain ?place ?end ?relation ?forward ?value ?label ?rank ?cut WHERE { "
        f"{{ {' UNION '.join(blocks)} }} {label_of(labels, '?value')} }}"
    )


def _of_chain(chain: Chain, wanted: Wanted, near: Sequence[Term], limits: Limits) -> Iterator[str]:
    near = [term for term in near if term != chain.topic]  # all nodes may be beside it
    for place, hops in wanted.items():
        yield from _nodes(chain, place, limits)
        for forward in (True, False):
            if listed := " ".join(write_iri(hop.relation) for hop in hops if hop.forward == forward):
                step = f"VALUES ?relation {{ {listed} }} {_triple(place, forward)}"
                yield _values(chain, place, forward, step, limits)
        if near:
            yield from _near(chain, place, near, limits)


def facts_of(ids: Iterable[str], labels: Sequence[str], limit: int) -> str:
    """Ask for ``?start ?relation ?value ?label ?rank``: what some entities have, ``limit`` of it."""
    listed = " ".join(map(write_iri, ids))
    facts = f"SELECT ?start ?relation ?value WHERE {{ VALUES ?start {{ {listed} }} ?start ?relation ?value }}"
    return (
        f"SELECT ?start ?relation ?value ?label ?rank WHERE {{ {{ {facts} LIMIT {limit:d} }} "
        f"{label_of(labels, '?value')} }}"
    )


def _starts(chain: Chain, place: int, limits: Limits) -> str:
    return f"{{ {nodes_after(chain, place, limits.scanned)} LIMIT {limits.scanned:d} }}"


def _triple(place: int, forward: bool) -> str:
    """Write the triple from a node to a value; what has a literal is the node before it."""
    if forward:
        return f"?e{place} ?relation ?value ."
    return f"?value ?relation ?e{place} . FILTER(!isLiteral(?e{place}))"


def _onwards(chain: Chain, place: int) -> str:
    """Walk from a node at a place to the chain's end."""
    steps = enumerate(chain.steps[place:], place)
    return " ".join(triple_pattern(f"?e{at}", hop, f"?e{at + 1}", held) for at, (hop, held) in steps)


def _nodes(chain: Chain, place: int, limits: Limits) -> Iterator[str]:
    """Ask for the nodes at a place, and whether there are more of them than are read."""
    value = f"(?e{place} AS ?value)"
    yield _block(chain, place, value, _starts(chain, place, limits), limits)
    yield _cut(CUT_ENDS, nodes_after(chain, place, limits.scanned), limits.scanned)


def _values(chain: Chain, place: int, forward: bool, step: str, limits: Limits) -> str:
    shown = f"?relation ?value ({TRUE if forward else FALSE} AS ?forward)"
    return _block(chain, place, shown, f"{_starts(chain, place, limits)} {step}", limits)


def _near(chain: Chain, place: int, near: Sequence[Term], limits: Limits) -> Iterator[str]:
    """Ask where terms stand at the nodes of a place: entities are looked up, of literals all are read."""
    entities = [term for term in near if isinstance(term, Entity)]
    for forward in (True, False) if entities else ():
        step = f"VALUES ?value {{ {values_list(entities)} }} {_triple(place, forward)}"
        yield _values(chain, place, forward, step, limits)
    if tests := [test for term in near if isinstance(term, Literal) for test in _text_tests(term)]:
        starts = f"{_starts(chain, place, limits)} {_triple(place, True)}"
        read = f"SELECT ?e{place} ?relation ?value WHERE {{ {starts} }}"
        kept = f"{{ {read} LIMIT {limits.triples:d} }} FILTER(isLiteral(?value) && ({' || '.join(tests)}))"
        yield _block(chain, place, f"?relation ?value ({TRUE} AS ?forward)", kept, limits)
        yield _cut(CUT_TRIPLES, read, limits.triples)


def _text_tests(term: Literal) -> Iterator[str]:
    """Yield what tells that a literal has this text, or is a date within this one."""
    yield f"STR(?value) = {serialise(Literal(term.value))}"
    yield f"STRSTARTS(STR(?value), {serialise(Literal(f'{term.value}-'))})"


def _block(chain: Chain, place: int, shown: str, starts: str, limits: Limits) -> str:
    pattern = f"{starts} {_onwards(chain, place)}"
    rows = (
        f"SELECT DISTINCT (?e{chain.depth} AS ?end) {shown} WHERE {{ {pattern} }} LIMIT {limits.rows + 1:d}"
    )
    return f'{{ {rows} }} BIND("{place:d}" AS ?place)'


def _cut(limit: str, query: str, most: int) -> str:
    return f"{{ {cut_query(limit, query, most)} }} BIND({NOWHERE} AS ?value)"
