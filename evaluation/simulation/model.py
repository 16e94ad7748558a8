"""The simulated model of one question, and which handler answers which prompt."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from kgqa.evaluation.question import Question
from kgqa.evaluation.simulation.answer_replies import (
    answer_briefly,
    answer_directly,
    filter_candidates,
    infer_from_evidence,
    judge_claim,
    reason_aloud,
)
from kgqa.evaluation.simulation.case import Case, Draws
from kgqa.evaluation.simulation.chain_replies import check_sufficiency, prune_relations, verify_chain
from kgqa.evaluation.simulation.chat import next_turn
from kgqa.evaluation.simulation.error_rates import ErrorRates
from kgqa.evaluation.simulation.frontier_replies import (
    assess_found,
    pick_relations,
    reflect,
    score_entities,
    score_relations,
)
from kgqa.evaluation.simulation.guidance_replies import adapt_blueprint, decompose, diagnose
from kgqa.evaluation.simulation.oracle import Oracle
from kgqa.evaluation.simulation.plan_replies import (
    plan_steps,
    revise_plan,
    select_entities,
    select_relations,
    verify_step,
)
from kgqa.kg.graph import KnowledgeGraph
from kgqa.models.errors import MalformedReply, UnknownModel
from kgqa.models.interface import Completion, Turn, Usage
from kgqa.models.parsing import check_reply
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

Handler = Callable[[Any, Case], Awaitable[Reply]]
"""Gives the reply that is right, or one that is wrong where its draw says so."""

HANDLERS: dict[type[Prompt[Any]], Handler] = {
    PruneRelations: prune_relations,
    VerifyChain: verify_chain,
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
    ReviseLocally: revise_plan,
    ReviseAhead: revise_plan,
    ReviseGlobally: revise_plan,
    JudgeClaim: judge_claim,
    PickRelations: pick_relations,
    AssessFound: assess_found,
    Reflect: reflect,
    ScoreRelations: score_relations,
    ScoreEntities: score_entities,
    AnswerBriefly: answer_briefly,
    ReasonAloud: reason_aloud,
}


CHARS_PER_TOKEN = 4
"""Characters that are taken for one token."""


class SimulatedModel:
    """Answers the prompts of one question from its gold; see `Errors`.

    The same prompt has the same reply, whatever came before; another sample of it may be malformed
    where this one is not. A step costs one call, and as many tokens as the text of its prompt and
    reply has characters, divided by `TOKEN`: an estimate, good for comparing methods with each
    other. A malformed reply costs two calls: it was asked for again.

    Args:
        question: What is asked, and its gold.
        graph: Where it is asked; the model looks up there what else is right, uncounted.
        errors: How often it errs.
    """

    def __init__(self, question: Question, graph: KnowledgeGraph, errors: ErrorRates) -> None:
        self._id = question.id
        self._errors = errors
        self._oracle = Oracle(question, graph)

    @property
    def name(self) -> str:
        """The spec that says how often it errs."""
        return str(self._errors)

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Answer one prompt.

        Raises:
            UnknownModel: nobody has said how a simulated model answers this kind of prompt.
            MalformedReply: as often as ``format`` says.
            KGError: the graph cannot be reached.
        """
        handler = HANDLERS.get(type(prompt))
        if handler is None:
            known = ", ".join(sorted(kind.name for kind in HANDLERS))
            raise UnknownModel(f"no simulated model answers {prompt.name} prompts; it answers {known}")
        text = prompt.case()
        sample = getattr(prompt, "sample", 0)
        step = f"{prompt.name}\n{text}" + (f"\n{sample}" if sample else "")
        case = Case(self._oracle, self._errors, Draws(self._errors.seed, self._id, step))
        reply = check_reply(await handler(prompt, case), prompt)
        if self._errors.latency:
            await asyncio.sleep(self._errors.latency)
        asked = math.ceil((len(prompt.instructions) + len(text)) / CHARS_PER_TOKEN)
        said = math.ceil(len(reply.model_dump_json()) / CHARS_PER_TOKEN)
        if case.happens("format"):
            raise MalformedReply(
                f"{prompt.name}: the reply is malformed, as simulated", self._cost(asked, said, 2)
            )
        return Completion(reply, self._cost(asked, said))

    async def turn(
        self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = (), **options: Any
    ) -> Turn:
        """Return the next message of a conversation; see `chat`."""
        return await next_turn(messages, tools, self._oracle, self._errors, CHARS_PER_TOKEN, self._id)

    def _cost(self, asked: int, said: int, turns: int = 1) -> Usage:
        """Return the cost of so many turns; from the second on, what was said is shown again."""
        again = said * turns * (turns - 1) // 2
        return Usage(
            llm_calls=turns,
            input_tokens=asked * turns + again,
            output_tokens=said * turns,
            seconds=self._errors.latency * turns,
        )
