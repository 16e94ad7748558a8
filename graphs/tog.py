"""Think-on-Graph (ToG): beam search over relation chains or entities, scored by the model.

At each step the relations that leave the beam are scored, in the paper then the entities that they lead to
as well, and the best are held; then the model says whether what is held is enough (Sun et al. 2024).
"""

from typing import ClassVar, Literal

from pydantic import Field

from kgqa.graphs.pog import FRONTIER_EXHAUSTED
from kgqa.nodes.claim import claim
from kgqa.nodes.filter import filter_candidates
from kgqa.nodes.frontier.expand import expand
from kgqa.nodes.frontier.prune import retrieve_relations, score_relations
from kgqa.nodes.frontier.rerank import rerank
from kgqa.nodes.frontier.state import FrontierState
from kgqa.nodes.frontier.verify import verify
from kgqa.nodes.link import link
from kgqa.nodes.look_again import look_again_from_frontier
from kgqa.runtime.graph_builder import Edges, build_graph
from kgqa.runtime.search_context import ONE_HOP_A_TIME, ChoiceContext, FilterContext, Presets, TopicContext

PAPER = {
    **ONE_HOP_A_TIME,
    "temperature": 0.4,
    "max_tokens": 256,
    "width": 3,
    "depth": 3,
    "pruning": "model",
    "attributes": False,
    "beam": "entities",
    "topic_conditions": False,
}
"""What the paper sets (§3.1); its temperature is that of exploration, and the reasoning's is 0."""


class ToG(ChoiceContext, TopicContext, FilterContext):
    """The options of ToG; numbers are those of the paper and of its public code."""

    method: ClassVar[str] = "tog"

    PRESETS: ClassVar[Presets] = {"paper": PAPER}

    depth: int = Field(default=3, ge=1, le=10, description="hops of a path at most")
    width: int = Field(default=3, ge=1, le=50, description="chains, or entities, that the beam holds (N)")
    beam: Literal["chains", "entities"] = Field(
        default="chains",
        description="what the beam holds: relation chains with all their ends, which conditions on values "
        "then tell apart; or, as in the paper, entities, which are scored one by one",
    )
    pruning: Literal["model", "random", "bm25", "encoder"] = Field(
        default="model",
        description="who scores; random: the model scores relations, entities are drawn (ToG-R), "
        "with beam=entities",
    )


EDGES: Edges = {
    link: {"forward": claim},
    claim: {"forward": retrieve_relations},
    retrieve_relations: {"forward": score_relations, "backtrack": look_again_from_frontier},
    score_relations: {"forward": expand, "backtrack": look_again_from_frontier},
    expand: {"forward": rerank, "refine": rerank, "backtrack": look_again_from_frontier},
    rerank: {"forward": verify, "refine": retrieve_relations, "backtrack": look_again_from_frontier},
    verify: {"forward": retrieve_relations, "filter": filter_candidates},
    filter_candidates: {"backtrack": look_again_from_frontier},
    **FRONTIER_EXHAUSTED,
}

graph = build_graph(ToG, EDGES, FrontierState)
