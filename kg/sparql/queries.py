"""All SPARQL text that kgqa writes, built from typed terms and nothing else.

Only two kinds of text enter a query: constants of this file, and terms that
`serialise` has written.

A hop costs what it shows, whatever the size of the graph: nothing is sorted, and what is read at
each place of a chain is limited. Chains are nested ``SELECT DISTINCT``, one per hop, so that a
fan-out through a hub costs its nodes and not its paths. Where a limit left something out, a row
says so (``?cut``). A node that the chain is held at has a ``VALUES`` beside its hop: what is beyond
these entities is not read.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kgqa.kg.dialects import Dialect, LabelPredicates
from kgqa.kg.terms import XSD_STRING, Chain, Entity, Hop, Literal, Term

BLANK_NAMESPACE = "urn:kgqa:blank:"
"""Blank nodes are stored under this namespace, so that a query can name them."""

MAX_NODES_BETWEEN = 9_999
"""Distinct nodes after a hop, except the last one, that a chain is followed on from."""

MAX_ENDS_SCANNED = 1_000
"""Ends of a chain, and nodes after each hop before, where it is read which relations lead on."""

MAX_TRIPLES_SCANNED = 100_000
"""Triples of these ends that are read, in either direction: 0.1 s on an embedded store."""

MAX_LOOKUPS = 100_000
"""Pairs of an end and a relation that are looked up where its triples are too many to read."""

CUT_NODES, CUT_ENDS, CUT_TRIPLES = "nodes", "ends", "triples"
"""Values of ``?cut``: which of these limits left something out."""

_TRUE, _FALSE = '"1"', '"0"'
"""Truth values: Virtuoso loses those of its own, and numbers, between the parts of a UNION."""

_NEIGHBOURS = (
    f"{{ ?end ?relation ?to BIND({_TRUE} AS ?forward) }} UNION "
    f"{{ ?from ?relation ?end BIND({_FALSE} AS ?forward) }}"
)

_NOWHERE = "<urn:kgqa:nowhere>"
"""An end for rows that have none: of a variable without a value all names would be looked up."""

_APPROXIMATE = frozenset(f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("double", "float"))

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x00": "\\U00000000"}
_SPECIAL = re.compile(r'[\\"\n\r\t\x00]|(?<=\\)[uU]')


def _escape_character(found: re.Match[str]) -> str:
    char = found.group()
    return _ESCAPES.get(char) or f"\\U{ord(char):08X}"


def write_iri(id: str) -> str:
    """Write an entity id or a relation as a SPARQL term."""
    return f"<{BLANK_NAMESPACE}{id[2:]}>" if id.startswith("_:") else f"<{id}>"


def serialise(term: Term) -> str:
    r"""Write a term as SPARQL.

    A ``u`` after a backslash is escaped as well: some parsers expand ``\uXXXX``
    in the whole query before they look for the ends of strings.

    >>> serialise(Literal('say "hi"', language="en"))
    '"say \\"hi\\""@en'
    """
    if isinstance(term, Entity):
        return write_iri(term.id)
    text = f'"{_SPECIAL.sub(_escape_character, term.value)}"'
    if term.language:
        return f"{text}@{term.language}"
    return text if term.datatype == XSD_STRING else f"{text}^^<{term.datatype}>"


def _values_list(terms: Iterable[Term]) -> str:
    """Write terms for VALUES: a plain string also with its type, which to Virtuoso is another term."""
    written = [serialise(term) for term in terms]
    return " ".join(
        f"{each} {each}^^<{XSD_STRING}>" if each.endswith('"') else each for each in dict.fromkeys(written)
    )


def _triple_pattern(start: str, hop: Hop, end: str, held: Iterable[Entity] = ()) -> str:
    relation, listed = write_iri(hop.relation), " ".join(map(serialise, held))
    step = f"{start} {relation} {end} ." if hop.forward else f"{end} {relation} {start} ."
    return f"{step} VALUES {end} {{ {listed} }}" if listed else step


def _nodes_after(chain: Chain, depth: int, most: int, *, marked: bool = False) -> str:
    """Ask for the distinct nodes ``?e1``, ``?e2`` … after so many hops of a chain, the last hop left out.

    Those after the hops before are the first ``most``. ``marked`` binds ``?f1`` and so on: whether no
    node so far is the topic.
    """
    topic, node = serialise(chain.topic), f"?e{depth}"
    start, fresh, before = topic, _TRUE, ""
    if depth > 1:
        start, fresh = f"?e{depth - 1}", f"?f{depth - 1}"
        before = f"{{ {_nodes_after(chain, depth - 1, most, marked=marked)} LIMIT {most:d} }}"
    mark = f" (IF({node} = {topic}, {_FALSE}, {fresh}) AS ?f{depth})" if marked else ""
    hop, held = chain.steps[depth - 1]
    return f"SELECT DISTINCT {node}{mark} WHERE {{ {before} {_triple_pattern(start, hop, node, held)} }}"


def _walk(chain: Chain, most: int, *, marked: bool = False) -> str:
    """The pattern from a chain's topic to ``?end``, by the first ``most`` nodes after each hop between."""
    if not chain.hops:
        return f"VALUES ?end {{ {serialise(chain.topic)} }}"
    start, before = serialise(chain.topic), ""
    if (depth := chain.depth - 1) > 0:
        start = f"?e{depth}"
        before = f"{{ {_nodes_after(chain, depth, most, marked=marked)} LIMIT {most:d} }}"
    hop, held = chain.steps[-1]
    return f"{before} {_triple_pattern(start, hop, '?end', held)}"


