"""A dialect is data: which predicates name things in a kind of graph, and which are noise.

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

What public codes for Freebase read as a name of an entity without one, ``owl:sameAs``, is its id in
Wikidata: no name here, where such a node is a mediator, but a way to find it by that id (`Twin`).
"""

import re
from collections.abc import Sequence

from kgqa.kg.conventions import Dialect, Namespace, Twin

__all__ = [
    "DIALECTS",
    "FB",
    "FOAF",
    "FREEBASE",
    "OWL",
    "PLAIN",
    "PROP",
    "RDF",
    "RDFS",
    "SCHEMA",
    "SCHEMAS",
    "SKOS",
    "WD",
    "WDT",
    "WIKIDATA",
    "XSD",
    "Dialect",
    "detect",
    "entity_iri",
    "is_foreign",
    "is_ignored",
]

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"
FOAF = "http://xmlns.com/foaf/0.1/"
SCHEMA = "http://schema.org/"
SCHEMAS = "https://schema.org/"
FB = "http://rdf.freebase.com/ns/"
WD = "http://www.wikidata.org/entity/"
PROP = "http://www.wikidata.org/prop/"
WDT = f"{PROP}direct/"


PLAIN = Dialect(
    name="plain",
    labels=(f"{RDFS}label", f"{SKOS}prefLabel", f"{SCHEMA}name", f"{SCHEMAS}name", f"{FOAF}name"),
    aliases=(f"{SKOS}altLabel", f"{SCHEMA}alternateName", f"{SCHEMAS}alternateName", f"{FOAF}nick"),
    types=(f"{RDF}type",),
    ignored=(f"{RDF}type", f"{RDFS}comment"),
    ignored_parts=("sameAs",),
)

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
    off_schema_prefixes=(f"{FB}user.", f"{FB}common.notable_for.object"),
    twins=(Twin(f"{OWL}sameAs", f"{re.escape(WD)}.+"),),
    opaque=r"[mg]\.[0-9a-z_]+",
)

_P = r"P[1-9][0-9]*"

WIKIDATA = Dialect(
    name="wikidata",
    relations=(
        Namespace(WDT, _P, ("wdt:", ""), "{}"),
        Namespace(PROP, _P, ("p:",), "{} (statement)"),
        Namespace(f"{PROP}statement/", _P, ("ps:",), "{} (value)"),
        Namespace(f"{PROP}qualifier/", _P, ("pq:",), "{} (qualifier)"),
    ),
    entities=Namespace(
        WD,
        r"[QPL][1-9][0-9]*",
        (
            "wd:",
            "",
            *(f"{web}://www.wikidata.org/{at}/" for web in ("https", "http") for at in ("entity", "wiki")),
        ),
    ),
    marks=tuple(f"{WDT}P{number}" for number in (31, 279, 17, 131, 361, 106, 569, 625)),
    labels=(f"{RDFS}label",),
    aliases=(f"{SKOS}altLabel",),
    types=(f"{WDT}P31",),
    languages=("en", "mul", ""),
    polyglot=True,
    # Where properties have no labels: image, logo, Commons category and gallery, Freebase id, main
    # category, main portal, main template, focus list.
    ignored=tuple(
        f"{PROP}{kind}P{number}"
        for number in (18, 154, 373, 935, 646, 910, 1151, 1424, 5008)
        for kind in ("direct/", "", "statement/")
    ),
    # Whole values, normalised values, references and properties' own predicates say once more what the
    # relations above say; the others are about the data.
    ignored_prefixes=(
        *(f"{PROP}{kind}" for kind in ("direct-normalized/", "reference/", "novalue/")),
        *(f"{PROP}{of}/value{form}/" for of in ("statement", "qualifier") for form in ("", "-normalized")),
        "http://wikiba.se/ontology",
        "http://www.w3.org/ns/prov#",
        "http://www.w3.org/ns/lemon/ontolex#",
        "http://purl.org/dc/terms/",
        "http://creativecommons.org/ns#",
        SCHEMA,
        RDF,
        RDFS,
        OWL,
        SKOS,
    ),
    # Of what the public code for Wikidata leaves out, what questions ask for stays: postal and dialling
    # codes, websites, coats of arms, indices, authorities.
    noise=r"\b(?:ids?|identifiers?|urls?|username|api endpoint|images?|logo|commons|wikimedia"
    r"|(?<!postal )(?<!dialing )(?<!calling )codes?(?! of))\b|\btopic's main\b"
    r"|\bcategory (?:for|of|related|combines|contains)\b",
    twins=(
        Twin(f"{WDT}P646", rf"{re.escape(FB)}([mg])\.(.+)", r"/\1/\2"),
        Twin(f"{WDT}P2671", rf"{re.escape(FB)}(g)\.(.+)", r"/\1/\2"),
    ),
    opaque=r"[QPLqpl][1-9][0-9]*(?:[-$].+)?",
)

DIALECTS = {dialect.name: dialect for dialect in (PLAIN, FREEBASE, WIKIDATA)}


def detect(predicates: Sequence[str]) -> Dialect:
    """Choose the dialect by the graph's predicates."""
    for dialect in (FREEBASE, WIKIDATA):
        begins = tuple(space.iri for space in dialect.relations)
        if any(predicate.startswith(begins) for predicate in predicates):
            return dialect
    return PLAIN


def is_ignored(relation: str) -> bool:
    """Tell whether searches leave out a relation, whose dialect it tells itself."""
    return detect((relation,)).ignores(relation)


def entity_iri(text: str) -> str | None:
    """Give the entity of any kind of graph that an id stands for; None for a name, or another id."""
    return next(filter(None, (dialect.entity_iri(text) for dialect in DIALECTS.values())), None)


def is_foreign(id: str, name: str) -> bool:
    """Tell whether an id is of another kind of graph than the one whose dialect has this name.

    Ids of graphs that say nothing of their kind are foreign nowhere, and nothing is foreign to them.

    >>> is_foreign("m.03_r3", "wikidata"), is_foreign("Q42", "wikidata"), is_foreign("m.03_r3", "plain")
    (True, False, False)
    """
    known = DIALECTS[name]
    return known.entities is not None and known.entity_iri(id) is None and entity_iri(id) is not None
