"""Queries that walk along relation chains.

A hop costs what it shows, whatever the size of the graph: nothing is sorted, and what is read at
each place of a chain is limited. Chains are nested ``SELECT DISTINCT``, one per hop, so that a
fan-out through a hub costs its nodes and not its paths. Where a limit left something out, a row
says so (``?cut``). A node that the chain is held at has a ``VALUES`` beside its hop: what is beyond
these entities is not read. A chain from `ANY` sets out from the variable ``?e0``.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from kgqa.kg.sparql.patterns import (
    FALSE,
    NEIGHBOURS,
    NOWHERE,
    TRUE,
    compare_node,
    known_entities,
    label_of,
    one_of,
    serialise,
    topic_node,
    triple_pattern,
    values_list,
    write_iri,
)
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal, Term, is_value_id, plain_term

MAX_NODES_BETWEEN = 9_999
"""Distinct nodes after a hop, except the last one, that a chain is followed on from."""

MAX_ENDS_SCANNED = 1_000
"""Ends of a chain, and nodes after each hop before, where it is read which relations lead on."""

MAX_TRIPLES_SCANNED = 20_000
"""Triples of these ends that are read, in either direction: 0.02 s on an embedded store."""

MAX_TRIPLES_BEFORE_LOOKUPS = 2_000
"""The same on an embedded store of so few relations that each is looked up at each end beyond this."""

MAX_LOOKUPS = 100_000
"""Pairs of an end and a relation that are looked up where its triples are too many to read."""

MAX_ENDS_TRIED = 100
"""Ends up to which a path to them is looked up from each node before: of a hub, all would be read."""

TRIPLES_PER_NODE = 10  # triples that are read, and pairs that are looked up, for each node of a sample


class Limits(NamedTuple):
    """How much of a chain is read: what a page shows, or a sample."""

    rows: int  # ends
    nodes: int  # after each hop before the last, on the way to the ends
    scanned: int  # ends whose relations are read, and nodes after each hop on the way there
    triples: int  # of these ends
    lookups: int
    sampled: bool = False

    @classmethod
    def of(cls, rows: int, sample: int | None = None, *, relations: int = 0) -> "Limits":
        """Return the limits of a page, or of a sample of so many nodes at each place of a chain.

        ``relations`` counts those of the graph, 0 where looking them up costs a request or nobody has
        listed them.
        """
        nodes, ends, triples, lookups = MAX_NODES_BETWEEN, MAX_ENDS_SCANNED, MAX_TRIPLES_SCANNED, MAX_LOOKUPS
        if 0 < 2 * relations * ends <= lookups:
            triples = min(triples, MAX_TRIPLES_BEFORE_LOOKUPS)
        if sample is None:
            return cls(rows, nodes, ends, triples, lookups)
        most = sample * TRIPLES_PER_NODE
        few = min(rows, sample), min(nodes, sample), min(ends, sample)
        return cls(*few, min(triples, most), min(lookups, most), sampled=True)

    def ends_looked_up(self, relations: Mapping[bool, Sequence[str]]) -> int:
        """Return at how many ends some relations, by their direction, are looked up."""
        return max(1, self.lookups // max(1, sum(map(len, relations.values()))))


CUT_NODES, CUT_ENDS, CUT_TRIPLES = "nodes", "ends", "triples"
"""Values of ``?cut``: which of these limits left something out."""

_APPROXIMATE = frozenset(f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("double", "float"))


def nodes_after(chain: Chain, depth: int, most: int, *, marked: bool = False) -> str:
    """Ask for the distinct nodes ``?e1``, ``?e2`` … after so many hops of a chain, the last hop left out.

    Those after the hops before are the first ``most``. ``marked`` binds ``?f1`` and so on: whether no
    node so far is the topic.
    """
    node, fresh = f"?e{depth}", f"?f{depth - 1}" if depth > 1 else TRUE
    if chain.topic != ANY:
        fresh = f"IF({compare_node(node, '=', chain.topic)}, {FALSE}, {fresh})"
    mark = f" ({fresh} AS ?f{depth})" if marked else ""
    return f"SELECT DISTINCT {node}{mark} WHERE {{ {_step(chain, depth, node, most, marked=marked)} }}"


def _step(chain: Chain, depth: int, node: str, most: int, *, marked: bool = False) -> str:
    """Write a hop of a chain, by the first ``most`` nodes after each hop before.

    From anything, the first facts of a relation are read.
    """
    hop, held = chain.steps[depth - 1]
    if depth > 1:
        before = f"{{ {nodes_after(chain, depth - 1, most, marked=marked)} LIMIT {most:d} }}"
        return f"{before} {triple_pattern(f'?e{depth - 1}', hop, node, held)}"
    step = triple_pattern(_topic(chain), hop, node, held)
    return (
        f"{{ {_facts_of_anything(step, node)} LIMIT {MAX_TRIPLES_SCANNED:d} }}"
        if chain.topic == ANY
        else step
    )


def _facts_of_anything(step: str, node: str) -> str:
    return f"SELECT ?e0 {node} WHERE {{ {step} }}"


def _topic(chain: Chain) -> str:
    return topic_node(chain, "?e0")


def _walk(chain: Chain, most: int, *, marked: bool = False) -> str:
    """The pattern from a chain's topic to ``?end``, by the first ``most`` nodes after each hop between."""
    if not chain.hops:
        return f"VALUES ?end {{ {serialise(chain.topic)} }}"
    return _step(chain, chain.depth, "?end", most, marked=marked)