def _chain_ends(chain: Chain, limit: int) -> str:
    """Ask for the first ``limit`` ends of a chain, each with ``?fresh``: no visit to the topic between.

    An end that is reached both ways has two rows.
    """
    if chain.depth == 1:
        return f"SELECT DISTINCT ?end ({_TRUE} AS ?fresh) WHERE {{ {_walk(chain, limit)} }} LIMIT {limit:d}"
    walk, fresh = _walk(chain, MAX_NODES_BETWEEN, marked=True), f"?f{chain.depth - 1}"
    return f"SELECT DISTINCT ?end ({fresh} AS ?fresh) WHERE {{ {walk} }} LIMIT {2 * limit - 1:d}"


def _scanned_ends(chain: Chain, limit: int = MAX_ENDS_SCANNED) -> str:
    """The first ends of a chain that are no literals: those whose relations are looked for."""
    walk = _walk(chain, MAX_ENDS_SCANNED)
    if not chain.hops:
        return walk
    return f"{{ SELECT DISTINCT ?end WHERE {{ {walk} FILTER(!isLiteral(?end)) }} LIMIT {limit:d} }}"


def _relations_on(chain: Chain) -> Iterator[str]:
    """Ask for ``?relation ?forward`` at the ends of a chain, one direction at a time.

    OPTIONAL, by which a row may have no relation, has Virtuoso begin with the chain: asked for one
    of its graphs, it would read all triples first, and lose some relations.
    """
    for triple, forward in (("?end ?relation ?to", _TRUE), ("?from ?relation ?end", _FALSE)):
        read = (
            f"SELECT ?relation WHERE {{ {_scanned_ends(chain)} OPTIONAL {{ {triple} }} }} "
            f"LIMIT {MAX_TRIPLES_SCANNED:d}"
        )
        yield f"SELECT DISTINCT ?relation ({forward} AS ?forward) WHERE {{ {{ {read} }} }}"


def _cuts(chain: Chain, *, ends: bool, hops: bool) -> Iterator[str]:
    """Ask for ``?cut`` for each limit that leaves something of a chain out."""
    limits = {CUT_NODES: MAX_NODES_BETWEEN} if ends else {}
    limits |= {CUT_ENDS: MAX_ENDS_SCANNED} if hops else {}
    for depth in range(1, chain.depth):
        for name, most in limits.items():
            yield _cut(name, _nodes_after(chain, depth, most), most)
    if hops and chain.hops and not ends:
        walk = _walk(chain, MAX_ENDS_SCANNED)
        reached = f"SELECT DISTINCT ?end WHERE {{ {walk} FILTER(!isLiteral(?end)) }}"
        yield _cut(CUT_ENDS, reached, MAX_ENDS_SCANNED)
    if hops:
        read = f"SELECT ?relation WHERE {{ {_scanned_ends(chain)} OPTIONAL {{ {_NEIGHBOURS} }} }}"
        yield _cut(CUT_TRIPLES, read, MAX_TRIPLES_SCANNED)


