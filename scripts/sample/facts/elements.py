"""Chemical elements: properties, discovery, production (mendeleev).

A place among the three largest producers, or holders of reserves, is a record behind
`production_record` and `reserve_record`, with the country and its rank.
"""

import re
from collections.abc import Iterator

from kgqa.scripts.sample.facts import countries
from kgqa.scripts.sample.facts.people import discoverers
from kgqa.scripts.sample.graph import Graph, Iri, Year, decimal, fold
from kgqa.scripts.sample.sources import Row, read_table

KIND = "Element"
_HEAVIEST_STUDIED = 103
"""For heavier ones the source has predicted properties, and other discoveries than IUPAC."""
_YEARS = {60: 1885}
"""Corrected: the source dates neodymium to 1925."""
_COUNTRIES = {"England": "GB", "Scotland": "GB", "Great Britain": "GB"}
_LATTICES = {
    "BCC": "Body-centered cubic",
    "CUB": "Simple cubic complex",
    "DIA": "Diamond cubic",
    "FCC": "Face-centered cubic",
    "HEX": "Hexagonal",
    "MCL": "Monoclinic",
    "ORC": "Orthorhombic",
    "RHL": "Rhombohedral",
    "SC": "Simple cubic",
    "TET": "Tetragonal",
}
_QUERY = """
    SELECT elements.*, series.name AS series, groups.name AS family, melting_point, boiling_point
    FROM elements
    LEFT JOIN series ON series.id = series_id
    LEFT JOIN groups ON groups.group_id = elements.group_id
    LEFT JOIN phasetransitions AS phase ON phase.atomic_number = elements.atomic_number
    ORDER BY elements.atomic_number, phase.id
"""


def add(graph: Graph) -> None:
    """Add the 118 elements and what is known about them."""
    for row in read_table(_QUERY):
        if graph.find(KIND, str(row["atomic_number"])):
            continue
        element = graph.entity(KIND, str(row["atomic_number"]), row["name"])
        _add_identity(graph, element, row)
        if row["atomic_number"] <= _HEAVIEST_STUDIED:
            _add_measurements(graph, element, row)
            _add_discovery(graph, element, row)
        _add_ranking(graph, element, "production", row["top_3_producers"])
        _add_ranking(graph, element, "reserve", row["top_3_reserve_holders"])


def _add_measurements(graph: Graph, element: Iri, row: Row) -> None:
    for relation, column in (
        ("density_g_per_cm3", "density"),
        ("melting_point_kelvin", "melting_point"),
        ("boiling_point_kelvin", "boiling_point"),
        ("electronegativity", "en_pauling"),
    ):
        if row[column] is not None:
            graph.fact(element, relation, decimal(row[column]))


def _add_identity(graph: Graph, element: Iri, row: Row) -> None:
    graph.fact(element, "chemical_symbol", row["symbol"])
    graph.fact(element, "atomic_number", row["atomic_number"])
    graph.fact(element, "atomic_weight", decimal(row["atomic_weight"]))
    for relation, kind, name in (
        ("element_category", "ElementGroup", row["series"]),
        ("element_family", "ElementGroup", row["family"] if row["symbol"] != "H" else None),
        ("in_period", "Period", f"Period {row['period']}"),
        ("crystal_structure", "CrystalStructure", _LATTICES.get(row["lattice_structure"])),
    ):
        if name:
            graph.fact(element, relation, graph.entity(kind, name, name))


def _add_discovery(graph: Graph, element: Iri, row: Row) -> None:
    year = _YEARS.get(row["atomic_number"], row["discovery_year"])
    graph.fact(element, "discovery_year", Year(year) if year else None)
    for place in (row["discovery_location"] or "").split("/"):
        code = _COUNTRIES.get(place) or countries.by_name().get(fold(place), "")
        graph.fact(element, "discovered_in", graph.find(countries.KIND, code))
    for name in discoverers(row["atomic_number"], row["discoverers"]):
        graph.fact(element, "discovered_by", graph.entity("Person", name, name))


def _add_ranking(graph: Graph, element: Iri, what: str, ranking: str | None) -> None:
    for rank, name in _ranked(ranking or ""):
        country = graph.find(countries.KIND, countries.by_name().get(fold(name), ""))
        if country:
            record = graph.mediator(element, f"{what}_record", rank)
            graph.fact(record, f"{what}_country", country)
            graph.fact(record, f"{what}_rank", rank)


def _ranked(ranking: str) -> Iterator[tuple[int, str]]:
    """Take "1) Chile  2) Peru" apart."""
    for rank, name in re.findall(r"(\d)\) ([^)]+?)(?=\s+\d\)|$)", ranking):
        yield int(rank), name
