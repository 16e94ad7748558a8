"""Draft: one query in SPARQL, drafted over the graph's classes and checked before it runs (ours).

For what chains do not say: groups, ranks, sums and averages, several columns, arithmetic, order, absence, and
questions that name no entity. Nothing is run that was not checked against what is known of the graph.
"""

from typing import ClassVar

from kgqa.nodes.answer import answer
from kgqa.nodes.claim import claim
from kgqa.nodes.draft.describe import describe
from kgqa.nodes.draft.draft import draft
from kgqa.nodes.draft.run import run
from kgqa.nodes.draft.state import DraftState
from kgqa.nodes.draft.validate import validate
from kgqa.nodes.link import link
from kgqa.runtime.context import DraftContext
from kgqa.runtime.graph_builder import Edges, build_graph
from kgqa.runtime.node import Node


class Draft(DraftContext):
    """The options of draft."""

    method: ClassVar[str] = "draft"

    @property
    def translates(self) -> bool:
        """Whether a question is translated: a draft is written for the question as it was asked."""
        return False


def draft_edges(otherwise: Node) -> Edges:
    """Return what a query can be made of, the query, and its rows; one that gives none leads elsewhere."""
    return {
        describe: {"forward": draft},
        draft: {"forward": validate, "refine": describe, "backtrack": otherwise},
        validate: {"forward": run, "refine": draft, "backtrack": otherwise},
        run: {"forward": answer, "refine": draft, "backtrack": otherwise},
    }


EDGES: Edges = {link: {"forward": claim}, claim: {"forward": describe}, **draft_edges(answer)}

graph = build_graph(Draft, EDGES, DraftState)