def _cut(limit: str, query: str, most: int, column: str = "?cut") -> str:
    return f'SELECT ("{limit}" AS {column}) WHERE {{ {{ {query} OFFSET {most:d} LIMIT 1 }} }}'


def _label_of(labels: Sequence[str], variable: str = "?end") -> str:
    """Bind ``?label``, and its predicate's place in ``labels`` as ``?rank``, where there is one."""
    if not labels:
        return ""
    tags = labels.languages if isinstance(labels, LabelPredicates) else ()
    known = " || ".join(f'LANG(?label) = "{tag}"' for tag in tags)
    spoken = f" FILTER({known})" if known else ""
    if len(labels) == 1:
        return f"OPTIONAL {{ {variable} {write_iri(labels[0])} ?label{spoken} }}"
    places = " ".join(f"({rank} {write_iri(label)})" for rank, label in enumerate(labels))
    return f"OPTIONAL {{ VALUES (?rank ?naming) {{ {places} }} {variable} ?naming ?label{spoken} }}"


def visit_chains(
    chains: Sequence[Chain], labels: Sequence[str], limit: int, *, ends: bool, hops: bool
) -> str:
    """Ask for the ``?end ?fresh ?label ?rank`` of chains and the ``?relation ?forward`` that lead on.

    ``?visit`` is the place of the chain, from 0; the first has none. A row has a ``?relation``, the end
    of a chain, or ``?cut``: the name of a limit that left something of the chain out. A chain without
    hops ends at its topic, if the graph knows it. Names are looked up once, after all chains: in each,
    Virtuoso loses ends.
    """
    blocks = []
    for place, chain in enumerate(chains):
        numbered = f'BIND("{place:d}" AS ?visit)' if place else ""
        nameless = f"BIND({_NOWHERE} AS ?end)" if ends else ""
        if ends:
            reached = f"{{ {_chain_ends(chain, limit)} }}" if chain.hops else _known_entity(chain.topic.id)
            blocks.append(f"{{ {reached} {numbered} }}")
        others = [*(_relations_on(chain) if hops else ()), *_cuts(chain, ends=ends, hops=hops)]
        blocks += [f"{{ {{ {each} }} {numbered} {nameless} }}" for each in others]
    columns = "?visit" + " ?end ?fresh ?label ?rank" * ends + " ?relation ?forward" * hops + " ?cut"
    named = _label_of(labels) if ends else ""
    return f"SELECT {columns} WHERE {{ {{ {' UNION '.join(blocks)} }} {named} }}"


def relations_held(chain: Chain, unseen: Mapping[bool, Sequence[str]], most: int) -> str:
    """Ask which of some relations, by their direction, lead on from a chain: ``?relation ?forward``.

    A look-up for each of the first ``most`` ends and each relation, instead of reading all triples of a hub.
    """
    ends = _scanned_ends(chain, most)
    blocks = []
    for forward, relations in unseen.items():
        triple = "?end ?relation ?to" if forward else "?from ?relation ?end"
        listed = " ".join(map(write_iri, relations))
        blocks.append(
            f"{{ SELECT DISTINCT ?relation ({_TRUE if forward else _FALSE} AS ?forward) WHERE {{ {ends} "
            f"VALUES ?relation {{ {listed} }} FILTER EXISTS {{ {triple} }} }} }}"
        )
    return f"SELECT ?relation ?forward WHERE {{ {' UNION '.join(blocks)} }}"


def relations_of(id: str) -> str:
    """Ask for every ``?relation ?forward`` of an entity, reading all of its triples."""
    return f"SELECT DISTINCT ?relation ?forward WHERE {{ VALUES ?end {{ {write_iri(id)} }} {_NEIGHBOURS} }}"


