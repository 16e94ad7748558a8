"""Airports with an IATA code (airportsdata)."""

from math import cos, hypot, radians

from kgqa.scripts.sample.facts import cities, countries, subdivisions, timezones
from kgqa.scripts.sample.facts.cities import Place
from kgqa.scripts.sample.graph import Graph, Iri, decimal, fold
from kgqa.scripts.sample.sources import iso_codes, read_csv

KIND = "Airport"
_FARTHEST_KM = 80


def add(graph: Graph) -> None:
    """Add airports, and link them to cities and subdivisions where the names agree."""
    regions = _subdivision_codes()
    for row in read_csv("airportsdata", "airports.csv"):
        if row["iata"]:
            airport = _add_airport(graph, row)
            code = regions.get((row["country"], fold(row["subd"])), "")
            graph.fact(airport, "located_in_subdivision", graph.find(subdivisions.KIND, code))
            graph.fact(airport, "serves_city", _city(graph, row))


def _add_airport(graph: Graph, row: dict[str, str]) -> Iri:
    airport = graph.entity(KIND, row["iata"], row["name"])
    graph.alias(airport, row["iata"])
    graph.fact(airport, "iata_code", row["iata"])
    graph.fact(airport, "icao_code", row["icao"])
    graph.fact(airport, "elevation_feet", decimal(row["elevation"], 0))
    graph.fact(airport, "latitude", decimal(row["lat"], 3))
    graph.fact(airport, "longitude", decimal(row["lon"], 3))
    graph.fact(airport, "located_in_country", graph.find(countries.KIND, row["country"]))
    graph.fact(airport, "timezone", timezones.timezone(graph, row["tz"]))
    return airport


def _subdivision_codes() -> dict[tuple[str, str], str]:
    return {(entry["code"][:2], fold(entry["name"])): entry["code"] for entry in iso_codes("3166-2")}


def _city(graph: Graph, row: dict[str, str]) -> Iri | None:
    """The nearest city of the name the airport states, unless it is too far to be meant."""
    here = (float(row["lat"]), float(row["lon"]))
    namesakes = cities.places().get((row["country"], fold(row["city"])), [])
    near = [(distance, place) for place in namesakes if (distance := _km(here, place)) < _FARTHEST_KM]
    return graph.find(cities.KIND, min(near)[1].code) if near else None


def _km(here: tuple[float, float], place: Place) -> float:
    """Distance on a locally flat earth, good enough to tell namesakes apart."""
    north = here[0] - place.latitude
    east = (here[1] - place.longitude) * cos(radians(here[0]))
    return 111.2 * hypot(north, east)
