"""Draft: one query in SPARQL, drafted over the graph's classes and checked before it runs (ours).

For what chains do not say: groups, ranks, sums and averages, several columns, arithmetic, order, absence, and
questions that name no entity. Nothing is run that was not checked against what is known of the graph.
"""

from typing import ClassVar

from pydantic import Field

from kgqa.nodes.claim import claim
from kgqa.nodes.draft.answer import answer
from kgqa.nodes.draft.describe import describe
from kgqa.nodes.draft.draft import draft
from kgqa.nodes.draft.run import run
from kgqa.nodes.draft.state import DraftState
from kgqa.nodes.draft.validate import validate
from kgqa.nodes.link import link
from kgqa.runtime.context import ClaimContext
from kgqa.runtime.graph_builder import Edges, build_graph


class Draft(ClaimContext):
    """The options of draft."""

    method: ClassVar[str] = "draft"
    retrieves: ClassVar[bool] = True

    max_refinements: int = Field(
        default=2, ge=0, le=8, description="how often a query is drafted anew, with what was wrong with it"
    )

    @property
    def translates(self) -> bool:
        """Whether a question is translated: a draft is written for the question as it was asked."""
        return False


DRAFT: Edges = {
    describe: {"forward": draft},
    draft: {"forward": validate},
    validate: {"forward": run, "refine": draft},
    run: {"forward": answer, "refine": draft},
}
"""What a query can be made of, the query, and its rows."""

EDGES: Edges = {link: {"forward": claim}, claim: {"forward": describe}, **DRAFT}

graph = build_graph(Draft, EDGES, DraftState)