def reached_ends(chain: Chain, ends: Iterable[Entity], *, fresh: bool = False) -> str:
    """Ask for those ``?end`` that a chain reaches; ``fresh``: by nodes none of which is the topic.

    Each end is tried for itself, and backwards from there: the chain may reach any number of others.
    """
    back = _walk_back(chain, "?end", fresh=fresh)
    return f"SELECT ?end WHERE {{ VALUES ?end {{ {_values_list(ends)} }} FILTER EXISTS {{ {back} }} }}"


def count_ends(chain: Chain) -> str:
    """Ask for ``?n``, the number of distinct ends of a chain, all of them."""
    start, before = serialise(chain.topic), ""
    for depth, (hop, held) in enumerate(chain.steps, 1):
        node = "?end" if depth == chain.depth else f"?e{depth}"
        before = f"{before} {_triple_pattern(start, hop, node, held)}"
        before = before if depth == chain.depth else f"{{ SELECT DISTINCT {node} WHERE {{ {before} }} }}"
        start = node
    return f"SELECT (COUNT(DISTINCT ?end) AS ?n) WHERE {{ {before} }}"


def names(ids: Iterable[str], labels: Sequence[str]) -> str:
    """Ask for ``?end ?label ?rank`` of each id."""
    listed = " ".join(map(write_iri, ids))
    return f"SELECT ?end ?label ?rank WHERE {{ VALUES ?end {{ {listed} }} {_label_of(labels)} }}"


def literals(values: Iterable[Literal]) -> str:
    """Ask for those literals, as ``?end``, that are the object of some triple."""
    return f"SELECT ?end WHERE {{ VALUES ?end {{ {_values_list(values)} }} FILTER EXISTS {{ ?s ?p ?end }} }}"


def entity(id: str, labels: Sequence[str]) -> str:
    """Ask for ``?end ?fresh ?label ?rank`` of an id that is subject or object of some triple."""
    return f"SELECT ?end ?fresh ?label ?rank WHERE {{ {_known_entity(id)} {_label_of(labels)} }}"


def _known_entity(id: str) -> str:
    known = "EXISTS { ?end ?p ?o } || EXISTS { ?s ?q ?end }"
    return (
        f"{{ SELECT ?end ({_TRUE} AS ?fresh) WHERE {{ VALUES ?end {{ {write_iri(id)} }} FILTER({known}) }} }}"
    )


def twins(known: Iterable[tuple[str, Term]], labels: Sequence[str]) -> str:
    """Ask for ``?end ?fresh ?label ?rank`` of what one of the (predicate, object) pairs is said of."""
    pairs = " UNION ".join(
        f"{{ ?end {write_iri(predicate)} {serialise(term)} }}" for predicate, term in known
    )
    return (
        f"SELECT ?end ?fresh ?label ?rank WHERE {{ {{ SELECT DISTINCT ?end ({_TRUE} AS ?fresh) "
        f"WHERE {{ {pairs} }} }} {_label_of(labels)} }}"
    )


def list_relations(ids: Sequence[str]) -> str:
    """Ask for ``?end ?relation ?forward`` of each id; ``?more`` where there is too much to read."""
    listed = " ".join(map(write_iri, ids))
    read = (
        f"SELECT ?end ?relation ?forward WHERE {{ VALUES ?end {{ {listed} }} OPTIONAL {{ {_NEIGHBOURS} }} }}"
    )
    return (
        f"SELECT DISTINCT ?end ?relation ?forward ?more WHERE {{ {{ {read} LIMIT {MAX_TRIPLES_SCANNED:d} }} "
        f"UNION {{ {_cut(CUT_TRIPLES, read, MAX_TRIPLES_SCANNED, '?more')} }} }}"
    )


