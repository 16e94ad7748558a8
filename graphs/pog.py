"""Plan-on-Graph (PoG): adaptive exploration, memory and reflection.

The model breaks the question down into sub-objectives; round by round it chooses relations,
writes down what is known of the sub-objectives, says whether that is enough, and reflects where
to go on, or to come back to (Chen et al. 2024; EGP §4 restates it).
"""

from typing import ClassVar

from pydantic import Field

from kgqa.nodes.answer import answer
from kgqa.nodes.assess import assess
from kgqa.nodes.conclude import conclude
from kgqa.nodes.expand_frontier import expand_frontier
from kgqa.nodes.filter import filter_candidates
from kgqa.nodes.link import link
from kgqa.nodes.look_around import look_around
from kgqa.nodes.pick_relations import pick_relations
from kgqa.nodes.plan import plan
from kgqa.nodes.recall import recall
from kgqa.nodes.reflect import reflect
from kgqa.nodes.retrieve_frontier import retrieve_frontier
from kgqa.session.context import Exploring
from kgqa.session.frontier import Frontier
from kgqa.session.method import Flow, method


class PoG(Exploring):
    """The options of PoG; the defaults are those of its public code."""

    method: ClassVar[str] = "pog"

    depth: int = Field(default=4, ge=1, le=10, description="hops of a chain at most")
    reflections: int = Field(default=5, ge=0, le=50, description="how often a search may come back at most")


DRY: Flow = {look_around: {"refine": retrieve_frontier, "stop": conclude}, conclude: answer}
"""Where nothing is left to go on from: a second look, then what all that was found carries."""

SEARCH: Flow = {
    plan: {"forward": retrieve_frontier},
    retrieve_frontier: {"forward": pick_relations, "backtrack": reflect},
    pick_relations: {"forward": expand_frontier, "backtrack": reflect},
    expand_frontier: {"forward": assess, "refine": retrieve_frontier, "backtrack": reflect},
    assess: {"forward": reflect, "filter": filter_candidates},
    filter_candidates: {"backtrack": reflect},
    reflect: {"forward": retrieve_frontier, "backtrack": recall, "infer": look_around},
    recall: retrieve_frontier,
    **DRY,
}
"""What follows once it is known what the question is about."""

graph = method(PoG, {link: {"forward": plan}, **SEARCH}, Frontier)
