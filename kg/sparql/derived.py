"""Relations that a graph does not state as such: kgqa names them, and queries write them as what it states.

Those of terminology are also stored, as plain triples of the graph `DERIVED_GRAPH`, so that searches are
fast (`kg/store/axioms.py`); a proof is written by `stated_pattern`, and holds
for the file that was loaded.

>>> write_relation(INSTANCE_OF)
'<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>/<http://www.w3.org/2000/01/rdf-schema#subClassOf>*'
>>> source_relation(some_values("http://x/hasTopping")), source_relation("http://x/hasTopping")
('http://x/hasTopping', None)
>>> derived_label(some_values("http://x/onto#hasTopping"))
'has topping'
"""

from zlib import crc32

from kgqa.kg.dialects import (
    CLOSURE,
    DIALECTS,
    IN_LANGUAGE,
    META_NAMESPACES,
    OWL,
    RDF,
    RDFS,
    RESTRICTED,
    SKOS,
    XSD,
)
from kgqa.kg.terms import Entity, Hop, local_name
from kgqa.kg.text import in_words

DERIVED_GRAPH = "urn:kgqa:derived"
INSTANCE_OF = "urn:kgqa:instance-of"
"""From an entity to its classes, and to all that these are subclasses of."""

SUBCLASS = f"{CLOSURE}{RDFS}subClassOf+"
"""From a class to all above it; the sign tells what is of any number of steps from what is of one."""

BROADER, NARROWER = f"{CLOSURE}{SKOS}broader", f"{CLOSURE}{SKOS}narrower"
"""Between concepts, whichever of the two relations is stated."""

THESAURUS = (BROADER, NARROWER, f"{BROADER}+", f"{NARROWER}+")
"""Relations of which there is one for either direction, so that each is followed along its arrow only."""

ANY_LEVEL = frozenset(THESAURUS[2:])  # those of any number of steps
HAS_PROPERTY = "urn:kgqa:has-property"  # from a class to the relations that its members have

CLASS, PROPERTY = Entity("urn:kgqa:class", "class"), Entity("urn:kgqa:property", "property")
"""What a question calls the classes and relations of a graph, of which they are members."""

SCHEMA_KINDS = {CLASS.id: "urn:kgqa:is-class", PROPERTY.id: "urn:kgqa:is-property"}
"""The relation by which what describes members is one of these."""

_PATHS = {INSTANCE_OF: f"<{RDF}type>/<{RDFS}subClassOf>*"}

_TYPES = {each for dialect in DIALECTS.values() for each in dialect.types}

_NAMES = {
    INSTANCE_OF: "instance of",
    SUBCLASS: "kind of",
    HAS_PROPERTY: "property",
    **dict.fromkeys(SCHEMA_KINDS.values(), "is a"),
    **dict(
        zip(THESAURUS, ("broader", "narrower", "broader at any level", "narrower at any level"), strict=True)
    ),
}


def _parts(operators: str) -> str:
    """Write the path from a class expression to its parts, and theirs."""
    return f"(({operators})/<{RDF}rest>*/<{RDF}first>)*"


_ABOVE = f"(<{RDFS}subClassOf>|<{OWL}equivalentClass>)/{_parts(f'<{OWL}intersectionOf>')}"

_BROADER, _NARROWER = f"(<{SKOS}broader>|^<{SKOS}narrower>)", f"(<{SKOS}narrower>|^<{SKOS}broader>)"

_CLOSURES = {
    SUBCLASS: f"({_ABOVE})+",
    **dict(zip(THESAURUS, (_BROADER, _NARROWER, f"{_BROADER}+", f"{_NARROWER}+"), strict=True)),
}

_FILLERS = f"(<{OWL}someValuesFrom>|<{OWL}hasValue>|<{OWL}onClass>)/" + _parts(
    f"<{OWL}intersectionOf>|<{OWL}unionOf>"
)

AT_LEAST = tuple(
    f"{OWL}{name}"
    for name in ("someValuesFrom", "hasValue", "minQualifiedCardinality", "qualifiedCardinality")
)
"""What says of a restriction that there is a value, unless it is `NONE`; `owl:onClass` may then say which."""