def follow_relation(steps: Sequence[tuple[str, Hop]], labels: Sequence[str], limit: int) -> str:
    """Ask for ``?step ?end ?label ?rank``, where ``?step`` counts from 0; ``limit`` ends of each."""
    blocks = []
    for place, (id, hop) in enumerate(steps):
        triple = _triple_pattern(write_iri(id), hop, "?end")
        ends = f"SELECT DISTINCT ?end WHERE {{ {triple} }} LIMIT {limit:d}"
        blocks.append(f'{{ {{ {ends} }} BIND("{place:d}" AS ?step) }}')
    return f"SELECT ?step ?end ?label ?rank WHERE {{ {' UNION '.join(blocks)} {_label_of(labels)} }}"


def follow_relations(starts: Mapping[Hop, Iterable[str]], labels: Sequence[str], limit: int) -> str:
    """Ask for ``?step ?start ?end ?label ?rank``, where ``?step`` counts hops from 0; ``limit`` rows of each.

    Virtuoso takes seconds for a hundred parts of `follow_relation`, and none for as many starts.
    """
    blocks = []
    for place, (hop, ids) in enumerate(starts.items()):
        listed = " ".join(map(write_iri, ids))
        steps = f"VALUES ?start {{ {listed} }} {_triple_pattern('?start', hop, '?end')}"
        first = f"SELECT DISTINCT ?start ?end WHERE {{ {steps} }} LIMIT {limit:d}"
        blocks.append(f'{{ {{ {first} }} BIND("{place:d}" AS ?step) }}')
    united = f"{{ {' UNION '.join(blocks)} }}"
    return f"SELECT ?step ?start ?end ?label ?rank WHERE {{ {united} {_label_of(labels)} }}"


def trace_chain(chain: Chain, ends: Sequence[Term], labels: Sequence[str]) -> str:
    """Ask for one ``?path`` to each ``?end``, with ``?place ?node ?label ?rank`` along it.

    A path is a string: 1 if it visits the topic again and 0 if not, then the
    IRIs of the intermediate nodes, a space after each. The least string per
    node and hop gives the least string of all, so paths are never enumerated. Where more ways than
    `MAX_NODES_BETWEEN` lead on from a hop, ``?cut`` says so: an end may then have no path here.
    """
    last = chain.depth
    least = f"SELECT ?end (MIN(?w{last}) AS ?path) WHERE {{ {{ {_ways(chain, last, ends)} }} }} GROUP BY ?end"
    blocks = [f"{{ {{ {least} }} {_path_nodes(chain)} }}"]
    for depth in range(1, last + 1) if last > 1 else ():
        more = _cut(CUT_NODES, _ways(chain, depth, ends, limited=False), MAX_NODES_BETWEEN)
        blocks.append(f"{{ {{ {more} }} BIND({_NOWHERE} AS ?node) }}")
    return (
        "SELECT ?end ?path ?place ?node ?label ?rank ?cut WHERE { "
        f"{{ SELECT ?end ?path ?place ?node ?cut WHERE {{ {' UNION '.join(blocks)} }} }} "
        f"{_label_of(labels, '?node')} }}"
    )


def _ways(chain: Chain, depth: int, ends: Sequence[Term], *, limited: bool = True) -> str:
    """Ask for the ways to the nodes after ``depth`` hops, by the least path to each node before them."""
    topic, last = serialise(chain.topic), depth == chain.depth
    end = "?end" if last else f"?e{depth}"
    start, path, before, passed = topic, '"0"', "", ""
    if depth > 1:
        start, path = f"?e{depth - 1}", f"?p{depth - 1}"
        ways = f"{{ {_ways(chain, depth - 1, ends)} }}"
        before = f"{{ SELECT {start} (MIN(?w{depth - 1}) AS {path}) WHERE {{ {ways} }} GROUP BY {start} }}"
        passed = f", STR({start}), {_SPACE}"
    hop, held = chain.steps[depth - 1]
    way = f'CONCAT(IF({end} = {topic}, "1", SUBSTR({path}, 1, 1)), SUBSTR({path}, 2){passed})'
    step = f"{before} {_triple_pattern(start, hop, end, held)} {_restrict_ends(ends) if last else ''}"
    limit = f" LIMIT {MAX_NODES_BETWEEN:d}" if limited else ""
    return f"SELECT {end} ({way} AS ?w{depth}) WHERE {{ {step} }}{limit}"


