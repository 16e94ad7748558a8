"""Relations that a graph does not state as such: kgqa names them, and queries write them as paths.

>>> write_relation(INSTANCE_OF)
'<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>/<http://www.w3.org/2000/01/rdf-schema#subClassOf>*'
"""

from kgqa.kg.dialects import DIALECTS, RDF, RDFS
from kgqa.kg.terms import Hop

INSTANCE_OF = "urn:kgqa:instance-of"
"""From an entity to its classes, and to all that these are subclasses of."""

_PATHS = {INSTANCE_OF: f"<{RDF}type>/<{RDFS}subClassOf>*"}

_TYPES = {each for dialect in DIALECTS.values() for each in dialect.types}

_NAMES = {INSTANCE_OF: "instance of"}


def write_relation(iri: str) -> str:
    """Write a relation as the predicate of a triple."""
    return _PATHS.get(iri) or f"<{iri}>"


def leads_to_members(hop: Hop) -> bool:
    """Return whether a hop leads from a class to its members."""
    return not hop.forward and (hop.relation == INSTANCE_OF or hop.relation in _TYPES)


def derived_label(iri: str) -> str | None:
    """Return the words for a derived relation; None for one that the graph states."""
    return _NAMES.get(iri)
