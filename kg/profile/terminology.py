"""What describes classes and concepts, apart from what is said of their members."""

from collections.abc import Mapping

from kgqa.kg.dialects import META_NAMESPACES, OWL, RDF, RDFS, SKOS

CLASSES = (f"{OWL}Class", f"{RDFS}Class", f"{SKOS}Concept")
"""The types of classes, and of concepts of a thesaurus."""

DEFINITIONS = (f"{RDFS}comment", f"{SKOS}definition", "http://purl.org/dc/terms/description")
"""Relations to what is said of a class or relation, best first."""


_FACTS = {f"{RDF}{name}" for name in ("Statement", "Bag", "Seq", "Alt")}
"""Classes of RDF's own whose members are facts about things."""


def is_meta(class_id: str) -> bool:
    """Return whether what is of a class is terminology: a class, a relation, an axiom, a shape.

    >>> is_meta(f"{RDF}Property"), is_meta(f"{RDF}Statement")
    (True, False)
    """
    if class_id in _FACTS:
        return False
    return class_id.startswith(META_NAMESPACES) or class_id == f"{SKOS}ConceptScheme"


def is_terminology_only(type_counts: Mapping[str, int]) -> bool:
    """Return whether a graph has more classes or concepts than members of them, by the nodes of each type.

    >>> is_terminology_only({f"{OWL}Class": 9, f"{OWL}Restriction": 20, "http://x/Country": 5})
    True
    >>> is_terminology_only({f"{OWL}Class": 9, "http://x/Person": 40})
    False
    """
    members = sum(n for kind, n in type_counts.items() if not kind.startswith((*META_NAMESPACES, SKOS)))
    return members < sum(type_counts.get(kind, 0) for kind in CLASSES)
