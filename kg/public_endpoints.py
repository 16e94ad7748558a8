"""Public SPARQL endpoints by name, with what is known of them: nothing has to be counted to open one.

A name of this table means the endpoint. Where a file or folder of that name is at hand as well, neither is
taken: ``./wikidata`` is the folder, and an address is always an address.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from kgqa.kg.dialects import FREEBASE, PLAIN, RDFS, WIKIDATA, Dialect
from kgqa.kg.errors import KGUnavailable

DBO = "http://dbpedia.org/ontology/"

DBPEDIA = replace(
    PLAIN,
    labels=(f"{RDFS}label",),
    aliases=(),
    polyglot=True,
    ignored=(*PLAIN.ignored, f"{DBO}abstract", f"{DBO}thumbnail", "http://xmlns.com/foaf/0.1/depiction"),
    ignored_prefixes=(f"{DBO}wikiPage", "http://dbpedia.org/property/wikiPage", "http://www.w3.org/ns/prov#"),
)
"""A plain graph whose nodes have names in a hundred languages, and much about their pages."""


@dataclass(frozen=True, slots=True)
class PublicEndpoint:
    """An endpoint that anybody may ask, within its limits."""

    name: str
    url: str
    dialect: Dialect
    search: str  # the full-text index that it has (`kg/linking/search.py`)
    requests: int  # at a time from one client, at most
    limits: str


_QLEVER_LIMITS = "a time-out of its own; no promise"

ENDPOINTS = {
    each.name: each
    for each in (
        PublicEndpoint(
            "wikidata",
            "https://query.wikidata.org/sparql",
            WIKIDATA,
            "wikibase",
            2,
            "60 s a query; 60 s of query time and 30 failing queries a minute for each client; about five at "
            "a time; 429 when there are more, and a ban for who goes on",
        ),
        PublicEndpoint(
            "wikidata-qlever", "https://qlever.dev/api/wikidata", WIKIDATA, "qlever", 2, _QLEVER_LIMITS
        ),
        PublicEndpoint(
            "freebase-qlever", "https://qlever.dev/api/freebase", FREEBASE, "qlever", 2, _QLEVER_LIMITS
        ),
        PublicEndpoint(
            "dbpedia",
            "https://dbpedia.org/sparql?default-graph-uri=http://dbpedia.org",
            DBPEDIA,
            "virtuoso",
            2,
            "answers of 10,000 rows; 100 requests a second and 50 connections for each client; 503 when busy",
        ),
    )
}


def named_endpoint(name: str) -> PublicEndpoint | None:
    """Return the public endpoint of a name; None if it is none.

    Raises:
        KGUnavailable: if a file or folder has this name as well.
    """
    if found := ENDPOINTS.get(name):
        if Path(name).exists():
            raise KGUnavailable(
                f"{name} is a public endpoint, and a file or folder here; say ./{name} for that, "
                f"or {found.url} for the endpoint"
            )
        return found
    return None


def known_endpoint(url: str) -> PublicEndpoint | None:
    """Return the public endpoint at an address."""
    return next((each for each in ENDPOINTS.values() if each.url == url), None)
