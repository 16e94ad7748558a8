"""Facts by subject, each module one `add(graph)` that reads sources and adds triples.

Order matters twice: entities have to exist before others point at them, and the first
to claim a name gets the plain address (see `kgqa.scripts.sample.graph.Graph`).
"""

from kgqa.scripts.sample.facts import (
    airports,
    cities,
    countries,
    elements,
    history,
    holidays,
    isotopes,
    languages,
    money,
    subdivisions,
    timezones,
)
from kgqa.scripts.sample.graph import Graph

_SUBJECTS = (
    countries,
    elements,
    languages,
    money,
    timezones,
    subdivisions,
    cities,
    airports,
    isotopes,
    history,
    holidays,
)


def build_graph() -> Graph:
    """All facts of all sources in one graph."""
    graph = Graph()
    for subject in _SUBJECTS:
        subject.add(graph)
    return graph
