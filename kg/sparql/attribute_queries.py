"""Queries about what the nodes at each place of a relation chain have.

As with chains, nothing is sorted, and what is read is limited. From each node it is walked on to the
chain's end: a row is of a node and an end.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from kgqa.kg.dialects import is_statement_relation
from kgqa.kg.sparql.chain_queries import CUT_ENDS, CUT_TRIPLES, Limits, cut_query, nodes_after
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
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term

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
