"""Queries about entities, their names and relations, and about a graph as a whole."""

from collections.abc import Iterable, Mapping, Sequence

from kgqa.kg.dialects import OWL, RDF, WIKIBASE, XSD, Dialect
from kgqa.kg.sparql.patterns import (
    FALSE,
    TRUE,
    known_entities,
    label_of,
    one_of,
    proof_pattern,
    serialise,
    triple_pattern,
    values_list,
    without_label,
    write_iri,
)
from kgqa.kg.terms import XSD_STRING, Hop, Literal, Term

MAX_VALUE_CHARS = 80  # characters of a value that a question may name

TEXT_DATATYPES = (
    XSD_STRING,
    f"{RDF}langString",
    *(XSD + name for name in ("token", "gYear", "date", "duration", "dayTimeDuration")),
)


def names(ids: Iterable[str], labels: Sequence[str], by: str = "") -> str:
    """Ask for ``?end ?label ?rank`` of each id: its own, or those of what leads to it ``by`` a relation."""
    named = f"?named {write_iri(by)} ?end . {label_of(labels, '?named')}" if by else label_of(labels)
    return f"SELECT ?end ?label ?rank WHERE {{ {one_of('?end', ids)} {named} }}"


def wikibase_relation() -> str:
    """Ask for ``?relation``, one by which a Wikibase states something directly."""
    return f"SELECT ?relation WHERE {{ ?property {write_iri(f'{WIKIBASE}directClaim')} ?relation }} LIMIT 1"


def literals(values: Iterable[Literal]) -> str:
    """Ask for those literals, as ``?end``, that are the object of some triple."""
    return f"SELECT ?end WHERE {{ VALUES ?end {{ {values_list(values)} }} FILTER EXISTS {{ ?s ?p ?end }} }}"


def entity(id: str, labels: Sequence[str]) -> str:
    """Ask for ``?end ?label ?rank`` of an id that is subject or object of some triple."""
    return f"SELECT ?end ?label ?rank WHERE {{ {known_entities([id])} {label_of(labels)} }}"


def twins(known: Iterable[tuple[str, Term]], labels: Sequence[str]) -> str:
    """Ask for ``?end ?label ?rank`` of what one of the (predicate, object) pairs is said of."""
    pairs = " UNION ".join(
        f"{{ ?end {write_iri(predicate)} {serialise(term)} }}" for predicate, term in known
    )
    ends = f"SELECT DISTINCT ?end WHERE {{ {pairs} }}"
    return f"SELECT ?end ?label ?rank WHERE {{ {{ {ends} }} {label_of(labels)} }}"


def follow_relation(steps: Sequence[tuple[str, Hop]], labels: Sequence[str], limit: int) -> str:
    """Ask for ``?step ?end ?label ?rank``, where ``?step`` counts from 0; ``limit`` ends of each."""
    blocks = []
    for place, (id, hop) in enumerate(steps):
        triple = triple_pattern(write_iri(id), hop, "?end")
        ends = f"SELECT DISTINCT ?end WHERE {{ {triple} }} LIMIT {limit:d}"
        blocks.append(f'{{ {{ {ends} }} BIND("{place:d}" AS ?step) }}')
    return f"SELECT ?step ?end ?label ?rank WHERE {{ {' UNION '.join(blocks)} {label_of(labels)} }}"


def follow_relations(starts: Mapping[Hop, Iterable[str]], labels: Sequence[str], limit: int) -> str:
    """Ask for ``?step ?start ?end ?label ?rank``, where ``?step`` counts hops from 0; ``limit`` rows of each.

    Virtuoso takes seconds for a hundred parts of `follow_relation`, and none for as many starts.
    """
    blocks = []
    for place, (hop, ids) in enumerate(starts.items()):
        steps = f"{one_of('?start', ids)} {triple_pattern('?start', hop, '?end')}"
        first = f"SELECT DISTINCT ?start ?end WHERE {{ {steps} }} LIMIT {limit:d}"
        blocks.append(f'{{ {{ {first} }} BIND("{place:d}" AS ?step) }}')
    united = f"{{ {' UNION '.join(blocks)} }}"
    return f"SELECT ?step ?start ?end ?label ?rank WHERE {{ {united} {label_of(labels)} }}"


