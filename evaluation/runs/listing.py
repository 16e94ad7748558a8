"""Whether a graph has told its relations: an endpoint does so only where it can in time."""

from collections.abc import Mapping
from typing import Any

from kgqa.kg.graph import KnowledgeGraph

RELATIONS = "relations"
"""The key under which it is told: "listed", or None."""


def listing(graph: KnowledgeGraph) -> str | None:
    """Tell whether a graph has listed its relations."""
    return "listed" if graph.relations else None


def unlike(there: Mapping[str, Any], here: Mapping[str, Any]) -> str | None:
    """Say how two openings of one graph differ where only one of them has the relations; else None."""
    if RELATIONS not in there or there[RELATIONS] == here.get(RELATIONS):
        return None
    return f"its relations were listed {'there and not here' if there[RELATIONS] else 'here and not there'}"
