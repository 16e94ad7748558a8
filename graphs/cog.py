"""Controllable graph reasoning (CoG): relational blueprints and failure-aware refinement.

The paper's Figure 2 as a state machine. System 1 (§3.2) plans subgoals, takes a blueprint
from similar questions, and ranks relations by both; System 2 (§3.3) diagnoses a failure,
turns back to before the decision to blame, and recalls what was pruned there.
"""

from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from kgqa.nodes.answer import answer
from kgqa.nodes.claim import claim
from kgqa.nodes.cog.backtrack import backtrack, backtrack_frontier
from kgqa.nodes.cog.blueprint import blueprint
from kgqa.nodes.cog.diagnose import diagnose, diagnose_frontier
from kgqa.nodes.cog.learn import learn
from kgqa.nodes.cog.outline import outline
from kgqa.nodes.cog.prune import prune, prune_frontier
from kgqa.nodes.cog.rerank import rerank, rerank_frontier
from kgqa.nodes.cog.state import CoGState
from kgqa.nodes.cog.verify import verify, verify_frontier
from kgqa.nodes.expand import expand
from kgqa.nodes.filter import filter_candidates
from kgqa.nodes.frontier.expand import expand as expand_frontier
from kgqa.nodes.frontier.retrieve_relations import retrieve_relations as retrieve_from_frontier
from kgqa.nodes.infer import infer, infer_from_frontier
from kgqa.nodes.link import link
from kgqa.nodes.look_again import look_again, look_again_from_frontier
from kgqa.nodes.plan import plan
from kgqa.nodes.refine import refine
from kgqa.nodes.retrieve_relations import retrieve_relations
from kgqa.runtime.budget import Budget
from kgqa.runtime.graph_builder import Edges, build_graph
from kgqa.runtime.node import Node, NodeRuntime
from kgqa.runtime.search_context import ONE_STEP_A_TIME, PlannedContext, Presets
from kgqa.runtime.state import Decision, Update

PAPER = {
    **ONE_STEP_A_TIME,
    "temperature": 0.3,
    "max_tokens": 1024,
    "depth": 4,
    "encoder": "msmarco-distilbert-base-tas-b",
    "tau": 0.92,
    "weight_local": 0.6,
    "weight_step": 0.25,
    "weight_global": 0.15,
    "alignment": "semantic",
    "relevance": "subgoal",
    "compatibility": "slots",
    "safeguard": "union",
    "exploration": "frontier",
    "adaptation": "free",
    "own_knowledge": True,
    "planning": "first",
    "topic_conditions": False,
    "unite": False,
    "attributes": False,
    "budget": dict.fromkeys(Budget.model_fields),
}
"""What the paper sets (§3.2.2, appendices A, E.1, E.2 and E.3); it has no budget."""


