"""Dialects as data: how a kind of graph writes names, ids and types, and which relations are noise.

>>> FREEBASE.ignores("http://rdf.freebase.com/ns/common.topic.webpage")
True
>>> FREEBASE.relation_label("http://rdf.freebase.com/ns/people.person.parents")
'people.person.parents'
>>> WIKIDATA.relation_entity(f"{WDT}P40"), WIKIDATA.relation_label(f"{WDT}P40")
('http://www.wikidata.org/entity/P40', 'wdt:P40')
>>> WIKIDATA.relation_words(f"{WDT}P40", "child"), WIKIDATA.relation_words(f"{PROP}P40", "child")
('child', 'child (statement)')
>>> FREEBASE.relation_iris("people.person.parents"), WIKIDATA.relation_iris("child")
(('http://rdf.freebase.com/ns/people.person.parents',), ())
>>> [str(object) for _, object in WIKIDATA.twins_of(f"{FB}m.03_r3")]
['/m/03_r3']
>>> PLAIN.local_label("http://x/e/Albert_Einstein%27s_house")
"Albert Einstein's house"
>>> entity_iri("/m/03_r3"), entity_iri("Q42")
('http://rdf.freebase.com/ns/m.03_r3', 'http://www.wikidata.org/entity/Q42')

``owl:sameAs`` of Freebase is an id in Wikidata. Public code takes it for the name of a node that has
none; here it is no name, since such a node is a mediator, but the node can be found by it.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal as Choice
from urllib.parse import unquote

from kgqa.kg.languages import base_language, preferred_languages
from kgqa.kg.terms import Entity, Hop, Literal, Term, local_name
from kgqa.locks import cached_property


@dataclass(frozen=True)
class Namespace:
    """IRIs that begin alike, and how they are written without their beginning.

    Attributes:
        iri: Their beginning.
        ids: What follows it (a regular expression).
        prefixes: What may stand in its place, the one that is shown first.
        words: What a relation is called, where its id is that of an entity whose name goes for ``{}``.
    """

    iri: str
    ids: str
    prefixes: tuple[str, ...] = ("",)
    words: str = ""

    def local(self, iri: str) -> str | None:
        """Return what follows the beginning; None for an IRI of another namespace."""
        rest = iri.removeprefix(self.iri)
        return rest if rest != iri and re.fullmatch(self.ids, rest) else None

    def whole(self, text: str) -> str | None:
        """Return the IRI that is written like this; None if none of this namespace is."""
        for prefix in (self.iri, *self.prefixes):
            if text.startswith(prefix) and re.fullmatch(self.ids, text.removeprefix(prefix)):
                return self.iri + text.removeprefix(prefix)
        return None


class LabelPredicates(tuple[str, ...]):
    """Label predicates, best first, and ``languages`` of names; none stands for all.

    Where there are some, names in those of question and user are asked for beside them.
    """

    languages: tuple[str, ...] = ()


@dataclass(frozen=True)
class CrossReference:
    """A predicate from an entity to its id in a graph of another kind.

    Attributes:
        predicate: Its IRI.
        ids: The IRIs of the other graph that it stands for (a regular expression).
        literal: How it writes them (a template of that expression); empty for the IRI itself.
    """

    predicate: str
    ids: str
    literal: str = ""


@dataclass(frozen=True)
class Dialect:
    """How one kind of graph writes names, types and noise."""

    name: str  # what ``kgqa kg info`` shows
    labels: tuple[str, ...]  # predicates of the preferred name, best first
    aliases: tuple[str, ...]  # predicates of further names
    types: tuple[str, ...]  # predicates from an entity to its types
    relations: tuple[Namespace, ...] = ()  # namespaces of the relations that only such a graph has
    entities: Namespace | None = None  # namespace of its entities
    slashed: bool = False  # ids may be written as paths: ``/m/03_r3`` for ``m.03_r3``
    marks: tuple[str, ...] = ()  # relations of which any large graph of this kind has at least one
    languages: tuple[str, ...] = ("en", "")  # tags of names, best first; others come after, by tag
    has_year_zero: bool = False  # 1 BC is the year 0, as in XSD 1.1, and not -1
    polyglot: bool = False  # most nodes have names in a hundred languages: those in others are not asked for
    ignored: tuple[str, ...] = ()  # relations that no search walks: whole IRIs,
    ignored_prefixes: tuple[str, ...] = ()  # beginnings of IRIs,
    ignored_parts: tuple[str, ...] = ()  # pieces of IRIs,
    noise: str = r"(?!)"  # and words that a relation is called by (a regular expression)
    about_data: str = (
        r"(?!)"  # relations, ``^`` in front of what is against the arrow, that describe the database
    )
    off_schema_prefixes: tuple[str, ...] = ()  # of users' own and retired relations; a search may walk them
    twins: tuple[CrossReference, ...] = ()  # predicates to ids in graphs of other kinds
    searches: tuple[str, ...] = ("virtuoso", "qlever")  # full-text indexes that its endpoints may have
    # the local part of an IRI is the name: in a graph without any label, of each node without one, never
    unlabelled: Choice["local", "each", "none"] = "local"
    opaque: str = r"(?!)"  # local parts that are never a name (a regular expression): those of mediators
    unnamed: tuple[str, ...] = ()  # beginnings of IRIs that are no names either, in one graph

    @cached_property
    def _silent(self) -> frozenset[str]:
        return frozenset((*self.labels, *self.aliases, *self.ignored))

    def ignores(self, relation: str, words: str = "") -> bool:
        """Return whether a search leaves out a relation, which the graph calls by some words."""
        return (
            relation in self._silent
            or relation.startswith(self.ignored_prefixes)
            or any(part in relation for part in self.ignored_parts)
            or bool(words and re.search(self.noise, words, re.IGNORECASE))
        )

    def describes_data(self, hop: Hop) -> bool:
        """Return whether a hop says something of the database rather than of the world."""
        label = self.relation_label(hop.relation)
        return re.match(self.about_data, label if hop.forward else f"^{label}") is not None

    def is_off_schema(self, relation: str) -> bool:
        """Return whether the relation is known to be outside of the schema."""
        return relation.startswith(self.off_schema_prefixes)

    def relation_label(self, relation: str) -> str:
        """Return the relation without its namespace."""
        for space in self.relations:
            if local := space.local(relation):
                return space.prefixes[0] + local
        return unquote(local_name(relation))

    def relation_entity(self, relation: str) -> str | None:
        """Return what gives a relation its name: itself, if nothing else; None if only its IRI does."""
        if not self.entities:
            return relation.removeprefix(RESTRICTED)
        for space in self.relations:
            if space.words and (local := space.local(relation)):
                return self.entities.iri + local
        return None

    def is_relation_entity(self, id: str) -> bool:
        """Return whether an entity is there to name a relation."""
        local = self.entities.local(id) if self.entities else None
        return bool(local) and any(s.words and re.fullmatch(s.ids, local or "") for s in self.relations)

    def relation_words(self, relation: str, name: str | None) -> str:
        """Return what a relation is shown by, where its entity has this name or none."""
        words = (
            space.words.format(name) for space in self.relations if space.words and space.local(relation)
        )
        return (name and next(words, None if self.entities else name)) or self.relation_label(relation)

    def relation_iris(self, text: str) -> tuple[str, ...]:
        """Return the relations that an id, prefixed or bare, may stand for, the likeliest first."""
        found = (space.whole(self._dotted(text)) for space in self.relations)
        return tuple(dict.fromkeys(filter(None, found)))

    def entity_iri(self, text: str) -> str | None:
        """Return the entity that an id, prefixed or bare, stands for; None if it is none of this kind."""
        return self.entities.whole(self._dotted(text)) if self.entities else None

    def _dotted(self, text: str) -> str:
        return text[1:].replace("/", ".") if self.slashed and text.startswith("/") else text

    def twins_of(self, iri: str) -> tuple[tuple[str, Term], ...]:
        """Return the (predicate, object) by which this graph may know an entity of another one.

        Whatever is the subject of one of them is that entity.
        """
        found = ((twin, re.fullmatch(twin.ids, iri)) for twin in self.twins)
        return tuple(
            (twin.predicate, Literal(match.expand(twin.literal)) if twin.literal else Entity(iri))
            for twin, match in found
            if match
        )

    def local_label(self, id: str) -> str | None:
        """Make a name from an IRI, or None where there is none to make."""
        local = local_name(id)
        if id.startswith(("_:", "nodeID:", *self.unnamed)) or re.fullmatch(self.opaque, local):
            return None
        return readable_name(unquote(local)) or None

    def best(self, names: Iterable[tuple[int, str, str]]) -> str | None:
        """Choose the preferred of an entity's names.

        Args:
            names: (place in ``labels``, language tag, text) of each.
        """
        ranked = [(rank, self.language_rank(tag), text) for rank, tag, text in names if text]
        return min(ranked)[2] if ranked else None

    def language_rank(self, tag: str) -> tuple[int, str]:
        """Order languages: those that names are shown in, their regional forms, the others by tag."""
        tag, languages = tag.lower(), preferred_languages(self.languages)
        if tag in languages:
            return languages.index(tag), ""
        if (base := base_language(tag)) in languages:
            return len(languages) + languages.index(base), tag
        return 2 * len(languages), tag

    def reads(self, tag: str) -> bool:
        """Return whether names in a language are looked for where a graph has them in many."""
        return not {tag.lower(), base_language(tag)}.isdisjoint(self.languages)


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SHACL = "http://www.w3.org/ns/shacl#"
SWRL = "http://www.w3.org/2003/11/swrl#"
META_NAMESPACES = (RDF, RDFS, OWL, SHACL, SWRL)
"""Of vocabularies that describe others: what is of their classes is terminology."""
OBO = "http://purl.obolibrary.org/obo/"
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
FOAF = "http://xmlns.com/foaf/0.1/"
SCHEMA_ORG = "http://schema.org/"
SCHEMA_ORG_HTTPS = "https://schema.org/"
DCTERMS = "http://purl.org/dc/terms/"
VCARD = "http://www.w3.org/2006/vcard/ns#"
FB = "http://rdf.freebase.com/ns/"
WD = "http://www.wikidata.org/entity/"
PROP = "http://www.wikidata.org/prop/"
WDT = f"{PROP}direct/"

CLOSURE, RESTRICTED = "urn:kgqa:closure:", "urn:kgqa:some:"
"""How relations begin that stand for axioms about others, whose IRIs follow (`kg/sparql/derived.py`)."""

IN_LANGUAGE = "urn:kgqa:language:"
"""How relations to names in one language begin: its code, a colon and the naming relation follow."""

LOCAL_NAME = "urn:kgqa:local-name"  # from a class or concept to the name that its IRI gives it

PLAIN = Dialect(
    name="plain",
    labels=(
        f"{RDFS}label",
        f"{SKOS}prefLabel",
        f"{SCHEMA_ORG}name",
        f"{SCHEMA_ORG_HTTPS}name",
        f"{FOAF}name",
        f"{DCTERMS}title",
        "http://purl.org/dc/elements/1.1/title",
        "http://www.geonames.org/ontology#name",
        "https://d-nb.info/standards/elementset/gnd#preferredName",
        f"{VCARD}fn",
        "https://www.w3.org/ns/activitystreams#name",
    ),
    aliases=(
        f"{SKOS}altLabel",
        f"{SCHEMA_ORG}alternateName",
        f"{SCHEMA_ORG_HTTPS}alternateName",
        f"{FOAF}nick",
        "http://www.geonames.org/ontology#alternateName",
        "https://d-nb.info/standards/elementset/gnd#variantName",
        f"{OBO_IN_OWL}hasExactSynonym",
        f"{OBO}IAO_0000118",
        LOCAL_NAME,
    ),
    types=(f"{RDF}type",),
    ignored=(f"{RDF}type",),
    ignored_parts=("sameAs",),
)

ONTOLOGY = replace(
    PLAIN,
    ignored=(
        f"{RDF}type",
        f"{RDFS}isDefinedBy",
        *(f"{SKOS}{each}" for each in ("broader", "narrower", "inScheme", "topConceptOf", "hasTopConcept")),
    ),
    ignored_prefixes=(RDF, OWL, SWRL, *(f"{RDFS}{each}" for each in ("sub", "domain", "range"))),
)
"""Classes and concepts are its entities; what their axioms say is derived, and the axioms are not walked."""

FREEBASE = Dialect(
    name="freebase",
    relations=(Namespace(FB, r"\w+(?:\.\w+){2,}", ("", "ns:", "fb:")),),
    entities=Namespace(FB, r"[mg]\.[0-9a-z_]+", ("", "ns:", "fb:", FB.replace("http:", "https:"))),
    slashed=True,
    marks=tuple(
        FB + relation
        for relation in (
            "type.object.name",
            "type.object.type",
            "common.topic.notable_types",
            "people.person.nationality",
            "people.person.profession",
            "location.location.containedby",
            "film.film.directed_by",
            "government.government_position_held.office_holder",
        )
    ),
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
    # of what is notable, only the way from a type to its entities is asked about
    about_data=r"\^?(?:freebase\.valuenotation|dataworld|common\.webpage|type\.type\.instance)\b"
    r"|common\.topic\.notable_types$|\^common\.topic\.notable_for$",
    off_schema_prefixes=(f"{FB}user.", f"{FB}common.notable_for.object"),
    twins=(CrossReference(f"{OWL}sameAs", f"{re.escape(WD)}.+"),),
    opaque=r"[mg]\.[0-9a-z_]+",
)

_PROPERTY_ID = r"P[1-9][0-9]*"
_STATEMENTS = re.compile(rf"(https?://.+/)prop/(?:direct|statement|qualifier)/{_PROPERTY_ID}")

WIKIBASE = "http://wikiba.se/ontology#"

WIKIBASE_RELATIONS = {
    "directClaim": "{}",
    "claim": "{} (statement)",
    "statementProperty": "{} (value)",
    "qualifier": "{} (qualifier)",
}
"""From a property of a Wikibase to its relations, and what these are called: its name stands for ``{}``."""


def _wikibase(prop: str, entity: str, *addresses: str) -> Dialect:
    """Return how a Wikibase writes its graph, whose relations and entities have these namespaces."""
    return Dialect(
        name="wikibase",
        relations=(
            Namespace(f"{prop}direct/", _PROPERTY_ID, ("wdt:", ""), WIKIBASE_RELATIONS["directClaim"]),
            Namespace(prop, _PROPERTY_ID, ("p:",), WIKIBASE_RELATIONS["claim"]),
            Namespace(f"{prop}statement/", _PROPERTY_ID, ("ps:",), WIKIBASE_RELATIONS["statementProperty"]),
            Namespace(f"{prop}qualifier/", _PROPERTY_ID, ("pq:",), WIKIBASE_RELATIONS["qualifier"]),
        ),
        entities=Namespace(entity, r"[QPL][1-9][0-9]*", ("wd:", "", *addresses)),
        labels=(f"{RDFS}label",),
        aliases=(f"{SKOS}altLabel",),
        types=(f"{RDF}type",),
        languages=("en", "mul", ""),
        has_year_zero=True,
        # Whole values, normalised values, references and properties' own predicates say once more what the
        # relations above say; the others are about the data.
        ignored_prefixes=(
            *(f"{prop}{kind}" for kind in ("direct-normalized/", "reference/", "novalue/")),
            *(
                f"{prop}{of}/value{form}/"
                for of in ("statement", "qualifier")
                for form in ("", "-normalized")
            ),
            WIKIBASE.removesuffix("#"),
            "http://www.w3.org/ns/prov#",
            "http://www.w3.org/ns/lemon/ontolex#",
            "http://purl.org/dc/terms/",
            "http://creativecommons.org/ns#",
            SCHEMA_ORG,
            RDF,
            RDFS,
            OWL,
            SKOS,
        ),
        opaque=r"[QPLqpl][1-9][0-9]*(?:[-$].+)?",
    )


WIKIDATA = replace(
    _wikibase(
        PROP,
        WD,
        *(f"{web}://www.wikidata.org/{at}/" for web in ("https", "http") for at in ("entity", "wiki")),
    ),
    name="wikidata",
    marks=tuple(f"{WDT}P{number}" for number in (31, 279, 17, 131, 361, 106, 569, 625)),
    types=(f"{WDT}P31",),
    searches=("virtuoso", "qlever", "wikibase"),
    polyglot=True,
    # Where properties have no labels: image, logo, Commons category and gallery, Freebase id, main
    # category, main portal, main template, focus list.
    ignored=tuple(
        f"{PROP}{kind}P{number}"
        for number in (18, 154, 373, 935, 646, 910, 1151, 1424, 5008)
        for kind in ("direct/", "", "statement/")
    ),
    # of what the public code for Wikidata leaves out, what questions ask for stays: postal and dialling
    # codes, websites, coats of arms, indices, authorities.
    noise=r"\b(?:ids?|identifiers?|urls?|username|api endpoint|images?|logo|commons|wikimedia"
    r"|(?<!postal )(?<!dialing )(?<!calling )codes?(?! of))\b|\btopic's main\b"
    r"|\bcategory (?:for|of|related|combines|contains)\b",
    twins=(
        CrossReference(f"{WDT}P646", rf"{re.escape(FB)}([mg])\.(.+)", r"/\1/\2"),
        CrossReference(f"{WDT}P2671", rf"{re.escape(FB)}(g)\.(.+)", r"/\1/\2"),
    ),
)


def readable_name(local: str) -> str:
    """Write the local part of an IRI as a name.

    >>> readable_name("Kingdom_of_Fife"), readable_name("ada-lovelace"), readable_name("AC-130")
    ('Kingdom of Fife', 'Ada Lovelace', 'AC-130')
    """
    if re.fullmatch(r"[^\W\d_A-Z]+(?:-[^\W\d_A-Z]+)+", local):
        return local.replace("-", " ").title()
    return " ".join(local.replace("_", " ").split())


_HASH = re.compile(r"(?i)(?=[0-9a-f-]*[0-9])(?:.*[^0-9a-z])?[0-9a-f]{8}[0-9a-f-]*|x?[0-9a-f]{8,}")


def is_readable(local: str) -> bool:
    """Return whether the local part of an IRI may be a name: more letters than digits, no hash, no query.

    >>> [is_readable(each) for each in ("Boeing_747", "97832", "suppl-1ee8f22a-1460-4875", "xfff9b966a2")]
    [True, False, False, False]
    >>> is_readable("icon.svg?color=red&size=9"), is_readable("What_If?")
    (False, True)
    """
    letters, digits = sum(map(str.isalpha, local)), sum(map(str.isdigit, local))
    asks = "=" in local.partition("?")[2]
    return letters > digits and letters > 1 and not asks and not (digits and _HASH.fullmatch(local))


GIVEN_AND_FAMILY = (
    (f"{SCHEMA_ORG}givenName", f"{SCHEMA_ORG}familyName"),
    (f"{SCHEMA_ORG_HTTPS}givenName", f"{SCHEMA_ORG_HTTPS}familyName"),
    (f"{FOAF}givenName", f"{FOAF}familyName"),
    (f"{FOAF}firstName", f"{FOAF}lastName"),
    (f"{VCARD}given-name", f"{VCARD}family-name"),
)
"""Properties of the two parts of a person's name."""


