"""All SPARQL text that kgqa writes, built from typed terms and nothing else.

Only two kinds of text enter a query: constants of this file, and terms that
`serialise` has written. Chains are nested ``SELECT DISTINCT``, one per hop from the
second on, so that a fan-out through a hub costs its triples and not its paths. A
node that the chain is held at has a ``VALUES`` beside its hop: what is beyond these
entities is not read.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kgqa.kg.dialects import Dialect, LabelPredicates
from kgqa.kg.terms import XSD_STRING, Chain, Entity, Hop, Literal, Term

BLANK_NAMESPACE = "urn:kgqa:blank:"
"""Blank nodes are stored under this namespace, so that a query can name them."""

MAX_HOPS_LISTED = 9_999  # hops that lead on at most; nothing has so many kinds of relations

_TRUE, _FALSE = '"1"', '"0"'
"""Truth values: Virtuoso loses those of its own, and numbers, between the parts of a UNION."""

_NEIGHBOURS = (
    f"{{ ?end ?relation ?to BIND({_TRUE} AS ?forward) }} UNION "
    f"{{ ?from ?relation ?end BIND({_FALSE} AS ?forward) }}"
)

_NOWHERE = "<urn:kgqa:nowhere>"
"""An end for rows that have none: of a variable without a value all names would be looked up."""

_APPROXIMATE = frozenset(f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("double", "float"))

_END_TEXT = "STR(?end)"
"""What ends are ordered by: pyoxigraph aborts the process where it orders some literals by value."""

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


def _distinct_ends(chain: Chain) -> str:
    """The distinct ends of a chain as ``?end``; those of one hop are distinct by themselves."""
    topic = serialise(chain.topic)
    if not chain.hops:
        return f"VALUES ?end {{ {topic} }}"
    start, inner = topic, ""
    for depth, (hop, held) in enumerate(chain.steps, 1):
        end = "?end" if depth == chain.depth else f"?e{depth}"
        inner = f"{inner} {_triple_pattern(start, hop, end, held)}"
        if depth > 1:
            inner = f"{{ SELECT DISTINCT {end} WHERE {{ {inner} }} }}"
        start = end
    return inner


def _ends_with_fresh(chain: Chain) -> str:
    """The ends of a chain as ``?end``, with ``?fresh``: no visit to the topic on the way."""
    topic = serialise(chain.topic)
    start, fresh, inner = topic, _TRUE, ""
    for depth, (hop, held) in enumerate(chain.steps, 1):
        end = "?end" if depth == chain.depth else f"?e{depth}"
        inner = f"{inner} {_triple_pattern(start, hop, end, held)}"
        start, fresh = end, f"IF({end} = {topic}, {_FALSE}, {fresh})"
        if 1 < depth < chain.depth:
            inner = f"{{ SELECT DISTINCT {end} ({fresh} AS ?f{depth}) WHERE {{ {inner} }} }}"
            fresh = f"?f{depth}"
    if chain.depth == 1:
        return f"SELECT DISTINCT ?end ({fresh} AS ?fresh) WHERE {{ {inner} }}"
    return f"SELECT ?end (MAX({fresh}) AS ?fresh) WHERE {{ {inner} }} GROUP BY ?end"


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


def _first_rows(columns: str, query: str, limit: int) -> str:
    """The first rows of a query by ``?end``; apart, since Virtuoso orders no groups by an expression."""
    return f"{{ SELECT {columns} WHERE {{ {{ {query} }} }} ORDER BY {_END_TEXT} LIMIT {limit:d} }}"


def extend_chain(chain: Chain) -> str:
    """Ask for ``?relation ?forward`` at the end of a chain; literals have none.

    OPTIONAL, by which a row may have no relation, has Virtuoso begin with the chain: asked for one
    of its graphs, it would read all triples first, and lose some relations.
    """
    return (
        f"SELECT DISTINCT ?relation ?forward WHERE {{ {_distinct_ends(chain)} FILTER(!isLiteral(?end)) "
        f"OPTIONAL {{ {_NEIGHBOURS} }} }} LIMIT {MAX_HOPS_LISTED + 1}"
    )


def follow_chain(chain: Chain, labels: Sequence[str], limit: int) -> str:
    """Ask for ``?end ?fresh ?label ?rank`` at the end of a chain of at least one hop."""
    return f"SELECT ?end ?fresh ?label ?rank WHERE {{ {_first_ends(chain, limit)} {_label_of(labels)} }}"


def _first_ends(chain: Chain, limit: int) -> str:
    return _first_rows("?end ?fresh", _ends_with_fresh(chain), limit)


def visit_chains(
    chains: Sequence[Chain], labels: Sequence[str], limit: int, *, ends: bool, hops: bool
) -> str:
    """Ask for what `follow_chain` (``ends``) and `extend_chain` (``hops``) ask for, of several chains.

    ``?visit`` is the place of the chain, from 0; the first has none. A row has either a ``?relation``
    or the end of a chain; limits hold for each chain. A chain without hops ends at its topic, if the
    graph knows it. Names are looked up once, after all chains: in each, Virtuoso loses ends.
    """
    blocks = []
    for place, chain in enumerate(chains):
        numbered = f'BIND("{place:d}" AS ?visit)' if place else ""
        reached = _first_ends(chain, limit) if chain.hops else _known_entity(chain.topic.id)
        blocks += [f"{{ {reached} {numbered} }}"] * ends
        nameless = f"BIND({_NOWHERE} AS ?end)" if ends else ""
        blocks += [f"{{ {{ {extend_chain(chain)} }} {numbered} {nameless} }}"] * hops
    columns = "?visit" + " ?end ?fresh ?label ?rank" * ends + " ?relation ?forward" * hops
    named = _label_of(labels) if ends else ""
    return f"SELECT {columns} WHERE {{ {{ {' UNION '.join(blocks)} }} {named} }}"


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
    """Ask for ``?end ?relation ?forward`` of each id, one more than `MAX_HOPS_LISTED` for each at most."""
    listed, most = " ".join(map(write_iri, ids)), (MAX_HOPS_LISTED + 1) * len(ids)
    return (
        f"SELECT DISTINCT ?end ?relation ?forward WHERE {{ VALUES ?end {{ {listed} }} "
        f"OPTIONAL {{ {_NEIGHBOURS} }} }} LIMIT {most:d}"
    )


def follow_relation(steps: Sequence[tuple[str, Hop]], labels: Sequence[str], limit: int) -> str:
    """Ask for ``?step ?end ?label ?rank``, where ``?step`` counts from 0; ``limit`` ends of each."""
    blocks = []
    for place, (id, hop) in enumerate(steps):
        ends = f"SELECT DISTINCT ?end WHERE {{ {_triple_pattern(write_iri(id), hop, '?end')} }}"
        blocks.append(f'{{ {_first_rows("?end", ends, limit)} BIND("{place:d}" AS ?step) }}')
    return f"SELECT ?step ?end ?label ?rank WHERE {{ {' UNION '.join(blocks)} {_label_of(labels)} }}"


def follow_relations(starts: Mapping[Hop, Iterable[str]], labels: Sequence[str], limit: int) -> str:
    """Ask for ``?step ?start ?end ?label ?rank``, where ``?step`` counts hops from 0; ``limit`` rows of each.

    Virtuoso takes seconds for a hundred parts of `follow_relation`, and none for as many starts.
    """
    blocks = []
    for place, (hop, ids) in enumerate(starts.items()):
        listed = " ".join(map(write_iri, ids))
        steps = f"VALUES ?start {{ {listed} }} {_triple_pattern('?start', hop, '?end')}"
        first = f"{{ SELECT DISTINCT ?start ?end WHERE {{ {steps} }} }}"
        ordered = f"SELECT ?start ?end WHERE {{ {first} }} ORDER BY {_END_TEXT} STR(?start) LIMIT {limit:d}"
        blocks.append(f'{{ {{ {ordered} }} BIND("{place:d}" AS ?step) }}')
    united = f"{{ {' UNION '.join(blocks)} }}"
    return f"SELECT ?step ?start ?end ?label ?rank WHERE {{ {united} {_label_of(labels)} }}"


def trace_chain(chain: Chain, ends: Sequence[Term], labels: Sequence[str]) -> str:
    """Ask for one ``?path`` to each ``?end``, with ``?place ?node ?label ?rank`` along it.

    A path is a string: 1 if it visits the topic again and 0 if not, then the
    IRIs of the intermediate nodes, a space after each. The least string per
    node and hop gives the least string of all, so paths are never enumerated.
    """
    return (
        "SELECT ?end ?path ?place ?node ?label ?rank WHERE { { SELECT ?end ?path ?place ?node WHERE { "
        f"{{ {_least_paths(chain)} }} {_restrict_ends(ends)} {_path_nodes(chain)} }} }} "
        f"{_label_of(labels, '?node')} }}"
    )


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


def _least_paths(chain: Chain) -> str:
    topic = serialise(chain.topic)
    start, path, inner = topic, '"0"', ""
    for depth, (hop, held) in enumerate(chain.steps, 1):
        last = depth == chain.depth
        end, into = ("?end", "?path") if last else (f"?e{depth}", f"?p{depth}")
        seen = f'IF({end} = {topic}, "1", SUBSTR({path}, 1, 1))'
        way = f"CONCAT({seen}, SUBSTR({path}, 2){'' if depth == 1 else f', STR({start}), {_SPACE}'})"
        inner = f"{inner} {_triple_pattern(start, hop, end, held)}"
        inner = f"{{ SELECT {end} (MIN({way}) AS {into}) WHERE {{ {inner} }} GROUP BY {end} }}"
        start, path = end, into
    return inner


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
    """Ask for ``?relation ?forward ?end ?label ?rank`` around an entity, facts from it first."""
    node, allowed = write_iri(id), _not_ignored(dialect)
    return (
        "SELECT ?relation ?forward ?end ?label ?rank WHERE { { SELECT ?relation ?forward ?end WHERE { "
        f"{{ SELECT DISTINCT ?relation ?end ({_TRUE} AS ?forward) WHERE {{ {node} ?relation ?end "
        f"{allowed} }} }} UNION {{ SELECT DISTINCT ?relation ?end ({_FALSE} AS ?forward) "
        f"WHERE {{ ?end ?relation {node} {allowed} }} }} }} "
        f"ORDER BY DESC(?forward) STR(?relation) {_END_TEXT} LIMIT {limit:d} }} {_label_of(labels)} }}"
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