def _chain_ends(chain: Chain, limits: Limits) -> str:
    """Ask for the first ends of a chain, after two hops with ``?fresh``: no visit to the topic between.

    An end that is reached both ways has two rows.
    """
    if chain.depth == 1:
        walk = _walk(chain, limits.nodes)
        return f"SELECT DISTINCT ?end WHERE {{ {walk} }} LIMIT {limits.rows + 1:d}"
    walk, fresh = _walk(chain, limits.nodes, marked=True), f"?f{chain.depth - 1}"
    return f"SELECT DISTINCT ?end ({fresh} AS ?fresh) WHERE {{ {walk} }} LIMIT {2 * limits.rows + 1:d}"


def _scanned_ends(chain: Chain, limits: Limits, most: int) -> str:
    """The first ends of a chain that are no literals: those whose relations are looked for."""
    walk = _walk(chain, limits.scanned)
    if not chain.hops:
        return walk
    return f"{{ SELECT DISTINCT ?end WHERE {{ {walk} FILTER(!isLiteral(?end)) }} LIMIT {most:d} }}"


def _relations_on(chain: Chain, limits: Limits) -> Iterator[str]:
    """Ask for ``?relation ?forward`` at the ends of a chain, one direction at a time.

    OPTIONAL, by which a row may have no relation, has Virtuoso begin with the chain: asked for one
    of its graphs, it would read all triples first, and lose some relations.
    """
    scanned = _scanned_ends(chain, limits, limits.scanned)
    triples = [("?end ?relation ?to", TRUE), ("?from ?relation ?end", FALSE)]
    for triple, forward in triples[_is_value(chain) :]:
        read = f"SELECT ?relation WHERE {{ {scanned} OPTIONAL {{ {triple} }} }} LIMIT {limits.triples:d}"
        yield f"SELECT DISTINCT ?relation ({forward} AS ?forward) WHERE {{ {{ {read} }} }}"


def _is_value(chain: Chain) -> bool:
    """Return whether a chain ends at a value where it begins, which has no facts of its own."""
    return not chain.hops and is_value_id(chain.topic.id)


