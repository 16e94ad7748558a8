"""Verify-on-Graph (VoG): stepwise verification and adaptive revision of a plan.

The paper's Figure 2 as a state machine. The model plans the whole search with its answer
(§3.1); each step is retrieved (§3.2) and verified (§3.3) against the graph; where they do not
agree the plan is revised by one of three arms, chosen by a bandit and judged by a reward (§3.4).
"""

from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from kgqa.nodes.link import link
from kgqa.nodes.recall_exemplars import recall_exemplars
from kgqa.nodes.vog.advance import advance
from kgqa.nodes.vog.answer import answer
from kgqa.nodes.vog.appraise import appraise
from kgqa.nodes.vog.choose_arm import choose_arm
from kgqa.nodes.vog.conclude import conclude
from kgqa.nodes.vog.expand import expand
from kgqa.nodes.vog.filter import filter_entities
from kgqa.nodes.vog.judge import judge
from kgqa.nodes.vog.look_again import look_again
from kgqa.nodes.vog.plan import plan_steps
from kgqa.nodes.vog.prune import prune
from kgqa.nodes.vog.rerank import rerank
from kgqa.nodes.vog.retrieve_relations import retrieve_relations
from kgqa.nodes.vog.revise import look_ahead, revise
from kgqa.nodes.vog.state import VoGState
from kgqa.nodes.vog.verify import verify
from kgqa.priors.rewards import UNREACHABLE_REWARD, RewardMetrics, default_threshold
from kgqa.runtime.budget import Budget
from kgqa.runtime.graph_builder import Edges, build_graph
from kgqa.runtime.node import Node
from kgqa.runtime.search_context import ExemplarContext, FilterContext, OfferContext, OutrightContext, Presets
from kgqa.runtime.state import Decision

PAPER = {
    "temperature": 0.3,
    "max_tokens": 1024,
    "encoder": "msmarco-bert-base-dot-v5",
    "depth": 10,
    "width": 10,
    "k_min": 3,
    "softmax_temperature": 1.0,
    "suggestions": "plan",
    "frontier": "previous",
    "feedback": "chosen",
    "verification": True,
    "verifiers": "or",
    "nli": "microsoft/deberta-large-mnli",
    "strategy": "adaptive",
    "revisions": 4,
    "max_revisions": 200,
    "reward_metrics": "raw",
    "threshold": 0.77,
    "beta": 0.2,
    "expected_depth": 3,
    "alpha": 1.4,
    "bonus_scale": 1.0,
    "kg_priors": True,
    "diversity": True,
    "candidate_plans": "revised",
    "reward": "both",
    "judge": False,
    "conclude": False,
    "attributes": False,
    "cross_mediators": False,
    "pair_inverses": False,
    "hide_noise": False,
    "outright_answers": False,
    "exact_match": False,
    "repeat_revisions": True,
    "allow_parametric": "always",
    "min_confidence": 0.0,
    "budget": dict.fromkeys(Budget.model_fields),
}
"""What the paper does and sets (§3.2 to §3.4, appendices A.2, B.1 to B.3, E.6 and G); it has no budget.

It has no numbers for ``depth``, ``width``, ``k_min`` and ``revisions`` (T of Table 13): these are the public
code's. Neither bounds the revisions of a question: ``max_revisions`` is one that is never reached.
"""


