"""Isotopes and how they decay (mendeleev, after NUBASE).

A way to decay is a record behind `decay_record`: the mode and, for the common modes, the
isotope that is left. The share of decays is left out: where NUBASE states it with an
exponent, the source has lost the exponent.
"""

from typing import NamedTuple

from kgqa.scripts.sample.facts import elements
from kgqa.scripts.sample.graph import Graph, Iri, Year, decimal
from kgqa.scripts.sample.sources import Row, read_table

KIND = "Isotope"


class Mode(NamedTuple):
    """A decay mode: its name, and what it takes from the number of protons and nucleons."""

    name: str
    protons: int
    nucleons: int


_MODES = {
    "A": Mode("Alpha decay", 2, 4),
    "B-": Mode("Beta minus decay", -1, 0),
    "B+": Mode("Beta plus decay", 1, 0),
    "EC": Mode("Electron capture", 1, 0),
    "n": Mode("Neutron emission", 0, 1),
    "2n": Mode("Double neutron emission", 0, 2),
    "p": Mode("Proton emission", 1, 1),
    "2p": Mode("Double proton emission", 2, 2),
    "2B-": Mode("Double beta minus decay", -2, 0),
    "2B+": Mode("Double beta plus decay", 2, 0),
}
_FISSION = "SF"
_SECONDS = {
    "msec": 1e-3,
    "sec": 1.0,
    "minute": 60.0,
    "hour": 3600.0,
    "day": 86400.0,
    "year": 31556926.0,
    "kyear": 31556926e3,
    "Myear": 31556926e6,
    "Gyear": 31556926e9,
}
"""Shorter and longer half-lives are left out: no xsd:decimal of 18 places holds them all."""
_DECAYS = """
    SELECT atomic_number, mass_number, mode FROM isotopedecaymodes
    JOIN isotopes ON isotopes.id = isotope_id
    WHERE is_allowed_not_observed IS NOT 1 ORDER BY isotopedecaymodes.id
"""


def add(graph: Graph) -> None:
    """Add the isotopes of every element, then the decays that lead from one to another."""
    names = {row["atomic_number"]: row["name"] for row in read_table("SELECT * FROM elements")}
    for row in read_table("SELECT * FROM isotopes ORDER BY atomic_number, mass_number, id"):
        _add_isotope(graph, names[row["atomic_number"]], row)
    for row in read_table(_DECAYS):
        if row["mode"] in _MODES or row["mode"] == _FISSION:
            _add_decay(graph, row)


def _find(graph: Graph, protons: int, nucleons: int) -> Iri | None:
    return graph.find(KIND, f"{protons}-{nucleons}")


def _add_isotope(graph: Graph, name: str, row: Row) -> None:
    number, mass = row["atomic_number"], row["mass_number"]
    isotope = graph.entity(KIND, f"{number}-{mass}", f"{name}-{mass}")
    year, abundance, unit = row["discovery_year"], row["abundance"], row["half_life_unit"]
    graph.fact(isotope, "isotope_of", graph.find(elements.KIND, str(number)))
    graph.fact(isotope, "mass_number", mass)
    graph.fact(isotope, "discovery_year", Year(year) if year else None)
    graph.fact(isotope, "natural_abundance_percent", decimal(abundance) if abundance else None)
    if row["half_life"] and unit in _SECONDS:
        graph.fact(isotope, "half_life_seconds", decimal(row["half_life"] * _SECONDS[unit]))


def _add_decay(graph: Graph, row: Row) -> None:
    protons, nucleons, code = row["atomic_number"], row["mass_number"], row["mode"]
    isotope = _find(graph, protons, nucleons)
    if isotope is None:
        return
    mode = _MODES.get(code, Mode("Spontaneous fission", 0, 0))
    record = graph.mediator(isotope, "decay_record", code)
    graph.fact(record, "decay_mode", graph.entity("DecayMode", code, mode.name))
    if code != _FISSION:
        left = _find(graph, protons - mode.protons, nucleons - mode.nucleons)
        graph.fact(record, "decays_to", left)