def trace_back(chain: Chain, ends: Sequence[Term], *, fresh: bool) -> str:
    """Ask for some way to each end, as ``?place ?e1 ?e2`` …; ``?place`` counts the ends from 0.

    ``fresh``: by nodes none of which is the topic.
    """
    between = [f"?e{depth}" for depth in range(1, chain.depth)]
    blocks = [
        f'{{ SELECT {" ".join(between)} ("{place:d}" AS ?place) WHERE {{ '
        f"{_walk_back(chain, serialise(end), fresh=fresh)} }} LIMIT 1 }}"
        for place, end in enumerate(ends)
    ]
    return f"SELECT ?place {' '.join(between)} WHERE {{ {' UNION '.join(blocks)} }}"


def _walk_back(chain: Chain, end: str, *, fresh: bool) -> str:
    """The pattern of a chain from its end to its topic."""
    topic, triples = serialise(chain.topic), []
    for depth in range(chain.depth, 0, -1):
        hop, held = chain.steps[depth - 1]
        start = topic if depth == 1 else f"?e{depth - 1}"
        triples.append(_triple_pattern(start, hop, end, held if end.startswith("?") else ()))
        end = start
    others = (f"FILTER(?e{depth} != {topic})" for depth in range(1, chain.depth) if fresh)
    return " ".join([*triples, *others])


def _restrict_ends(ends: Sequence[Term]) -> str:
    """Hold ``?end`` to some terms; literals by their text: Virtuoso takes no ``"abc"^^xsd:integer``."""
    if all(isinstance(end, Entity) for end in ends):
        return f"VALUES ?end {{ {_values_list(ends)} }}"
    return f"FILTER({' || '.join(dict.fromkeys(test for end in ends for test in _equality_tests(end)))})"


def _equality_tests(end: Term) -> Iterator[str]:
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


def facts(id: str, dialect: Dialect, labels: Sequence[str], limit: int) -> str:
    """Ask for ``?relation ?forward ?end ?label ?rank`` around an entity, ``limit`` in either direction."""
    node, allowed = write_iri(id), _not_ignored(dialect)
    blocks = [
        f"{{ SELECT DISTINCT ?relation ?end ({forward} AS ?forward) WHERE {{ {triple} {allowed} }} "
        f"LIMIT {limit:d} }}"
        for triple, forward in ((f"{node} ?relation ?end", _TRUE), (f"?end ?relation {node}", _FALSE))
    ]
    return (
        f"SELECT ?relation ?forward ?end ?label ?rank WHERE {{ {{ {' UNION '.join(blocks)} }} "
        f"{_label_of(labels)} }}"
    )


def _not_ignored(dialect: Dialect) -> str:
    """Leave out the relations that the dialect ignores."""
    exact = ", ".join(map(write_iri, (*dialect.labels, *dialect.aliases, *dialect.ignored)))
    begins = [f"!STRSTARTS(STR(?relation), {serialise(Literal(text))})" for text in dialect.ignored_prefixes]
    holds = [f"!CONTAINS(STR(?relation), {serialise(Literal(text))})" for text in dialect.ignored_parts]
    return f"FILTER({' && '.join([f'?relation NOT IN ({exact})', *begins, *holds])})"


def objects(id: str, predicates: Sequence[str], labels: Sequence[str]) -> str:
    """Ask for ``?relation ?end ?label ?rank`` of one entity by some predicates."""
    listed = " ".join(map(write_iri, predicates))
    return (
        "SELECT ?relation ?end ?label ?rank WHERE { { SELECT DISTINCT ?relation ?end WHERE { "
        f"VALUES ?relation {{ {listed} }} {write_iri(id)} ?relation ?end }} }} {_label_of(labels)} }}"
    )


def predicates() -> str:
    """Ask for each ``?relation`` and its number of triples ``?n``."""
    return "SELECT ?relation (COUNT(*) AS ?n) WHERE { ?s ?relation ?o } GROUP BY ?relation"