def _cuts(chain: Chain, limits: Limits, *, ends: bool, hops: bool) -> Iterator[str]:
    """Ask for ``?cut`` for each limit that leaves something of a chain out.

    Of a sample it is told of its ends alone: to tell what else leads on takes longer than the sample.
    """
    hops = hops and not (limits.sampled and chain.hops)
    between = {CUT_NODES: limits.nodes} if ends else {}
    between |= {CUT_ENDS: limits.scanned} if hops else {}
    for depth in range(1, chain.depth):
        for name, most in between.items():
            nodes = nodes_after(chain, depth, most, marked=name == CUT_NODES)  # as ends are read
            yield cut_query(name, nodes, most)
    for name in between if chain.hops and chain.topic == ANY else ():
        hop, held = chain.steps[0]
        read = _facts_of_anything(triple_pattern(_topic(chain), hop, "?e1", held), "?e1")
        yield cut_query(name, read, MAX_TRIPLES_SCANNED)
    if hops and chain.hops and not ends:
        walk = _walk(chain, limits.scanned)
        reached = f"SELECT DISTINCT ?end WHERE {{ {walk} FILTER(!isLiteral(?end)) }}"
        yield cut_query(CUT_ENDS, reached, limits.scanned)
    if hops:
        scanned = _scanned_ends(chain, limits, limits.scanned)
        near = "?from ?relation ?end" if _is_value(chain) else NEIGHBOURS
        read = f"SELECT ?relation WHERE {{ {scanned} OPTIONAL {{ {near} }} }}"
        yield cut_query(CUT_TRIPLES, read, limits.triples)


def cut_query(limit: str, query: str, most: int) -> str:
    """Ask for ``?cut``, the name of a limit, where a query has more rows than that."""
    return f'SELECT ("{limit}" AS ?cut) WHERE {{ {{ {query} OFFSET {most:d} LIMIT 1 }} }}'


def visit_chains(
    chains: Sequence[Chain], labels: Sequence[str], limits: Limits, *, ends: bool, hops: bool
) -> str:
    """Ask for the ``?end ?fresh ?label ?rank`` of chains and the ``?relation ?forward`` that lead on.

    ``?visit`` is the place of the chain, from 0; the first has none. A row has a ``?relation``, the end
    of a chain, or ``?cut``: the name of a limit that left something of the chain out. A chain without
    hops ends at its topic, if the graph knows it. Names are looked up once, after all chains: in each,
    Virtuoso loses ends. The parts of a chain are one of the whole: pyoxigraph takes twice as long to plan
    fifty in a row.
    """
    parts = []
    for place, chain in enumerate(chains):
        numbered = f'BIND("{place:d}" AS ?visit)' if place else ""
        nameless = f"BIND({NOWHERE} AS ?end)" if ends else ""
        reached = f"{{ {_chain_ends(chain, limits)} }}" if chain.hops else known_entities([chain.topic.id])
        blocks = [f"{{ {reached} {numbered} }}"] if ends else []
        others = list(_relations_on(chain, limits) if hops else ())
        others += _cuts(chain, limits, ends=ends, hops=hops)
        blocks += [f"{{ {{ {each} }} {numbered} {nameless} }}" for each in others]
        parts.append(f"{{ {' UNION '.join(blocks)} }}")
    columns = "?visit" + " ?end ?fresh ?label ?rank" * ends + " ?relation ?forward" * hops + " ?cut"
    named = label_of(labels) if ends else ""
    return f"SELECT {columns} WHERE {{ {{ {' UNION '.join(parts)} }} {named} }}"


