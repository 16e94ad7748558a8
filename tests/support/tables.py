"""Records with a table: one by hand, and a method that answers with it whatever it is asked."""

from typing import Any, ClassVar

from kgqa.nodes.link import link
from kgqa.nodes.record import complete_record
from kgqa.runtime.context import GroundedContext
from kgqa.runtime.graph_builder import build_graph
from kgqa.runtime.node import NodeRuntime, node
from kgqa.runtime.record import Ref, Table
from kgqa.runtime.state import FinalUpdate, State


def cell(name: str | None, id: str | None = None) -> Ref:
    """A value, or an entity with its id."""
    return {"id": id or name, "name": name}


HUTS: Table = {
    "columns": ["hut", "beds", "opened"],
    "rows": [
        [cell("Abel Hut", "http://x/abel"), cell("24"), cell("1931-06-01")],
        [cell("Berta, the old", "http://x/berta"), cell("8"), None],
        [cell(None, "http://x/c"), cell("120"), cell("2004-09-12")],
    ],
    "ordered": True,
    "truncated": False,
}
"""Three huts in an order; one has no name, one no date."""

QUERY = "SELECT ?hut ?beds ?opened WHERE { ?hut <http://x/beds> ?beds }"


class Listing(GroundedContext):
    """No options of its own."""

    method: ClassVar[str] = "listing"


@node("tabulate")
async def tabulate(state: State, runtime: NodeRuntime) -> FinalUpdate:
    """Complete a record with the table of huts."""
    answers = [row[0] for row in HUTS["rows"] if row[0]]
    update: Any = {"answers": answers, "table": HUTS, "query": QUERY, "outcome": "grounded"}
    return await complete_record({**update, "paths": [], "evidence": []}, state, runtime)


graph = build_graph(Listing, {link: tabulate})
