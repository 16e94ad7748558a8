"""A model that is no language model: it answers prompts with a sentence encoder and the graph.

For each question it makes up its mind once (`Believer`): a relation chain from each topic
entity, and what is asked of their ends. Every prompt is answered from that belief. It goes by
training questions that are alike, where there are any (`kgqa.priors.exemplars`), by the words
of relations, and by what the graph leads to. It knows no facts. Making up its mind costs no call of
a language model, and is not counted among the queries of a method either: only its time is.

```
question ── views of each topic ──▶ advice ─┐
                  │                         ▼
                  └──▶ wording ──▶ policy ──▶ ways ──▶ ranking ──▶ combining ──▶ asking ──▶ Belief
```
"""

from collections.abc import Awaitable, Callable
from typing import Any

from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.errors import ModelUnavailable
from kgqa.models.interface import Completion
from kgqa.models.offline.ablation import parse_ablation, refuse_memory
from kgqa.models.offline.chain_replies import (
    abstain,
    adapt_blueprint,
    check_sufficiency,
    decompose,
    diagnose_branch,
    filter_candidates,
    infer_answers,
    prune_relations,
    verify_chain,
)
from kgqa.models.offline.claim_replies import judge_claim
from kgqa.models.offline.frontier_replies import (
    assess_frontier,
    pick_relations,
    reflect,
    score_entities,
    score_relations,
)
from kgqa.models.offline.interpreter import QuestionInterpreter
from kgqa.models.offline.plan_replies import (
    plan_steps,
    revise_plan,
    select_entities,
    select_relations,
    verify_step,
)
from kgqa.models.offline.question_words import Encode, relation_phrase
from kgqa.models.offline.wording_similarity import comparison_texts as said_texts
from kgqa.priors.exemplars import ExemplarLibrary
from kgqa.prompts.adapt_blueprint import AdaptBlueprint
from kgqa.prompts.answer_briefly import AnswerBriefly
from kgqa.prompts.answer_directly import AnswerDirectly
from kgqa.prompts.assess_found import AssessFound
from kgqa.prompts.base import Prompt, R, Reply
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

__all__ = ["Encode", "OfflineModel", "relation_texts"]

_ANSWERS: dict[type[Prompt[Any]], Callable[[Any, QuestionInterpreter], Awaitable[Reply]]] = {
    AdaptBlueprint: adapt_blueprint,
    AnswerDirectly: abstain,
    AssessFound: assess_frontier,
    CheckSufficiency: check_sufficiency,
    Decompose: decompose,
    Diagnose: diagnose_branch,
    FilterCandidates: filter_candidates,
    InferFromEvidence: infer_answers,
    JudgeClaim: judge_claim,
    PickRelations: pick_relations,
    PlanSteps: plan_steps,
    PruneRelations: prune_relations,
    Reflect: reflect,
    ReviseAhead: revise_plan,
    ReviseGlobally: revise_plan,
    ReviseLocally: revise_plan,
    ScoreEntities: score_entities,
    ScoreRelations: score_relations,
    SelectEntities: select_entities,
    SelectRelations: select_relations,
    VerifyChain: verify_chain,
    VerifyStep: verify_step,
}


class OfflineModel:
    """Answers the prompts of the methods from a belief of its own.

    Args:
        graph: where the answers are.
        encode: a sentence encoder; called outside of the event loop.
        exemplars: what training questions teach, if there are any.
        name: the spec, which may leave parts out: ``offline:without=nearest+hops``.

    Raises:
        UnknownModel: if the spec names a part that there is not.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        encode: Encode,
        exemplars: ExemplarLibrary | None = None,
        name: str = "offline",
    ) -> None:
        self.name = name
        self._believer = QuestionInterpreter(graph, encode, exemplars, parse_ablation(name))

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Answer a prompt; the usage is empty.

        Raises:
            ModelUnavailable: for a prompt that needs a language model, as one that asks for memory alone.
            KGError: if the graph cannot be reached.
        """
        if isinstance(prompt, AnswerBriefly | ReasonAloud):
            refuse_memory()
        if type(prompt) not in _ANSWERS:
            raise ModelUnavailable(f"the offline model cannot answer {prompt.name}; give a language model")
        reply = await _ANSWERS[type(prompt)](prompt, self._believer)
        return Completion(reply)  # type: ignore[arg-type]


def relation_texts(relation: str) -> tuple[str, ...]:
    """Return the texts by which the model compares a relation: what to teach an encoder beforehand."""
    return relation_phrase(relation), *said_texts(relation)