def facts(id: str, dialect: Dialect, labels: Sequence[str], limit: int) -> str:
    """Ask for ``?relation ?forward ?end ?label ?rank`` around an entity, ``limit`` in either direction."""
    node, allowed = write_iri(id), _not_ignored(dialect)
    blocks = [
        f"{{ SELECT DISTINCT ?relation ?end ({forward} AS ?forward) WHERE {{ {triple} {allowed} }} "
        f"LIMIT {limit:d} }}"
        for triple, forward in _around(node)
    ]
    return (
        f"SELECT ?relation ?forward ?end ?label ?rank WHERE {{ {{ {' UNION '.join(blocks)} }} "
        f"{label_of(labels)} }}"
    )


def _around(node: str, end: str = "?end") -> list[tuple[str, str]]:
    """Write the triples from and to a node; to a value there are no others."""
    triples = [(f"{node} ?relation {end}", TRUE), (f"{end} ?relation {node}", FALSE)]
    return triples[node.startswith('"') :]


def _not_ignored(dialect: Dialect) -> str:
    """Leave out the relations that the dialect ignores."""
    exact = ", ".join(map(write_iri, (*dialect.labels, *dialect.aliases, *dialect.ignored)))
    begins = [f"!STRSTARTS(STR(?relation), {serialise(Literal(text))})" for text in dialect.ignored_prefixes]
    holds = [f"!CONTAINS(STR(?relation), {serialise(Literal(text))})" for text in dialect.ignored_parts]
    return f"FILTER({' && '.join([f'?relation NOT IN ({exact})', *begins, *holds])})"


def objects(id: str, predicates: Sequence[str], labels: Sequence[str]) -> str:
    """Ask for ``?relation ?end ?label ?rank`` of one entity by some predicates."""
    return (
        "SELECT ?relation ?end ?label ?rank WHERE { { SELECT DISTINCT ?relation ?end WHERE { "
        f"{one_of('?relation', predicates)} {write_iri(id)} ?relation ?end }} }} {label_of(labels)} }}"
    )


def predicates() -> str:
    """Ask for each ``?relation`` and its number of triples ``?n``."""
    return "SELECT ?relation (COUNT(*) AS ?n) WHERE { ?s ?relation ?o } GROUP BY ?relation"


def named_graphs(limit: int) -> str:
    """Ask for each named ``?graph`` that holds triples."""
    return f"SELECT DISTINCT ?graph WHERE {{ GRAPH ?graph {{ ?s ?p ?o }} }} LIMIT {limit:d}"


def count_types() -> str:
    """Ask for each ``?type`` of nodes and their number ``?n``."""
    return f"SELECT ?type (COUNT(*) AS ?n) WHERE {{ ?s <{RDF}type> ?type }} GROUP BY ?type"


def restricted_properties() -> str:
    """Ask for each ``?property`` that an axiom restricts."""
    return f"SELECT DISTINCT ?property WHERE {{ ?s <{OWL}onProperty> ?property }}"


def facts_stated(hop: Hop) -> str:
    """Ask for each ``?start ?end`` of a hop, by what the graph states."""
    return f"SELECT DISTINCT ?start ?end WHERE {{ {proof_pattern('?start', hop, '?end')} }}"


def both_ways() -> str:
    """Ask for each ``?one ?other`` that facts ``?n`` have both, the one against the other's arrow."""
    return (
        "SELECT ?one ?other (COUNT(*) AS ?n) WHERE { ?a ?one ?b . ?b ?other ?a FILTER(?one != ?other) } "
        "GROUP BY ?one ?other"
    )


def relations_back(relation: str, facts: int) -> str:
    """Ask for each ``?other`` that states ``?n`` of the first ``facts`` of a relation against its arrow.

    Of a relation that leads to entities and to values, the entities come first.
    """
    iri = write_iri(relation)
    first = f"SELECT ?a ?b WHERE {{ ?a {iri} ?b }} LIMIT {facts:d}"
    back = f"{{ {first} }} ?b ?other ?a FILTER(?other != {iri})"
    return f"SELECT ?other (COUNT(*) AS ?n) WHERE {{ {back} }} GROUP BY ?other"


def count_both_ways(one: str, other: str) -> str:
    """Ask for ``?n``, the number of facts of one relation that another states against its arrow."""
    facts = f"?a {write_iri(one)} ?b . ?b {write_iri(other)} ?a"
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {facts} }}"


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
    return (
        f"SELECT (COUNT(DISTINCT ?node) AS ?n) WHERE {{ {one_of('?label', labels)} ?node ?label ?name "
        "FILTER NOT EXISTS { ?x ?node ?y } }"
    )


