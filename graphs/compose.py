"""Compose: chains retrieved near the topics, and one query composed of them by one call (ours).

What ranking can do, it does: which chains near a topic say the question. What it cannot, the model does:
read the question. The graph computes the answer, and where that is not enough, CoR explores. What chains do
not say, and questions that name no entity, are drafted.
"""

from typing import ClassVar

from pydantic import Field

from kgqa.graphs import cor
from kgqa.graphs.draft import draft_edges
from kgqa.nodes.compose.compose import compose
from kgqa.nodes.compose.compute import compute
from kgqa.nodes.compose.retrieve import retrieve
from kgqa.nodes.compose.state import ComposeState
from kgqa.nodes.draft.describe import describe
from kgqa.nodes.recall_exemplars import recall_exemplars
from kgqa.nodes.retrieve_relations import retrieve_relations
from kgqa.runtime.context import DraftContext
from kgqa.runtime.graph_builder import Edges, build_graph
from kgqa.runtime.search_context import Presets


class Compose(cor.CoR, DraftContext):
    """The options of compose: of what is offered, of looking again, and those of CoR for exploring."""

    method: ClassVar[str] = "compose"
    PRESETS: ClassVar[Presets] = {}
    USES: ClassVar[tuple[str, ...]] = ("solved_questions",)

    solved_questions: bool = Field(
        default=True, description="retrieve by solved questions, and show those that are alike"
    )
    values: bool = Field(default=True, description="look near the topics for what the question names")
    types: bool = Field(default=True, description="show types of nodes, for conditions on these")
    draft: bool = Field(default=True, description="draft a query where chains do not say the question")
    explore: bool = Field(default=True, description="explore as CoR does where no query gives an answer")

    @property
    def drafts(self) -> bool:
        """Whether a query is drafted for a question that names no entity."""
        return self.draft


ONE_QUERY: Edges = {
    **cor.BEFORE,
    recall_exemplars: {"forward": retrieve},
    retrieve: {
        "forward": compose,
        "filter": compute,
        "backtrack": retrieve_relations,
        "draft": describe,
    },
    compose: {
        "filter": compute,
        "refine": retrieve,
        "backtrack": retrieve_relations,
        "draft": describe,
    },
    compute: {"refine": compose, "backtrack": retrieve_relations},
}
"""Retrieval, the query, and its answer."""

EDGES: Edges = {**ONE_QUERY, **draft_edges(retrieve), **cor.EXPLORE}

graph = build_graph(Compose, EDGES, ComposeState)
