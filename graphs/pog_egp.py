"""Exemplar-guided planning on Plan-on-Graph (PoG-EGP): solved questions guide plan and search.

PoG, with questions from a training set that are like the one asked (EGP §4.1): they are shown
where the question is broken down (§4.2) and where relations are chosen, to which theirs are
added, and before all that their chains are tried at once (§4.3, Smart Lookahead).
"""

from typing import ClassVar, Literal

from pydantic import Field

from kgqa.graphs.pog import PAPER as POG_PAPER, SEARCH_EDGES, PoG
from kgqa.nodes.claim import claim
from kgqa.nodes.frontier.expand import expand
from kgqa.nodes.frontier.prune import pick_relations
from kgqa.nodes.frontier.reflect import reflect
from kgqa.nodes.frontier.state import FrontierState
from kgqa.nodes.link import link
from kgqa.nodes.plan import plan
from kgqa.nodes.recall_exemplars import recall_exemplars
from kgqa.nodes.smart_lookahead import lookahead_by_path, smart_lookahead
from kgqa.runtime.graph_builder import Edges, build_graph
from kgqa.runtime.search_context import ExemplarContext, Presets

PAPER = {
    **POG_PAPER,
    "encoder": "BAAI/bge-large-en-v1.5",
    "random_exemplars": False,
    "guide_decomposition": True,
    "guide_exploration": True,
    "lookahead": True,
    "lookahead_by": "path",
    "exemplars_as": "questions",
}
"""What the paper sets beside PoG (§4.1 to §4.3)."""


class PoGEGP(PoG, ExemplarContext):
    """The options of PoG-EGP: those of PoG, and what solved questions are used for."""

    method: ClassVar[str] = "pog_egp"

    PRESETS: ClassVar[Presets] = {"paper": PAPER}

    guide_decomposition: bool = Field(default=True, description="show solved questions to the plan (Table 2)")
    guide_exploration: bool = Field(
        default=True, description="show solved questions where relations are chosen, and add theirs (Table 2)"
    )
    lookahead: bool = Field(
        default=True,
        description="try chains of solved questions (§4.3), where these guide the exploration at all",
    )
    lookahead_by: Literal["question", "path"] = Field(
        default="question",
        description="when these chains are tried: before the plan, all in one call; or, as in the paper, "
        "once the first relations are chosen, a call for each path",
    )
    exemplars_as: Literal["templates", "questions"] = Field(
        default="templates",
        description="how prompts show solved questions: with kinds in place of entities; or, as in the "
        "paper, as asked",
    )

    @property
    def looks_ahead(self) -> bool:
        """Whether chains are tried before the plan; without guidance in the exploration none are."""
        return self.lookahead and self.guide_exploration and self.lookahead_by == "question"

    @property
    def looks_ahead_by_path(self) -> bool:
        """Whether chains are tried after relations were chosen."""
        return self.lookahead and self.guide_exploration and self.lookahead_by == "path"


EGP_EDGES: Edges = {
    link: {"forward": claim},
    claim: {"forward": recall_exemplars},
    recall_exemplars: {"forward": smart_lookahead},
    smart_lookahead: {"forward": plan},
    **SEARCH_EDGES,
    pick_relations: {"forward": lookahead_by_path, "backtrack": reflect},
    lookahead_by_path: {"forward": expand},
}

graph = build_graph(PoGEGP, EGP_EDGES, FrontierState)