def all_names(predicate: str) -> str:
    """Ask for every ``?name ?end`` by a label or alias predicate."""
    return f"SELECT ?name ?end WHERE {{ ?end {write_iri(predicate)} ?name FILTER(isLiteral(?name)) }}"


def texts(predicate: str, most: int, among: int | None = None) -> str:
    """Ask for ``?value``: the distinct short texts, codes and years that a relation leads to.

    They are looked for ``among`` so many of its facts.
    """
    kinds = ", ".join(map(write_iri, TEXT_DATATYPES))
    facts = f"?s {write_iri(predicate)} ?value"
    if among is not None:
        facts = f"{{ SELECT ?value WHERE {{ {facts} }} LIMIT {among:d} }}"
    return (
        f"SELECT DISTINCT ?value WHERE {{ {facts} FILTER(isLiteral(?value) && "
        f"DATATYPE(?value) IN ({kinds}) && STRLEN(STR(?value)) <= {MAX_VALUE_CHARS:d}) }} LIMIT {most:d}"
    )


def some_names(predicate: str, limit: int) -> str:
    """Ask for ``limit`` of the ``?name`` by a label predicate."""
    return (
        f"SELECT ?name WHERE {{ ?end {write_iri(predicate)} ?name FILTER(isLiteral(?name)) }} LIMIT {limit:d}"
    )


def names_hashed(predicate: str, prefix: str) -> str:
    """Ask for ``?name ?end`` of those whose id has an MD5 sum that begins so: a part of all names."""
    return (
        f"SELECT ?name ?end WHERE {{ ?end {write_iri(predicate)} ?name FILTER(isLiteral(?name)) "
        f"FILTER(STRSTARTS(MD5(STR(?end)), {serialise(Literal(prefix))})) }}"
    )


def called(names: Iterable[Literal], predicates: Sequence[str], labels: Sequence[str], limit: int) -> str:
    """Ask for ``?end ?name ?label ?rank``: who has one of the names, and its preferred name."""
    return (
        "SELECT ?end ?name ?label ?rank WHERE { { SELECT DISTINCT ?end ?name WHERE { "
        f"VALUES ?name {{ {values_list(names)} }} {one_of('?by', predicates)} ?end ?by ?name }} "
        f"LIMIT {limit:d} }} {label_of(labels)} }}"
    )


def count_relations(ids: Iterable[str], most: int) -> str:
    """Ask for ``?end ?relation ?forward ?n``: the number among the first triples, ``most`` each way."""
    blocks = [
        f"{{ SELECT ({write_iri(id)} AS ?end) ?relation ({forward} AS ?forward) (COUNT(*) AS ?n) WHERE {{ "
        f"{{ SELECT ?relation ?x WHERE {{ {triple} }} LIMIT {most:d} }} }} GROUP BY ?relation }}"
        for id in ids
        for triple, forward in _around(write_iri(id), "?x")
    ]
    return f"SELECT ?end ?relation ?forward ?n WHERE {{ {' UNION '.join(blocks)} }}"


def present(predicates: Iterable[str]) -> str:
    """Ask which of the predicates are there: ``?place`` counts them from 0. One look at each."""
    blocks = (
        f'{{ SELECT ("{place}" AS ?place) WHERE {{ ?s {write_iri(predicate)} ?o }} LIMIT 1 }}'
        for place, predicate in enumerate(predicates)
    )
    return f"SELECT ?place WHERE {{ {' UNION '.join(blocks)} }}"


def nodes() -> str:
    """Ask for each ``?end`` that is no literal; an object is looked at once, not with each triple."""
    subjects, objects = (
        f"{{ SELECT DISTINCT ?end WHERE {{ {each} }} }}" for each in ("?end ?p ?o", "?s ?q ?end")
    )
    return f"SELECT DISTINCT ?end WHERE {{ {subjects} UNION {{ {objects} FILTER(!isLiteral(?end)) }} }}"


def unlabelled_nodes(labels: Sequence[str]) -> str:
    """Ask for each ``?end`` that is no literal and has no label."""
    return f"{nodes()[:-1].strip()} {without_label(labels, '?end')} }}"


def count_labelled(labels: Sequence[str]) -> str:
    """Ask for ``?n``, the number of nodes, relations too, with a label."""
    return f"SELECT (COUNT(DISTINCT ?node) AS ?n) WHERE {{ {one_of('?label', labels)} ?node ?label ?name }}"
