"""Think-on-Graph (ToG): beam search over entities, scored by the model.

At each step the relations that leave the beam are scored, then the entities that they lead to,
and the best are held; then the model says whether what is held is enough (Sun et al. 2024).
"""

from typing import ClassVar, Literal

from pydantic import Field

from kgqa.graphs.pog import DRY
from kgqa.nodes.assess import assess
from kgqa.nodes.expand_frontier import expand_frontier
from kgqa.nodes.filter import filter_candidates
from kgqa.nodes.link import link
from kgqa.nodes.look_around import look_around
from kgqa.nodes.retrieve_frontier import retrieve_frontier
from kgqa.nodes.score_entities import score_entities
from kgqa.nodes.score_relations import score_relations
from kgqa.session.context import Exploring
from kgqa.session.frontier import Frontier
from kgqa.session.method import Flow, method


class ToG(Exploring):
    """The options of ToG; the defaults are those of the paper and of its public code."""

    method: ClassVar[str] = "tog"

    depth: int = Field(default=3, ge=1, le=10, description="hops of a path at most")
    width: int = Field(default=3, ge=1, le=50, description="entities that the beam holds (N)")
    pruning: Literal["model", "random", "bm25", "encoder"] = Field(
        default="model",
        description="who scores; random: the model scores relations, entities are drawn (ToG-R)",
    )


FLOW: Flow = {
    link: {"forward": retrieve_frontier},
    retrieve_frontier: {"forward": score_relations, "backtrack": look_around},
    score_relations: {"forward": expand_frontier, "backtrack": look_around},
    expand_frontier: {"forward": score_entities, "refine": score_entities, "backtrack": look_around},
    score_entities: {"forward": assess, "refine": retrieve_frontier, "backtrack": look_around},
    assess: {"forward": retrieve_frontier, "filter": filter_candidates},
    filter_candidates: {"backtrack": look_around},
    **DRY,
}

graph = method(ToG, FLOW, Frontier)
