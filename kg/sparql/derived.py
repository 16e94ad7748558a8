"""Relations that a graph does not state as such: kgqa names them, and queries write them as paths.

>>> write_relation(INSTANCE_OF)
'<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>/<http://www.w3.org/2000/01/rdf-schema#subClassOf>*'
"""

from kgqa.kg.dialects import RDF, RDFS

INSTANCE_OF = "urn:kgqa:instance-of"
"""From an entity to its classes, and to all that these are subclasses of."""

_PATHS = {INSTANCE_OF: f"<{RDF}type>/<{RDFS}subClassOf>*"}

_NAMES = {INSTANCE_OF: "instance of"}


def write_relation(iri: str) -> str:
    """Write a relation as the predicate of a triple."""
    return _PATHS.get(iri) or f"<{iri}>"


def derived_label(iri: str) -> str | None:
    """Return the words for a derived relation; None for one that the graph states."""
    return _NAMES.get(iri)
