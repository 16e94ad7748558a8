"""Queries by which a graph's profile is made (`kg/profile/`): each is bounded, or counts what is indexed."""

from collections.abc import Iterable, Sequence

from kgqa.kg.dialects import RDF, RDFS
from kgqa.kg.sparql.patterns import one_of, write_iri


def count_classes(type_: str, most: int) -> str:
    """Ask for ``most`` classes ``?class`` by one predicate to types, and their numbers of members ``?n``."""
    counted = f"SELECT ?class (COUNT(*) AS ?n) WHERE {{ ?member {write_iri(type_)} ?class }} GROUP BY ?class"
    return f"{counted} ORDER BY DESC(?n) ?class LIMIT {most:d}"


def some_members(classes: Sequence[str], types: Sequence[str], most: int) -> str:
    """Ask for ``?place ?member``: the first ``most`` members of each class, classes counted from 0."""
    any_type = one_of("?type", types)
    blocks = (
        f'{{ SELECT DISTINCT ("{place:d}" AS ?place) ?member WHERE {{ {any_type} '
        f"?member ?type {write_iri(each)} }} LIMIT {most:d} }}"
        for place, each in enumerate(classes)
    )
    return f"SELECT ?place ?member WHERE {{ {' UNION '.join(blocks)} }}"


def some_subjects(relations: Sequence[str], most: int) -> str:
    """Ask for ``?member``: the first ``most`` subjects of each of some relations."""
    blocks = (
        f"{{ SELECT DISTINCT ?member WHERE {{ ?member {write_iri(each)} ?o }} LIMIT {most:d} }}"
        for each in relations
    )
    return f"SELECT DISTINCT ?member WHERE {{ {' UNION '.join(blocks)} }}"


def facts_of(ids: Iterable[str], most: int) -> str:
    """Ask for ``?member ?relation ?end``: the first ``most`` facts of some nodes."""
    triple = "?member ?relation ?end"
    return f"SELECT {triple} WHERE {{ {one_of('?member', ids)} {triple} }} LIMIT {most:d}"


def objects_by(ids: Iterable[str], predicates: Iterable[str]) -> str:
    """Ask for ``?node ?predicate ?end`` of some nodes by some predicates."""
    nodes = one_of("?node", ids)
    blocks = (
        f"{{ {nodes} ?node {each} ?end BIND({each} AS ?predicate) }}" for each in map(write_iri, predicates)
    )
    return f"SELECT ?node ?predicate ?end WHERE {{ {' UNION '.join(blocks)} }}"


def some_values(relation: str, most: int) -> str:
    """Ask for the first ``most`` distinct ends of a relation."""
    return f"SELECT DISTINCT ?end WHERE {{ ?s {write_iri(relation)} ?end }} LIMIT {most:d}"


def terms(classes: Iterable[str], types: Sequence[str], most: int) -> str:
    """Ask for the first ``most`` nodes ``?node`` that are of some classes, or that an ontology defines."""
    return (
        f"SELECT DISTINCT ?node WHERE {{ {{ {one_of('?class', classes)} "
        f"{one_of('?type', types)} ?node ?type ?class }} UNION "
        f"{{ ?node {write_iri(RDFS + 'isDefinedBy')} ?ontology }} }} LIMIT {most:d}"
    )


def count_relations_of(ids: Iterable[str]) -> str:
    """Ask for each ``?relation`` that leaves some nodes, and by how many facts ``?n``."""
    return (
        f"SELECT ?relation (COUNT(*) AS ?n) WHERE {{ {one_of('?node', ids)} "
        "?node ?relation ?end } GROUP BY ?relation"
    )


def superclasses(most: int) -> str:
    """Ask for ``?class ?above``, both with IRIs: the first ``most`` pairs."""
    return (
        f"SELECT ?class ?above WHERE {{ ?class {write_iri(RDFS + 'subClassOf')} ?above "
        f"FILTER(isIRI(?class) && isIRI(?above) && ?class != ?above) }} LIMIT {most:d}"
    )


def count_members(class_: str, types: Sequence[str], most: int) -> str:
    """Ask for the number of members of a class ``?n``, or ``most`` if there are more."""
    members = f"{one_of('?type', types)} ?member ?type {write_iri(class_)}"
    return f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ SELECT ?member WHERE {{ {members} }} LIMIT {most:d} }} }}"


_VOID, _SHACL, MAX_DESCRIBED = "http://rdfs.org/ns/void#", "http://www.w3.org/ns/shacl#", 50_000


def void_partitions() -> str:
    """Ask for ``?class ?n ?relation ?facts ?having`` of the partitions that a graph publishes in VoID."""
    void = {name: write_iri(_VOID + name) for name in ("class", "classPartition", "entities", "property")}
    part, triples, subjects = (
        write_iri(_VOID + name) for name in ("propertyPartition", "triples", "distinctSubjects")
    )
    return (
        f"SELECT ?class ?n ?relation ?facts ?having WHERE {{ ?set {void['classPartition']} ?part . "
        f"?part {void['class']} ?class . OPTIONAL {{ ?part {void['entities']} ?n }} "
        f"OPTIONAL {{ ?part {part} ?inner . ?inner {void['property']} ?relation "
        f"OPTIONAL {{ ?inner {triples} ?facts }} OPTIONAL {{ ?inner {subjects} ?having }} }} }} "
        f"LIMIT {MAX_DESCRIBED:d}"
    )


def shapes() -> str:
    """Ask for ``?class ?relation ?kind ?datatype ?value`` that SHACL shapes of a graph ask for."""
    target, of, path, kind, datatype, values = (
        write_iri(_SHACL + name) for name in ("targetClass", "property", "path", "class", "datatype", "in")
    )
    rest, first = write_iri(f"{RDF}rest"), write_iri(f"{RDF}first")
    return (
        f"SELECT ?class ?relation ?kind ?datatype ?value WHERE {{ ?shape {target} ?class ; {of} ?property . "
        f"?property {path} ?relation . OPTIONAL {{ ?property {kind} ?kind }} "
        f"OPTIONAL {{ ?property {datatype} ?datatype }} "
        f"OPTIONAL {{ ?property {values}/{rest}*/{first} ?value }} }} LIMIT {MAX_DESCRIBED:d}"
    )
