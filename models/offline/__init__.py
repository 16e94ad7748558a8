"""A model that is no language model: it answers prompts with a sentence encoder and the graph.

It interprets each question once (`QuestionInterpreter`): a relation chain from each topic entity,
and what is asked of their ends. Every prompt is answered from that interpretation. It goes by
training questions that are alike, where there are any (`kgqa.priors.exemplars`), by the words
of relations, and by what the graph leads to. It knows no facts. What it looks up are queries of the
model (``model_queries``), few and counted apart from those of the method.

```
question ── masked for each topic ──▶ training advice ─┐
                  │                                    ▼
                  └──▶ wording similarity ──▶ chain search ──▶ chain ranking ──▶ answer selection
```
"""

from collections.abc import Iterator
from typing import Any

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.meter import metered
from kgqa.kg.terms import Chain, Entity, Path
from kgqa.models.errors import ModelUnavailable, UnknownModel
from kgqa.models.interface import Assessment, Completion, Usage, model_queries_spent
from kgqa.models.offline import (
    chain_replies,
    claim_replies,
    draft_replies,
    frontier_replies,
    plan_replies,
    query_replies,
    rewrite_replies,
)
from kgqa.models.offline.draft_replies import NO_FACTS
from kgqa.models.offline.interpretation import Interpretation
from kgqa.models.offline.interpreter import QuestionInterpreter
from kgqa.models.offline.rewrite_replies import MAX_REWRITE_QUERIES
from kgqa.priors.exemplars import ExemplarLibrary
from kgqa.prompts.answer_from_memory import AnswerBriefly, ReasonAloud
from kgqa.prompts.base import Prompt, R
from kgqa.prompts.judge_claim import is_yes_no_question
from kgqa.prompts.rewrite_question import RewriteQuestion
from kgqa.prompts.target import find_reply, replies_in
from kgqa.retrieval.confidence import SURE_CONFIDENCE
from kgqa.retrieval.lookups import MAX_QUERIES
from kgqa.retrieval.wording import Encode

__all__ = ["PARTS", "Encode", "OfflineModel", "parse_ablation"]

PARTS = {
    "nearest": "the nearest training questions",
    "hops": "the hop model that is learned from training questions",
    "words": "the similarity of the words of a chain and the question",
    "kinds": "the kind of the ends, and where the graph leads",
    "asking": "counts, superlatives and comparisons",
    "conditions": "what else the question says of the answer: names, bounds",
}
"""Each part that a spec may leave out, and what it is."""

CONFIDENCE_DECIMALS = 3

_PREFIX = "offline:without="
_BY_QUESTION = replies_in(claim_replies, draft_replies, rewrite_replies)
_REPLIES = _BY_QUESTION | replies_in(chain_replies, frontier_replies, plan_replies, query_replies)


class OfflineModel:
    """Answers the prompts of the methods from an interpretation of the question.

    Args:
        graph: where the answers are; without one it answers no prompt.
        encode: a sentence encoder; called outside of the event loop.
        exemplars: what training questions teach, if there are any.
        name: the spec, which may leave parts out: ``offline:without=nearest+hops``.

    Raises:
        UnknownModel: if the spec names a part that there is not.
    """

    writes_sparql = True

    def __init__(
        self,
        graph: KnowledgeGraph | None,
        encode: Encode,
        exemplars: ExemplarLibrary | None = None,
        name: str = "offline",
    ) -> None:
        self.name = name
        without = parse_ablation(name)
        self._interpreter: QuestionInterpreter | None = None
        if graph is not None:
            self._interpreter = QuestionInterpreter(graph, encode, exemplars, without)

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Answer a prompt; the usage is the queries that it has made, at most `MAX_QUERIES` a question.

        Raises:
            ModelUnavailable: for a prompt that needs a language model, as one that asks for memory alone.
            KGError: if the graph cannot be reached.
        """
        if self._interpreter is None or isinstance(prompt, AnswerBriefly | ReasonAloud):
            raise ModelUnavailable(f"{NO_FACTS}; give a language model, as provider:name")
        most = MAX_REWRITE_QUERIES if isinstance(prompt, RewriteQuestion) else MAX_QUERIES
        with metered(most - model_queries_spent.get()) as meter:
            reply = await self._reply(prompt, self._interpreter)
        return Completion(reply, Usage(model_queries=meter.queries))

    async def _reply(self, prompt: Any, interpreter: QuestionInterpreter) -> Any:
        """Reply by the interpretation of the question, where the reply takes one."""
        reply_to = find_reply(prompt, _REPLIES)
        if reply_to is None:
            raise ModelUnavailable(f"the offline model cannot answer {prompt.name}; give a language model")
        if reply_to in _BY_QUESTION.values():
            return await reply_to(prompt, interpreter)
        is_read = hasattr(prompt, "topics")
        if is_read:
            topics = prompt.topics or tuple(dict.fromkeys(_topics_shown(prompt)))
            known = await interpreter.interpret(prompt.question, topics)
        else:
            known = Interpretation(interpreter.graph, interpreter.encode)
        reply = await reply_to(prompt, known)
        unsaid = is_read and getattr(reply, "rationale", None) == ""
        return reply.model_copy(update={"rationale": known.reason}) if unsaid else reply

    async def assess(self, question: str, topics: tuple[Entity, ...]) -> Assessment:
        """Return how likely the answer is right that the interpretation of a question leads to.

        Raises:
            KGError: if the graph cannot be reached.
        """
        if self._interpreter is None:
            return Assessment(None, None, Usage())
        if is_yes_no_question(question):  # and the facts have said neither
            return Assessment(0.0, None, Usage())
        with metered(MAX_QUERIES - model_queries_spent.get()) as meter:
            known = await self._interpreter.interpret(question, topics)
        usage = Usage(model_queries=meter.queries)
        if (reading := known.reading) is None:
            return Assessment(None, None, usage)
        confidence = round(reading.confidence, CONFIDENCE_DECIMALS)
        sure = known.is_of_members or confidence >= SURE_CONFIDENCE
        readings = [
            each._replace(confidence=round(each.confidence, CONFIDENCE_DECIMALS)) for each in known.readings
        ]
        return Assessment(confidence, reading.missing, usage, sure, known.doubt, readings)


def _topics_shown(prompt: Prompt[Any]) -> Iterator[Entity]:
    """Yield the topics of the chains that a prompt shows."""
    for name in prompt.__dataclass_fields__:
        shown = getattr(prompt, name)
        for each in shown if isinstance(shown, tuple) else (shown,):
            chain = getattr(each, "chain", each)
            if isinstance(chain, Chain | Path):
                yield chain.topic


def parse_ablation(spec: str) -> frozenset[str]:
    """Read which parts a spec leaves out: ``offline``, or ``offline:without=nearest+hops``.

    Raises:
        UnknownModel: in one line, for any other spec.
    """
    if spec == "offline":
        return frozenset()
    named = spec.removeprefix(_PREFIX).split("+")
    if not spec.startswith(_PREFIX) or not set(named) <= PARTS.keys():
        raise UnknownModel(
            f"{spec!r} names no model; write offline, or offline:without= and parts joined by +: "
            + ", ".join(PARTS)
        )
    return frozenset(named)