DIALECTS = {dialect.name: dialect for dialect in (PLAIN, FREEBASE, WIKIDATA)}

_OWN_WIKIBASE = "wikibase "

MIN_DIALECT_SHARE = 0.05  # of a graph's facts, from which its dialect is that of their relations


def is_statement_relation(iri: str) -> bool:
    """Return whether a relation leads from an entity of a Wikibase to a statement about it.

    >>> is_statement_relation(f"{PROP}P39"), is_statement_relation(f"{WDT}P39")
    (True, False)
    """
    return re.fullmatch(rf"https?://.+/prop/{_PROPERTY_ID}", iri) is not None


@cache
def dialect_named(name: str) -> Dialect:
    """Return the dialect of a name: one of `DIALECTS`, or that of a Wikibase of one's own by its address.

    >>> dialect_named("wikibase http://archive.test/").entity_iri("Q7")
    'http://archive.test/entity/Q7'
    """
    if name in DIALECTS or not name.startswith(_OWN_WIKIBASE):
        return DIALECTS[name]
    address = name.removeprefix(_OWN_WIKIBASE)
    return replace(_wikibase(f"{address}prop/", f"{address}entity/"), name=name)


def detect_dialect(predicates: Sequence[str] | Mapping[str, int]) -> Dialect:
    """Choose the dialect by the graph's predicates; where their facts are counted, a few are only links."""
    counts = predicates if isinstance(predicates, Mapping) and any(predicates.values()) else None

    def has_enough(own: Collection[str]) -> bool:
        few = MIN_DIALECT_SHARE * sum(counts.values()) if counts else 0
        return bool(own) and (counts is None or sum(counts[each] for each in own) >= few)

    for dialect in (FREEBASE, WIKIDATA):
        begins = tuple(space.iri for space in dialect.relations)
        if has_enough([predicate for predicate in predicates if predicate.startswith(begins)]):
            return dialect
    stating = {predicate: found[1] for predicate in predicates if (found := _STATEMENTS.fullmatch(predicate))}
    if has_enough(stating):
        return dialect_named(_OWN_WIKIBASE + next(iter(stating.values())))
    is_derived = any(predicate.startswith((CLOSURE, RESTRICTED)) for predicate in predicates)
    return ONTOLOGY if is_derived else PLAIN


def is_ignored(relation: str) -> bool:
    """Return whether searches leave out a relation, whose dialect it tells itself."""
    return detect_dialect((relation,)).ignores(relation)


def entity_iri(text: str) -> str | None:
    """Return the entity of any kind of graph that an id stands for; None for a name, or another id."""
    return next(filter(None, (dialect.entity_iri(text) for dialect in DIALECTS.values())), None)


def is_foreign(id: str, name: str) -> bool:
    """Return whether an id is of another kind of graph than the one whose dialect has this name.

    Ids of graphs that say nothing of their kind are foreign nowhere, and nothing is foreign to them.

    >>> is_foreign("m.03_r3", "wikidata"), is_foreign("Q42", "wikidata"), is_foreign("m.03_r3", "plain")
    (True, False, False)
    """
    known = dialect_named(name)
    return known.entities is not None and known.entity_iri(id) is None and entity_iri(id) is not None


def describes_data(hop: Hop) -> bool:
    """Return whether a hop describes the database, whose dialect its relation tells."""
    return detect_dialect((hop.relation,)).describes_data(hop)