class CoG(PlannedContext):
    """The options of CoG; ``depth`` and weights are by default the paper's (§3.2.2, appendix E).

    The paper explores a frontier (``exploration``); the default goes along one chain, with fewer calls.
    """

    method: ClassVar[str] = "cog"

    PRESETS: ClassVar[Presets] = {"paper": PAPER}

    depth: int = Field(default=4, ge=1, le=10, description="hops of a chain at most")
    width: int = Field(default=3, ge=1, le=50, description="relations that the model keeps at each pruning")
    blueprints: str | None = Field(
        default=None,
        description="a folder made by kgqa blueprints build; null for the sample's own on the sample graph, "
        "and for none elsewhere",
    )
    guidance: bool = Field(default=True, description="use blueprints (Table 3: System 2 only, if not)")
    adaptation: bool | Literal["free"] = Field(
        default=True,
        description="let the model adapt the nearest (Table 3) to relations that the graph has; free: it is "
        "shown none of these, writes one list, and what it names is taken as it is (paper, A.5)",
    )
    reranking: bool = Field(default=True, description="rank relations by blueprint and subgoal (Table 3)")
    refinement: bool = Field(default=True, description="diagnose failures and turn back (Table 3)")
    refinements: int = Field(default=3, ge=0, le=50, description="diagnoses of one question at most")
    tau: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="similarity above which a blueprint is copied; null: the library's",
    )
    top_k: int = Field(default=5, ge=1, le=100, description="blueprints that are looked up")
    shortlist: int = Field(default=15, ge=1, le=500, description="relations shown to the model at first")
    weight_local: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="similarity to the subgoal (equation 5a); divided by the sum of the weights",
    )
    weight_step: float = Field(default=0.25, ge=0, le=1, description="similarity to the slot at hand (5b)")
    weight_global: float = Field(default=0.15, ge=0, le=1, description="similarity to any slot (5c)")
    alignment: Literal["semantic", "positional"] = Field(
        default="semantic", description="which slot a step has (equation 4); public code: by position"
    )
    relevance: Literal["subgoal", "question"] = Field(
        default="subgoal", description="what 5a compares relations with; public code: the question"
    )
    compatibility: Literal["slots", "whole"] = Field(
        default="slots",
        description="what 5c compares relations with; public code: the whole blueprint as text",
    )
    safeguard: Literal["union", "sparse", "none"] = Field(
        default="union",
        description="when the blueprint's relation is added; sparse: below two choices (public code)",
    )
    exploration: Literal["chain", "frontier"] = Field(
        default="chain",
        description="one relation chain at a time, or all that is chosen of all topics at once, with prompts "
        "of their own for filter, memory and answer (paper, §3.2.2); a chain takes fewer calls",
    )
    own_knowledge: bool = Field(
        default=False,
        description="let memory and check (with exploration=frontier) and inference go by what the model "
        "knows as well, answers labelled so (paper, A.2.3, A.3 and A.4.3)",
    )
    overlay: str | None = Field(
        default=None,
        description="a folder that blueprints of grounded answers are added to; read on top of the library",
    )


def _either(chain: Node, frontier: Node) -> Node:
    """Return a node that goes along one chain, or takes the same step from all of them at once."""

    async def explore(state: Any, runtime: NodeRuntime) -> Update:
        at_once = runtime.context.exploration == "frontier"
        return await (frontier if at_once else chain).body(state, runtime)

    return replace(chain, body=explore)


retrieve_relations = _either(retrieve_relations, retrieve_from_frontier)
rerank = _either(rerank, rerank_frontier)
prune = _either(prune, prune_frontier)
expand = _either(expand, expand_frontier)
verify = _either(verify, verify_frontier)
diagnose = _either(diagnose, diagnose_frontier)
backtrack = _either(backtrack, backtrack_frontier)
look_again = _either(look_again, look_again_from_frontier)
infer = _either(infer, infer_from_frontier)

AFTER_VERDICT: dict[Decision, Node] = {"backtrack": diagnose, "stop": learn}
"""After each verdict: a failure is diagnosed, an answer is learned from."""

TOPIC_EXHAUSTED: dict[Decision, Node] = {"filter": filter_candidates, "refine": refine, "stop": learn}
"""Where the topic at hand leads no further: what is verified stands, or the next topic is taken up."""

EDGES: Edges = {
    link: {"forward": claim},
    claim: {"forward": plan},
    plan: {"forward": blueprint},
    blueprint: {"forward": retrieve_relations},
    retrieve_relations: {"forward": outline, "backtrack": diagnose},
    outline: {"forward": rerank},
    rerank: {"forward": prune, "backtrack": diagnose},
    prune: {"forward": expand, "backtrack": diagnose},
    expand: {"forward": verify, "refine": retrieve_relations, "backtrack": diagnose},
    verify: {"forward": retrieve_relations, "filter": filter_candidates, "refine": refine, **AFTER_VERDICT},
    refine: {"forward": retrieve_relations, "filter": filter_candidates, "stop": learn},
    filter_candidates: {**AFTER_VERDICT},
    diagnose: {"backtrack": backtrack, "forward": look_again, "infer": infer, **TOPIC_EXHAUSTED},
    backtrack: {"forward": expand, "refine": retrieve_relations},
    look_again: {"refine": retrieve_relations, "stop": infer},
    infer: answer,
    learn: answer,
}

graph = build_graph(CoG, EDGES, CoGState)