NONE = f'"0"^^<{XSD}nonNegativeInteger>'


def some_values(relation: str) -> str:
    """Return the relation from classes to what restrictions on a property say that their members have."""
    return f"{RESTRICTED}{relation}"


def in_language(relation: str, language: str) -> str:
    """Return the relation to those values of another that are in a language.

    >>> split_language(in_language("http://x/label", "pt")), split_language("http://x/label")
    (('http://x/label', 'pt'), ('http://x/label', ''))
    """
    return f"{IN_LANGUAGE}{language}:{relation}"


def split_language(iri: str) -> tuple[str, str]:
    """Return the relation that a graph states, and the language that its values are held to, if any."""
    language, colon, relation = iri.removeprefix(IN_LANGUAGE).partition(":")
    return (relation, language) if iri.startswith(IN_LANGUAGE) and colon else (iri, "")


def source_relation(iri: str) -> str | None:
    """Return the property whose restrictions a relation reads; None for any other."""
    return iri.removeprefix(RESTRICTED) if iri.startswith(RESTRICTED) else None


def write_relation(iri: str) -> str:
    """Write a relation as the predicate of a triple."""
    return _PATHS.get(iri) or f"<{iri}>"


def leads_to_members(hop: Hop) -> bool:
    """Return whether a hop leads from a class to its members."""
    return not hop.forward and hop.relation in {
        INSTANCE_OF,
        SUBCLASS,
        BROADER,
        *SCHEMA_KINDS.values(),
        *_TYPES,
    }


def schema_pattern(start: str, iri: str, end: str) -> str | None:
    """Write a relation of classes and properties as what their members have; None for any other.

    Classes and properties of terminology are none.
    """
    if iri != HAS_PROPERTY and iri not in SCHEMA_KINDS.values():
        return None
    number = f"{crc32(f'{start} {iri} {end}'.encode()):x}"
    types, kind, relation = {
        HAS_PROPERTY: (write_relation(INSTANCE_OF), start, end),
        SCHEMA_KINDS[CLASS.id]: (write_relation(INSTANCE_OF), start, ""),
        SCHEMA_KINDS[PROPERTY.id]: (f"<{RDF}type>", f"?kind{number}", start),
    }[iri]
    facts = f"?member{number} {types} {kind} . "
    facts += f"?member{number} {relation} ?value{number} . " if relation else ""
    meta = "^(" + "|".join(META_NAMESPACES) + ")"
    tests = (f'FILTER(!REGEX(STR({node}), "{meta}"))' for node in (kind, relation) if node.startswith("?"))
    return facts + " ".join(tests)


def stated_pattern(start: str, iri: str, end: str) -> tuple[str, str] | None:
    """Write a relation that reads axioms as what a graph states, and what tests it; None for any other."""
    if path := _CLOSURES.get(iri):
        return f"{start} {path} {end} .", f"{start} != {end}"
    if (source := source_relation(iri)) is None:
        return None
    least = f"?least{crc32(f'{start} {iri} {end}'.encode()):x}"
    ways = "|".join(f"<{each}>" for each in AT_LEAST)
    restriction = f"[ <{OWL}onProperty> <{source}> ; {ways} {least} ; {_FILLERS} {end} ]"
    return f"{start} {_ABOVE} {restriction} .", f"!sameTerm({least}, {NONE})"


def stated_instead(iri: str) -> str | None:
    """Write what a graph states of ``?x`` and ``?y`` in place of a derived relation; None for any other."""
    if path := _PATHS.get(iri):
        return f"?x {path} ?y"
    return (
        " ".join((stated[0], f"FILTER({stated[1]})")) if (stated := stated_pattern("?x", iri, "?y")) else None
    )


def derived_label(iri: str) -> str | None:
    """Return the words for a derived relation; None for one that the graph states."""
    if source := source_relation(iri):
        return in_words(local_name(source)).lower()
    return _NAMES.get(iri)