class VoG(ExemplarContext, FilterContext, OfferContext, OutrightContext):
    """The options of VoG; numbers are the paper's for WebQSP (appendix B.3), or its page says whose.

    Where a default is another way than the paper's, its description names the paper's value and the section.
    """

    method: ClassVar[str] = "vog"

    PRESETS: ClassVar[Presets] = {
        **dict.fromkeys(("paper", "paper-webqsp", "paper-webquestions"), PAPER),
        "paper-cwq": {**PAPER, "threshold": 0.73, "beta": 0.4, "expected_depth": 5},
    }

    depth: int = Field(default=10, ge=1, le=20, description="search steps of a plan at most")
    width: int = Field(
        default=10, ge=1, le=50, description="candidates that a filter keeps at most (equation 8: k_max)"
    )
    k_min: int = Field(
        default=3, ge=1, le=50, description="candidates that a filter keeps at least (equation 8)"
    )
    softmax_temperature: float = Field(
        default=0.05,
        gt=0,
        le=100,
        description="softmax of the entropy filter (equation 6); the paper has none, which is 1",
    )
    suggestions: Literal["both", "plan"] = Field(
        default="both",
        description="what candidates are like: the question or the plan's step, each topic's best by either, "
        "and entities that are not shown may be kept; or, as in the paper (A.2), the step alone, all topics "
        "together, ranked by weights alone, with k_max as a cap on all that is kept",
    )
    frontier: Literal["wide", "previous"] = Field(
        default="wide",
        description="where a step begins: also at known entities that it names, and nodes without a name are "
        "crossed in it; or, as in the paper (3.2), at those of the step before, for one hop, in both "
        "directions of a relation",
    )
    feedback: Literal["reached", "chosen"] = Field(
        default="reached",
        description="what a step observes (O_t): all that it reached, and the verifier sees that of every "
        "step; or, as in the paper (3.2, equation 1), chosen entities, and the verifier sees the step's own",
    )
    verification: bool = Field(
        default=True, description="retrieve, verify, revise; if not, the first plan is the answer (Table 2)"
    )
    verifiers: Literal["or", "and", "model", "nli"] = Field(
        default="or", description="who calls for a revision (equation 1): either, both, or one alone"
    )
    nli: str | None = Field(
        default=None,
        description="a sentence-transformers cross-encoder for inference, name or folder; null for a rule: "
        "same head and relation, other tails",
    )
    strategy: Literal["adaptive", "local", "lookahead", "global", "mixed"] = Field(
        default="adaptive",
        description="what a revision is shown: chosen by the bandit, or fixed (Table 2; mixed: Figure 4)",
    )
    revisions: int = Field(default=4, ge=0, le=20, description="revisions of one step at most")
    max_revisions: int = Field(default=20, ge=0, le=200, description="revisions of one question at most")
    reward_metrics: RewardMetrics = Field(
        default="scaled",
        description="of the task reward: cosines scaled to 0 to 1, and a penalty for a plan without answers; "
        "or, as in the paper (B.2), cosines as they are, and a penalty for a step that predicts nothing",
    )
    threshold: float | None = Field(
        default=None,
        ge=0,
        le=UNREACHABLE_REWARD,
        validate_default=True,
        description="reward from which a revision is taken up (0.77, CWQ 0.73, with the paper's encoder); "
        "above 1: none before the last; null: the encoder's, see kgqa calibrate",
    )
    beta: float = Field(
        default=0.2, ge=0, le=1, description="most that consensus counts (equation 4); CWQ 0.4"
    )
    expected_depth: int = Field(default=3, ge=1, le=20, description="T_d of equation 10; CWQ 5")
    alpha: float = Field(
        default=1.4, ge=0, le=100, description="what exploration counts (equation 2; Table 10: 1.12, 1.68)"
    )
    bonus_scale: float = Field(
        default=1.0,
        ge=0,
        le=100,
        description="factor of the weights of all bonuses (equations 9 to 11; Table 9: 0.8, 1.2)",
    )
    kg_priors: bool = Field(default=True, description="bonuses by entropy and graph (equations 9 and 10)")
    diversity: bool = Field(default=True, description="penalty for the same arm again (equation 11)")
    candidate_plans: Literal["all", "revised"] = Field(
        default="all",
        description="plans whose answers are compared (P): all, with their entropy at each revision; or, as "
        "in the paper (Algorithm 2), without the first, with their entropy once a step",
    )
    reward: Literal["both", "task", "confidence"] = Field(
        default="both", description="what a revision is rewarded for, while searching (Table 11: afterwards)"
    )
    ablate_reward: Literal["quality", "coherence", "efficiency", "alignment", "validation"] | None = Field(
        default=None,
        description="a part of the task reward to leave out, while searching (Table 12: afterwards)",
    )
    judge: bool = Field(
        default=True,
        description="answer yes or no by the evidence for and against; if not, as in the paper, by the plan",
    )
    conclude: bool = Field(
        default=True,
        description="ask at the end which of what the steps have led to is the answer, in place of choosing "
        "among it after each step and checking the last; if not, as in the paper, the plan's answers are",
    )
    exact_match: bool = Field(
        default=True,
        description="a step that has found the names that it predicted, and no others, needs no check; with "
        "conclude one that has found any of them",
    )
    repeat_revisions: bool = Field(
        default=False,
        description="revise by the same arm, and try a step again by the same search, where nothing new was "
        "observed since, as the paper does (Algorithm 2)",
    )
    guide_decomposition: bool = Field(
        default=False, description="show the plan solved questions like this one (EGP §4.2)"
    )

    @field_validator("threshold")
    @classmethod
    def _is_known(cls, value: float | None, given: ValidationInfo) -> float | None:
        """Refuse an encoder whose rewards are not calibrated."""
        if value is None and given.data.get("verification"):
            default_threshold(given.data.get("encoder"), given.data.get("reward_metrics", "scaled"))
        return value


NOTHING_LEADS_ON: dict[Decision, Node] = {
    "filter": filter_entities,
    "refine": choose_arm,
    "backtrack": advance,
}
"""After each step of a retrieval: what was reached before counts, else a revision, else the next step."""

EDGES: Edges = {
    link: {"forward": recall_exemplars},
    recall_exemplars: {"forward": plan_steps},
    plan_steps: {"forward": retrieve_relations},
    retrieve_relations: {"forward": rerank, **NOTHING_LEADS_ON},
    rerank: {"forward": prune},
    prune: {"forward": expand, **NOTHING_LEADS_ON},
    expand: {"forward": retrieve_relations, **NOTHING_LEADS_ON},
    filter_entities: {"forward": verify},
    verify: {"forward": advance, "refine": choose_arm},
    choose_arm: {"refine": revise, "forward": look_ahead},
    look_ahead: {"forward": revise},
    revise: {"forward": appraise},
    appraise: {"refine": choose_arm, "forward": advance, "backtrack": retrieve_relations},
    advance: {"forward": retrieve_relations, "filter": conclude, "refine": look_again, "infer": judge},
    conclude: {"refine": choose_arm, "forward": look_again},
    look_again: {"refine": retrieve_relations},
    judge: answer,
}

graph = build_graph(VoG, EDGES, VoGState)
