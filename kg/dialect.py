"""A dialect is data: which predicates name things in a kind of graph, and which are noise.

>>> FREEBASE.ignores("http://rdf.freebase.com/ns/common.topic.webpage")
True
>>> FREEBASE.relation_label("http://rdf.freebase.com/ns/people.person.parents")
'people.person.parents'
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal as Choice
from urllib.parse import unquote

from kgqa.kg.terms import local_name

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"
FOAF = "http://xmlns.com/foaf/0.1/"
SCHEMA = "http://schema.org/"
SCHEMAS = "https://schema.org/"
FB = "http://rdf.freebase.com/ns/"


@dataclass(frozen=True)
class Dialect:
    """How one kind of graph writes names, types and noise.

    Attributes:
        name: What ``kgqa kg info`` shows.
        namespaces: Prefixes that ids and relations are shown and found without.
        labels: Predicates of the preferred name, best first.
        aliases: Predicates of further names.
        types: Predicates from an entity to its types.
        languages: Language tags of names, best first; others come after, by tag.
        ignored: Relations that no search walks: whole IRIs,
        ignored_prefixes: beginnings of IRIs,
        ignored_parts: and pieces of IRIs.
        off_schema_prefixes: Beginnings of relations outside of the schema: users' own, and
            retired ones. A search may walk them.
        unlabelled: In a graph without any label: name an entity by the local
            part of its IRI, or not at all.
        opaque: Local parts that never serve as a name (a regular expression).
    """

    name: str
    namespaces: tuple[str, ...]
    labels: tuple[str, ...]
    aliases: tuple[str, ...]
    types: tuple[str, ...]
    languages: tuple[str, ...] = ("en", "")
    ignored: tuple[str, ...] = ()
    ignored_prefixes: tuple[str, ...] = ()
    ignored_parts: tuple[str, ...] = ()
    off_schema_prefixes: tuple[str, ...] = ()
    unlabelled: Choice["local", "none"] = "local"
    opaque: str = r"(?!)"

    @cached_property
    def _silent(self) -> frozenset[str]:
        return frozenset((*self.labels, *self.aliases, *self.ignored))

    def ignores(self, relation: str) -> bool:
        """Tell whether a search leaves the relation out."""
        return (
            relation in self._silent
            or relation.startswith(self.ignored_prefixes)
            or any(part in relation for part in self.ignored_parts)
        )

    def is_off_schema(self, relation: str) -> bool:
        """Tell whether the relation is known to be outside of the schema."""
        return relation.startswith(self.off_schema_prefixes)

    def relation_label(self, relation: str) -> str:
        """Give the relation without its namespace."""
        for namespace in self.namespaces:
            if relation.startswith(namespace) and len(relation) > len(namespace):
                return relation.removeprefix(namespace)
        return unquote(local_name(relation))

    def local_label(self, id: str) -> str | None:
        """Make a name from an IRI, or None where there is none to make.

        >>> PLAIN.local_label("http://x/e/Albert_Einstein%27s_house")
        "Albert Einstein's house"
        """
        local = local_name(id)
        if id.startswith("_:") or re.fullmatch(self.opaque, local):
            return None
        return unquote(local).replace("_", " ").strip() or None

    def best(self, names: Iterable[tuple[int, str, str]]) -> str | None:
        """Choose the preferred of an entity's names.

        Args:
            names: (place in ``labels``, language tag, text) of each.
        """
        ranked = [(rank, self.language_rank(tag), text) for rank, tag, text in names if text]
        return min(ranked)[2] if ranked else None

    def language_rank(self, tag: str) -> tuple[int, str]:
        """Order languages: those asked for, their regional forms, the others by tag."""
        tag = tag.lower()
        if tag in self.languages:
            return self.languages.index(tag), ""
        base = tag.partition("-")[0]
        if base in self.languages:
            return len(self.languages) + self.languages.index(base), tag
        return 2 * len(self.languages), tag


PLAIN = Dialect(
    name="plain",
    namespaces=(),
    labels=(f"{RDFS}label", f"{SKOS}prefLabel", f"{SCHEMA}name", f"{SCHEMAS}name", f"{FOAF}name"),
    aliases=(f"{SKOS}altLabel", f"{SCHEMA}alternateName", f"{SCHEMAS}alternateName", f"{FOAF}nick"),
    types=(f"{RDF}type",),
    ignored=(f"{RDF}type", f"{RDFS}comment"),
    ignored_parts=("sameAs",),
)

FREEBASE = Dialect(
    name="freebase",
    namespaces=(FB,),
    labels=(f"{FB}type.object.name", f"{RDFS}label"),
    aliases=(f"{FB}common.topic.alias", f"{SKOS}altLabel"),
    types=(f"{FB}type.object.type", f"{FB}common.topic.notable_types", f"{RDF}type"),
    ignored=(
        f"{RDF}type",
        f"{FB}common.topic.webpage",
        f"{FB}common.topic.topic_equivalent_webpage",
        f"{FB}common.topic.article",
        f"{FB}common.topic.description",
        f"{FB}common.topic.topical_webpage",
    ),
    ignored_prefixes=(f"{FB}type.object.", f"{FB}kg.object_profile."),
    ignored_parts=("sameAs",),
    off_schema_prefixes=(f"{FB}user.", f"{FB}common.notable_for.object"),
    opaque=r"[mg]\.[0-9a-z_]+",
)

DIALECTS = {dialect.name: dialect for dialect in (PLAIN, FREEBASE)}


def detect(predicates: Sequence[str]) -> Dialect:
    """Choose the dialect by the graph's predicates."""
    return FREEBASE if any(predicate.startswith(FB) for predicate in predicates) else PLAIN