def both_ways() -> str:
    """Ask for each ``?one ?other`` that facts ``?n`` have both, the one against the other's arrow."""
    return (
        "SELECT ?one ?other (COUNT(*) AS ?n) WHERE { ?a ?one ?b . ?b ?other ?a FILTER(?one != ?other) } "
        "GROUP BY ?one ?other"
    )


def count_upto(triples: int) -> str:
    """Ask for ``?n``, the number of triples, or so many if there are more."""
    return (
        f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ SELECT ?s WHERE {{ ?s ?relation ?o }} LIMIT {triples:d} }} }}"
    )


def count_nodes() -> str:
    """Ask for ``?n``, the number of distinct subjects and objects that are neither literal nor relation."""
    return (
        "SELECT (COUNT(*) AS ?n) WHERE { SELECT DISTINCT ?node WHERE { "
        "{ ?node ?p ?o } UNION { ?s ?q ?node FILTER(!isLiteral(?node)) } "
        "FILTER NOT EXISTS { ?x ?node ?y } } }"
    )


def count_named(labels: Sequence[str]) -> str:
    """Ask for ``?n``, the number of entities, relations left out, with a label."""
    listed = " ".join(map(write_iri, labels))
    return (
        f"SELECT (COUNT(DISTINCT ?node) AS ?n) WHERE {{ VALUES ?label {{ {listed} }} ?node ?label ?name "
        "FILTER NOT EXISTS { ?x ?node ?y } }"
    )


def all_names(predicates: Sequence[str]) -> str:
    """Ask for every ``?end ?relation ?name`` by label and alias predicates."""
    listed = " ".join(map(write_iri, predicates))
    return f"SELECT ?end ?relation ?name WHERE {{ VALUES ?relation {{ {listed} }} ?end ?relation ?name }}"


def called(names: Iterable[Literal], predicates: Sequence[str], labels: Sequence[str], limit: int) -> str:
    """Ask for ``?end ?name ?label ?rank``: who has one of the names, and its preferred name."""
    by, listed = " ".join(map(write_iri, predicates)), _values_list(names)
    return (
        "SELECT ?end ?name ?label ?rank WHERE { { SELECT DISTINCT ?end ?name WHERE { "
        f"VALUES ?name {{ {listed} }} VALUES ?by {{ {by} }} ?end ?by ?name }} LIMIT {limit:d} }} "
        f"{_label_of(labels)} }}"
    )


def degrees_of(ids: Iterable[str], most: int) -> str:
    """Ask for each ``?end`` twice with a number of triples ``?n``: from it and to it, up to ``most``."""
    blocks = [
        f"{{ SELECT ({write_iri(id)} AS ?end) (COUNT(*) AS ?n) WHERE {{ {{ SELECT ?x WHERE {{ {triple} }} "
        f"LIMIT {most:d} }} }} }}"
        for id in ids
        for triple in (f"{write_iri(id)} ?p ?x", f"?x ?p {write_iri(id)}")
    ]
    return f"SELECT ?end ?n WHERE {{ {' UNION '.join(blocks)} }}"


def present(predicates: Iterable[str]) -> str:
    """Ask which of the predicates are there: ``?place`` counts them from 0. One look at each."""
    blocks = (
        f'{{ SELECT ("{place}" AS ?place) WHERE {{ ?s {write_iri(predicate)} ?o }} LIMIT 1 }}'
        for place, predicate in enumerate(predicates)
    )
    return f"SELECT ?place WHERE {{ {' UNION '.join(blocks)} }}"


def degrees() -> str:
    """Ask for each ``?end`` that is no literal and its number of triples ``?n``, both directions."""
    return (
        "SELECT ?end (SUM(?k) AS ?n) WHERE { "
        "{ SELECT ?end (COUNT(*) AS ?k) WHERE { ?end ?p ?o } GROUP BY ?end } UNION "
        "{ SELECT ?end (COUNT(*) AS ?k) WHERE { ?s ?q ?end FILTER(!isLiteral(?end)) } GROUP BY ?end } } "
        "GROUP BY ?end"
    )
