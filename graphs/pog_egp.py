"""Exemplar-guided planning on Plan-on-Graph (PoG-EGP): solved questions guide plan and search.

PoG, with questions from a training set that are like the one asked (EGP §4.1): they are shown
where the question is broken down (§4.2) and where relations are chosen, to which theirs are
added, and before all that their chains are tried at once (§4.3, Smart Lookahead).
"""

from typing import ClassVar

from pydantic import Field

from kgqa.graphs.pog import PAPER as POG_PAPER, SEARCH_EDGES, PoG
from kgqa.nodes.frontier.state import FrontierState
from kgqa.nodes.link import link
from kgqa.nodes.plan import plan
from kgqa.nodes.recall_exemplars import recall_exemplars
from kgqa.nodes.smart_lookahead import smart_lookahead
from kgqa.runtime.context import ExemplarContext, Presets
from kgqa.runtime.graph_builder import Edges, build_graph

PAPER = {
    **POG_PAPER,
    "encoder": "BAAI/bge-large-en-v1.5",
    "random_exemplars": False,
    "guide_decomposition": True,
    "guide_exploration": True,
    "lookahead": True,
}
"""What the paper sets beside PoG (§4.1 to §4.3)."""


class PoGEGP(PoG, ExemplarContext):
    """The options of PoG-EGP: those of PoG, and what solved questions are used for."""

    method: ClassVar[str] = "pog_egp"

    PRESETS: ClassVar[Presets] = {"paper": PAPER}

    guide_decomposition: bool = Field(default=True, description="show them to the plan (Table 2)")
    guide_exploration: bool = Field(
        default=True, description="show them where relations are chosen, and add theirs (Table 2)"
    )
    lookahead: bool = Field(default=True, description="try their chains before anything else (§4.3)")


RECALL_EDGES: Edges = {link: {"forward": recall_exemplars}, recall_exemplars: {"forward": smart_lookahead}}

EGP_EDGES: Edges = {**RECALL_EDGES, smart_lookahead: {"forward": plan}, **SEARCH_EDGES}

graph = build_graph(PoGEGP, EGP_EDGES, FrontierState)
