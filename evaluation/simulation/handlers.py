"""Who answers which prompt; a new kind of prompt is one more line."""

from collections.abc import Awaitable, Callable
from typing import Any

from kgqa.evaluation.simulation.assess import assess_found
from kgqa.evaluation.simulation.briefly import answer_briefly, reason_aloud
from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.claim import judge_claim
from kgqa.evaluation.simulation.decompose import adapt_blueprint, decompose
from kgqa.evaluation.simulation.diagnose import diagnose
from kgqa.evaluation.simulation.direct import answer_directly
from kgqa.evaluation.simulation.filter import filter_candidates, infer_from_evidence
from kgqa.evaluation.simulation.pick_relations import pick_relations
from kgqa.evaluation.simulation.plan_steps import plan_steps
from kgqa.evaluation.simulation.prune import prune
from kgqa.evaluation.simulation.reflect import reflect
from kgqa.evaluation.simulation.revise import revise
from kgqa.evaluation.simulation.score import score_entities, score_relations
from kgqa.evaluation.simulation.select import select_entities, select_relations
from kgqa.evaluation.simulation.sufficiency import check_sufficiency
from kgqa.evaluation.simulation.verify import verify
from kgqa.evaluation.simulation.verify_step import verify_step
from kgqa.prompts.adapt_blueprint import AdaptBlueprint
from kgqa.prompts.answer_briefly import AnswerBriefly
from kgqa.prompts.answer_directly import AnswerDirectly
from kgqa.prompts.assess_found import AssessFound
from kgqa.prompts.base import Prompt, Reply
from kgqa.prompts.check_sufficiency import CheckSufficiency
from kgqa.prompts.decompose import Decompose
from kgqa.prompts.diagnose import Diagnose
from kgqa.prompts.filter_candidates import FilterCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence
from kgqa.prompts.judge_claim import JudgeClaim
from kgqa.prompts.pick_relations import PickRelations
from kgqa.prompts.plan_steps import PlanSteps
from kgqa.prompts.prune_relations import PruneRelations
from kgqa.prompts.reason_aloud import ReasonAloud
from kgqa.prompts.reflect import Reflect
from kgqa.prompts.revise_plan import ReviseAhead, ReviseGlobally, ReviseLocally
from kgqa.prompts.score_entities import ScoreEntities
from kgqa.prompts.score_relations import ScoreRelations
from kgqa.prompts.select_entities import SelectEntities
from kgqa.prompts.select_relations import SelectRelations
from kgqa.prompts.verify_chain import VerifyChain
from kgqa.prompts.verify_step import VerifyStep

Handler = Callable[[Any, Case], Awaitable[Reply]]
"""Gives the reply that is right, or one that is wrong where its draw says so."""

HANDLERS: dict[type[Prompt[Any]], Handler] = {
    PruneRelations: prune,
    VerifyChain: verify,
    FilterCandidates: filter_candidates,
    AnswerDirectly: answer_directly,
    Decompose: decompose,
    AdaptBlueprint: adapt_blueprint,
    CheckSufficiency: check_sufficiency,
    Diagnose: diagnose,
    InferFromEvidence: infer_from_evidence,
    PlanSteps: plan_steps,
    SelectRelations: select_relations,
    SelectEntities: select_entities,
    VerifyStep: verify_step,
    ReviseLocally: revise,
    ReviseAhead: revise,
    ReviseGlobally: revise,
    JudgeClaim: judge_claim,
    PickRelations: pick_relations,
    AssessFound: assess_found,
    Reflect: reflect,
    ScoreRelations: score_relations,
    ScoreEntities: score_entities,
    AnswerBriefly: answer_briefly,
    ReasonAloud: reason_aloud,
}