def relations_past(chains: Sequence[Chain], limits: Limits) -> str:
    """Ask for ``?visit ?relation ?forward`` that lead on from the ends of chains, and elsewhere than back.

    Back is the node that the last hop of a chain has come from. ``?visit`` is the place of the chain, from 0.
    """
    blocks = []
    for place, chain in enumerate(chains):
        start = f"?e{chain.depth - 1}" if chain.depth > 1 or chain.topic == ANY else ""
        walk = f"{_walk(chain, limits.nodes)} FILTER(!isLiteral(?end))"
        reached = f"SELECT {start} ?end WHERE {{ {walk} }} LIMIT {limits.scanned:d}"
        for triple, other, forward in (
            ("?end ?relation ?to", "?to", TRUE),
            ("?from ?relation ?end", "?from", FALSE),
        ):
            read = f"SELECT {start} ?relation {other} WHERE {{ {{ {reached} }} OPTIONAL {{ {triple} }} }}"
            elsewhere = f"{other} != {start}" if start else compare_node(other, "!=", chain.topic)
            elsewhere = f"FILTER(isLiteral({other}) || {elsewhere})"
            blocks.append(
                f'{{ SELECT DISTINCT ("{place:d}" AS ?visit) ?relation ({forward} AS ?forward) WHERE {{ '
                f"{{ {read} LIMIT {limits.triples:d} }} {elsewhere} }} }}"
            )
    return f"SELECT ?visit ?relation ?forward WHERE {{ {' UNION '.join(blocks)} }}"


def some_ends(hops: Sequence[Hop], labels: Sequence[str], most: int) -> str:
    """Ask for ``?place ?end ?label ?rank``: some nodes that each of some hops leads to, from anywhere."""
    blocks = (
        f'{{ SELECT ("{place:d}" AS ?place) ?end WHERE {{ {triple_pattern("?start", hop, "?end")} }} '
        f"LIMIT {most:d} }}"
        for place, hop in enumerate(hops)
    )
    return f"SELECT ?place ?end ?label ?rank WHERE {{ {{ {' UNION '.join(blocks)} }} {label_of(labels)} }}"


def relations_held(chains: Sequence[Chain], unseen: Mapping[bool, Sequence[str]], limits: Limits) -> str:
    """Ask which of some relations, by their direction, lead on from chains: ``?visit ?relation ?forward``.

    A look-up for each of the first ends and each relation, instead of reading all triples of a hub.
    """
    most = limits.ends_looked_up(unseen)
    places = (
        f'{{ {_scanned_ends(chain, limits, most)} BIND("{place:d}" AS ?visit) }}'
        for place, chain in enumerate(chains)
    )
    ends = f"{{ SELECT ?end ?visit WHERE {{ {' UNION '.join(places)} }} }}"
    blocks = []
    for forward, relations in unseen.items():
        triple = "?end ?relation ?to" if forward else "?from ?relation ?end"
        blocks.append(
            f"{{ SELECT DISTINCT ?visit ?relation ({TRUE if forward else FALSE} AS ?forward) WHERE {{ {ends} "
            f"{one_of('?relation', relations)} FILTER EXISTS {{ {triple} }} }} }}"
        )
    return f"SELECT ?visit ?relation ?forward WHERE {{ {' UNION '.join(blocks)} }}"


def relations_of(id: str) -> str:
    """Ask for every ``?relation ?forward`` of an entity, reading all of its triples."""
    return f"SELECT DISTINCT ?relation ?forward WHERE {{ {one_of('?end', [id])} {NEIGHBOURS} }}"


def list_relations(ids: Sequence[str]) -> str:
    """Ask for ``?end ?relation ?forward`` of each id; ``?cut`` where there is too much to read."""
    read = f"SELECT ?end ?relation ?forward WHERE {{ {one_of('?end', ids)} OPTIONAL {{ {NEIGHBOURS} }} }}"
    return (
        f"SELECT DISTINCT ?end ?relation ?forward ?cut WHERE {{ {{ {read} LIMIT {MAX_TRIPLES_SCANNED:d} }} "
        f"UNION {{ {cut_query(CUT_TRIPLES, read, MAX_TRIPLES_SCANNED)} }} }}"
    )


