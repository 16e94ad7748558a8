"""Chain-of-Relations (CoR): relation-centric exploration, global entity filtering.

The paper's Figure 2 as a state machine. Exploration (§4.1) chains relations from
the topic entities and keeps alternatives on a stack; filtering (§4.2) validates
all candidates at the end of a chain at once.
"""

from typing import ClassVar

from pydantic import Field

from kgqa.nodes.answer import answer
from kgqa.nodes.claim import claim
from kgqa.nodes.cor.backtrack import backtrack
from kgqa.nodes.cor.prune import prune
from kgqa.nodes.cor.verify import verify
from kgqa.nodes.expand import expand
from kgqa.nodes.filter import filter_candidates
from kgqa.nodes.link import link
from kgqa.nodes.look_again import look_again
from kgqa.nodes.recall_exemplars import recall_exemplars
from kgqa.nodes.refine import refine
from kgqa.nodes.retrieve_relations import retrieve_relations
from kgqa.nodes.smart_lookahead import smart_lookahead
from kgqa.runtime.budget import Budget
from kgqa.runtime.graph_builder import Edges, build_graph
from kgqa.runtime.search_context import ONE_STEP_A_TIME, ChainContext, ExemplarContext, Presets

PAPER = {
    **ONE_STEP_A_TIME,
    "temperature": 0.01,
    "width": 3,
    "depth": 3,
    "all_topics": True,
    "topic_conditions": False,
    "unite": False,
    "allow_parametric": "always",
    "backtracking": True,
    "filtering": True,
    "attributes": False,
    "budget": dict.fromkeys(Budget.model_fields),
}
"""What the paper sets (§5.3), and how it searches.

From all of E_topic (§3), the model asked at each iteration and with backtracking (§4.1), with filtering
(§4.2), answered from memory after any failure (A.4), without a budget.
"""


class CoR(ExemplarContext, ChainContext):
    """The options of CoR; ``width`` and, for CWQ, ``depth`` are by default the paper's (§5.3).

    The paper asks the model at every step (§4.1): ``always_ask``. The default spares the calls whose reply
    is clear or could not be based on anything.
    """

    method: ClassVar[str] = "cor"

    PRESETS: ClassVar[Presets] = {
        **dict.fromkeys(("paper", "paper-webqsp", "paper-qald10"), PAPER),
        "paper-cwq": {**PAPER, "depth": 4},
    }

    depth: int = Field(default=4, ge=1, le=10, description="hops of a chain at most (paper: 3; 4 on CWQ)")
    width: int = Field(default=3, ge=1, le=50, description="relations kept at each pruning")
    backtracking: bool = Field(default=True, description="keep alternatives on the stack (Table 3: RB)")
    filtering: bool = Field(default=True, description="filter the candidates of a chain (Table 3: GEF)")
    all_topics: bool = Field(
        default=True, description="explore every topic entity; the public code: the first alone"
    )
    lookahead: bool = Field(default=False, description="try chains of solved questions first (EGP §4.3)")


EXPLORE: Edges = {
    retrieve_relations: {"forward": prune, "backtrack": backtrack},
    prune: {"forward": expand, "backtrack": backtrack},
    expand: {"forward": verify, "backtrack": backtrack},
    verify: {
        "forward": retrieve_relations,
        "filter": filter_candidates,
        "refine": refine,
        "backtrack": backtrack,
    },
    refine: {"forward": retrieve_relations, "filter": filter_candidates},
    filter_candidates: {"backtrack": backtrack},
    backtrack: {"forward": expand, "refine": refine, "filter": filter_candidates, "backtrack": look_again},
    look_again: {"refine": retrieve_relations, "stop": answer},
}
"""Exploration and filtering."""

BEFORE: Edges = {link: {"forward": claim}, claim: {"forward": recall_exemplars}}
"""What comes before a search."""

EDGES: Edges = {
    **BEFORE,
    recall_exemplars: {"forward": smart_lookahead},
    smart_lookahead: {"forward": retrieve_relations},
    **EXPLORE,
}

graph = build_graph(CoR, EDGES)
