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
from kgqa.models.offline.assessing import assess
from kgqa.models.offline.believing import Believer
from kgqa.models.offline.claims import judge_claim
from kgqa.models.offline.exploring import pick_relations, reflect, score_relations
from kgqa.models.offline.following import diagnose, prune
from kgqa.models.offline.judging import check_sufficiency, filter_candidates, infer, verify
from kgqa.models.offline.memory import refuse
from kgqa.models.offline.parts import without
from kgqa.models.offline.planning import abstain, adapt, decompose
from kgqa.models.offline.scoring import score_entities
from kgqa.models.offline.selecting import select_entities, select_relations
from kgqa.models.offline.stepping import plan_steps, revise, verify_step
from kgqa.models.offline.wording import relation_texts as said_texts
from kgqa.models.offline.words import Encode, spoken
from kgqa.models.port import Answered
from kgqa.priors.exemplars import Exemplars
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

_ANSWERS: dict[type[Prompt[Any]], Callable[[Any, Believer], Awaitable[Reply]]] = {
    AdaptBlueprint: adapt,
    AnswerDirectly: abstain,
    AssessFound: assess,
    CheckSufficiency: check_sufficiency,
    Decompose: decompose,
    Diagnose: diagnose,
    FilterCandidates: filter_candidates,
    InferFromEvidence: infer,
    JudgeClaim: judge_claim,
    PickRelations: pick_relations,
    PlanSteps: plan_steps,
    PruneRelations: prune,
    Reflect: reflect,
    ReviseAhead: revise,
    ReviseGlobally: revise,
    ReviseLocally: revise,
    ScoreEntities: score_entities,
    ScoreRelations: score_relations,
    SelectEntities: select_entities,
    SelectRelations: select_relations,
    VerifyChain: verify,
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
        exemplars: Exemplars | None = None,
        name: str = "offline",
    ) -> None:
        self.name = name
        self._believer = Believer(graph, encode, exemplars, without(name))

    async def ask(self, prompt: Prompt[R]) -> Answered[R]:
        """Answer a prompt; the usage is empty.

        Raises:
            ModelUnavailable: for a prompt that needs a language model, as one that asks for memory alone.
            KGError: if the graph cannot be reached.
        """
        if isinstance(prompt, AnswerBriefly | ReasonAloud):
            refuse()
        if type(prompt) not in _ANSWERS:
            raise ModelUnavailable(f"the offline model cannot answer {prompt.name}; give a language model")
        reply = await _ANSWERS[type(prompt)](prompt, self._believer)
        return Answered(reply)  # type: ignore[arg-type]


def relation_texts(relation: str) -> tuple[str, ...]:
    """Give the texts by which the model compares a relation: what to teach an encoder beforehand."""
    return spoken(relation), *said_texts(relation)