def reached_ends(chain: Chain, ends: Iterable[Entity], *, fresh: bool = False) -> str:
    """Ask for those ``?end`` that a chain reaches; ``fresh``: by nodes none of which is the topic.

    Each end is tried for itself, and backwards from there: the chain may reach any number of others. A
    filter in each hop keeps a store from beginning at the topic, which may be a hub.
    """
    tried = ""
    for triple in reversed(list(_steps_back(chain, "?end", fresh=fresh))):
        tried = f"FILTER EXISTS {{ {triple} {tried} }}"
    return f"SELECT ?end WHERE {{ VALUES ?end {{ {values_list(ends)} }} {tried} }}"


def trace_chain(chain: Chain, ends: Sequence[Term], labels: Sequence[str]) -> str:
    """Ask for one ``?path`` to each ``?end``, with ``?place ?node ?label ?rank`` along it.

    A path is a string: 1 if it visits the topic again and 0 if not, then the
    IRIs of the intermediate nodes, a space after each. The least string per
    node and hop gives the least string of all, so paths are never enumerated. Where more ways than
    `MAX_NODES_BETWEEN` lead on from a hop, ``?cut`` says so: an end may then have no path here.
    """
    last = chain.depth
    ways = _ways(chain, last, ends, limited=last > 1)
    least = f"SELECT ?end (MIN(?w{last}) AS ?path) WHERE {{ {{ {ways} }} }} GROUP BY ?end"
    blocks = [f"{{ {{ {least} }} {_path_nodes(chain)} }}"]
    for depth in range(1, last + 1) if last > 1 else ():
        more = cut_query(CUT_NODES, _ways(chain, depth, ends, limited=False), MAX_NODES_BETWEEN)
        blocks.append(f"{{ {{ {more} }} BIND({NOWHERE} AS ?node) }}")
    if tried := _nodes_tried(chain, ends):
        more = cut_query(CUT_NODES, nodes_after(chain, last - 1, MAX_NODES_BETWEEN), tried)
        blocks.append(f"{{ {{ {more} }} BIND({NOWHERE} AS ?node) }}")
    return (
        "SELECT ?end ?path ?place ?node ?label ?rank ?cut WHERE { "
        f"{{ SELECT ?end ?path ?place ?node ?cut WHERE {{ {' UNION '.join(blocks)} }} }} "
        f"{label_of(labels, '?node')} }}"
    )


def _ways(chain: Chain, depth: int, ends: Sequence[Term], *, limited: bool = True) -> str:
    """Ask for the ways to the nodes after ``depth`` hops, by the least path to each node before them."""
    topic, last = serialise(chain.topic), depth == chain.depth
    end = "?end" if last else f"?e{depth}"
    start, path, before, passed = topic, '"0"', "", ""
    tried = _nodes_tried(chain, ends) if last else None
    if depth > 1:
        start, path = f"?e{depth - 1}", f"?p{depth - 1}"
        ways = f"{{ {_ways(chain, depth - 1, ends)} }}"
        most = f" LIMIT {tried:d}" if tried else ""
        least = f"SELECT {start} (MIN(?w{depth - 1}) AS {path}) WHERE {{ {ways} }} GROUP BY {start}{most}"
        before = f"{{ {least} }}"
        passed = f", STR({start}), {_SPACE}"
    hop, held = chain.steps[depth - 1]
    is_topic = compare_node(end, "=", chain.topic)
    way = f'CONCAT(IF({is_topic}, "1", SUBSTR({path}, 1, 1)), SUBSTR({path}, 2){passed})'
    step = triple_pattern(start, hop, end, held)
    if tried:
        step = f"{_restrict_ends(ends)} FILTER EXISTS {{ {step} }}"
    elif last:
        step = f"{step} {_restrict_ends(ends)}"
    else:
        step = f"{step} FILTER(!isLiteral({end}))"  # a path is of IRIs
    limit = f" LIMIT {MAX_NODES_BETWEEN:d}" if limited else ""
    return f"SELECT {end} ({way} AS ?w{depth}) WHERE {{ {before} {step} }}{limit}"


