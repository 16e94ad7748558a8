"""Plan-on-Graph (PoG): adaptive exploration, memory and reflection.

The model breaks the question down into sub-objectives; round by round it chooses relations,
writes down what is known of the sub-objectives, says whether that is enough, and reflects where
to go on, or to come back to (Chen et al. 2024; EGP §4 restates it).
"""

from typing import ClassVar, Literal

from pydantic import Field

from kgqa.nodes.answer import answer
from kgqa.nodes.claim import claim
from kgqa.nodes.filter import filter_candidates
from kgqa.nodes.frontier.backtrack import backtrack
from kgqa.nodes.frontier.choose_entities import choose_entities
from kgqa.nodes.frontier.expand import expand
from kgqa.nodes.frontier.prune import pick_relations
from kgqa.nodes.frontier.reflect import reflect
from kgqa.nodes.frontier.retrieve_relations import retrieve_relations
from kgqa.nodes.frontier.state import FrontierState
from kgqa.nodes.frontier.update_memory import update_memory
from kgqa.nodes.frontier.verify import verify
from kgqa.nodes.infer import infer_from_frontier
from kgqa.nodes.link import link
from kgqa.nodes.look_again import look_again_from_frontier
from kgqa.nodes.plan import plan
from kgqa.runtime.graph_builder import Edges, build_graph
from kgqa.runtime.search_context import ONE_STEP_A_TIME, PlannedContext, Presets

PAPER = {
    **ONE_STEP_A_TIME,
    "temperature": 0.3,
    "max_tokens": 4096,
    "depth": 4,
    "reflections": 5,
    "attributes": False,
    "frontier": "entities",
    "planning": "first",
    "topic_conditions": False,
    "unite": False,
    "reflection": "always",
    "width": 70,
    "entity_encoder": "msmarco-distilbert-base-tas-b",
    "budget": {"llm_calls": 400, "tokens": 400_000, "seconds": 1800.0},
}
"""What the authors' public code sets (EGP §4.3 and §4.4 restate the steps); it has no budget, and in its
published runs a question takes up to 390 calls and 215,000 tokens, which none of these limits cuts."""


class PoG(PlannedContext):
    """The options of PoG; numbers are those of its public code, whose way ``preset=paper`` is."""

    method: ClassVar[str] = "pog"

    PRESETS: ClassVar[Presets] = {"paper": PAPER}

    depth: int = Field(default=4, ge=1, le=10, description="hops of a chain at most")
    reflections: int = Field(default=5, ge=0, le=50, description="how often a search may come back at most")
    frontier: Literal["chains", "entities"] = Field(
        default="chains",
        description="what the search goes on from: relation chains, chosen and judged in few calls; or, as "
        "in the paper, entities, with a call for each choice (relations of an entity, entities of one, "
        "memory, evaluation, reflection, recall) and `depth` rounds",
    )
    reflection: Literal["needed", "always"] = Field(
        default="needed",
        description="where to go on is said by the check, and the model reflects where nothing of it leads "
        "on; or, as in the paper, after each check",
    )
    width: int = Field(
        default=70,
        ge=1,
        le=100,
        description="most entities of one relation, those most similar to the question (entities)",
    )
    entity_encoder: str | None = Field(
        default=None,
        min_length=1,
        description="says which entities are most similar, by name or folder; null for the encoder",
    )

    @property
    def explores_entities(self) -> bool:
        """Whether the frontier is of entities."""
        return self.frontier == "entities"

    @property
    def plans_first(self) -> bool:
        """Whether the question is broken down before the search, as where solved questions guide that."""
        guided = getattr(self, "guide_decomposition", False)
        return super().plans_first or self.explores_entities or guided

    @property
    def steers(self) -> bool:
        """Whether a check that goes on says from where."""
        return self.reflection == "needed" and not self.explores_entities

    @property
    def own_knowledge(self) -> bool:
        """Whether memory, evaluation and inference go by what the model knows as well (EGP §4.4)."""
        return self.explores_entities


FRONTIER_EXHAUSTED: Edges = {
    look_again_from_frontier: {"refine": retrieve_relations, "stop": infer_from_frontier},
    infer_from_frontier: answer,
}
"""Where nothing is left to go on from: a second look, then what all that was found carries."""

SEARCH_EDGES: Edges = {
    plan: {"forward": retrieve_relations},
    retrieve_relations: {"forward": pick_relations, "backtrack": reflect},
    pick_relations: {"forward": expand, "backtrack": reflect},
    expand: {"forward": choose_entities, "refine": retrieve_relations, "backtrack": reflect},
    choose_entities: {"forward": update_memory, "refine": retrieve_relations, "backtrack": reflect},
    update_memory: {"forward": verify},
    verify: {"forward": reflect, "refine": retrieve_relations, "filter": filter_candidates},
    filter_candidates: {"backtrack": reflect},
    reflect: {"forward": retrieve_relations, "backtrack": backtrack, "infer": look_again_from_frontier},
    backtrack: retrieve_relations,
    **FRONTIER_EXHAUSTED,
}
"""What follows once it is known what the question is about."""

graph = build_graph(PoG, {link: {"forward": claim}, claim: {"forward": plan}, **SEARCH_EDGES}, FrontierState)