def _nodes_tried(chain: Chain, ends: Sequence[Term]) -> int | None:
    """Return how many nodes before the last hop each end is looked up from; None where ways are read."""
    few = chain.depth > 1 and not chain.steps[-1][1] and len(ends) <= MAX_ENDS_TRIED and _are_entities(ends)
    return max(1, MAX_LOOKUPS // len(ends)) if few and ends else None


def trace_back(chain: Chain, ends: Sequence[Term], *, fresh: bool) -> str:
    """Ask for some way to each end, as ``?place ?e1 ?e2`` …; ``?place`` counts the ends from 0.

    ``fresh``: by nodes none of which is the topic. From anything, what it sets out from comes first.
    """
    between = [f"?e{depth}" for depth in range(chain.topic != ANY, chain.depth)]
    blocks = [
        f'{{ SELECT {" ".join(between)} ("{place:d}" AS ?place) WHERE {{ '
        f"{' '.join(_steps_back(chain, serialise(end), fresh=fresh))} }} LIMIT 1 }}"
        for place, end in enumerate(ends)
    ]
    return f"SELECT ?place {' '.join(between)} WHERE {{ {' UNION '.join(blocks)} }}"


def _steps_back(chain: Chain, end: str, *, fresh: bool) -> Iterator[str]:
    """Yield the pattern of each hop of a chain, from its end to its topic."""
    topic = _topic(chain)
    for depth in range(chain.depth, 0, -1):
        hop, held = chain.steps[depth - 1]
        start = topic if depth == 1 else f"?e{depth - 1}"
        pattern = triple_pattern(start, hop, end, held if end.startswith("?") else ())
        apart = fresh and depth > 1 and chain.topic != ANY
        yield f"{pattern} FILTER({compare_node(start, '!=', chain.topic)})" if apart else pattern
        end = start


def _restrict_ends(ends: Sequence[Term]) -> str:
    """Hold ``?end`` to some terms; literals by their text: Virtuoso takes no ``"abc"^^xsd:integer``."""
    if _are_entities(ends):
        return f"VALUES ?end {{ {values_list(ends)} }}"
    return f"FILTER({' || '.join(dict.fromkeys(test for end in ends for test in _equality_tests(end)))})"


def _are_entities(ends: Sequence[Term]) -> TypeGuard[Sequence[Entity]]:
    return all(isinstance(end, Entity) for end in ends)


def _equality_tests(end: Term) -> Iterator[str]:
    end = plain_term(end)
    text = write_iri(end.id)[1:-1] if isinstance(end, Entity) else end.value
    yield f"STR(?end) = {serialise(Literal(text))}"
    if isinstance(end, Literal) and end.datatype in _APPROXIMATE and _is_number(end.value):
        yield f"?end = {serialise(end)}"  # Virtuoso writes these in several ways


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


_SPACE = '" "'


def _path_nodes(chain: Chain) -> str:
    """Bind ``?node`` to the topic (place 0), each intermediate node, and the end in turn.

    COALESCE ends in a constant, so that a planner knows ``?node`` to be bound and
    looks up its labels instead of reading them all.
    """
    binds, rest, node = [], "SUBSTR(?path, 2)", "?end"
    for place in range(1, chain.depth):
        binds.append(f"BIND(STRBEFORE({rest}, {_SPACE}) AS ?s{place})")
        binds.append(f"BIND(STRAFTER({rest}, {_SPACE}) AS ?r{place})")
        rest = f"?r{place}"
        node = f"IF(?place = {place}, IRI(?s{place}), {node})"
    places = " ".join(map(str, range(chain.depth + 1)))
    topic = serialise(chain.topic)
    chosen = f"COALESCE(IF(?place = 0, {topic}, {node}), {topic})"
    return f"{' '.join(binds)} VALUES ?place {{ {places} }} BIND({chosen} AS ?node)"
