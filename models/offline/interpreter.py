"""Interprets a question: from the question and its topic entities to the chains that answer it."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term, local_name
from kgqa.models.offline.answer_selection import select_answers, select_by_conditions
from kgqa.models.offline.candidate_chains import MediatorDetector, TrainingAdvice
from kgqa.models.offline.chain_ranking import ChainCombination, RatedChain, combine_chains, score_chains
from kgqa.models.offline.chain_search import HopPolicy, search_chains
from kgqa.models.offline.inverse_relations import InverseRelations, find_inverse_relations
from kgqa.models.offline.question_intent import find_claimed_chains, intent_by_words
from kgqa.models.offline.question_words import Encode
from kgqa.models.offline.wording_similarity import QuestionWording
from kgqa.priors.exemplars import ExemplarLibrary
from kgqa.priors.masking import mask_topic
from kgqa.priors.slots import Slot

NEAREST_QUESTIONS = 60
"""Training questions that are asked for advice."""

_MAX_INTERPRETATIONS = 256  # that are kept
_MIN_INTENT_SHARE = 0.5  # from which the intent of training questions is taken over
_MIN_AGREEING_INTENT_SHARE = 0.1  # the same where the words of the question agree
_MAX_ALTERNATIVES = 8  # chains from each topic that are kept beside the chosen one


@dataclass(frozen=True)
class Interpretation:
    """The chains that lead to the answers, and what is asked of their ends.

    Attributes:
        chains: the chosen chain from each topic entity that plays a part, in the order of the topics.
        ends: the named ends of each chain.
        alternatives: further chains from these topics that lead somewhere, the likeliest first.
        intent: what is asked of the ends.
        answers: the ends that are answers; None where all of them are.
        confidence: how sure this is, from 0 to 1.
        source: in a few words, what it is taken from.
    """

    chains: Mapping[Entity, Chain] = field(default_factory=dict)
    ends: Mapping[Entity, Page[Candidate]] = field(default_factory=dict)
    alternatives: Mapping[Entity, Sequence[Chain]] = field(default_factory=dict)
    intent: QuestionIntent = field(default_factory=QuestionIntent)
    answers: frozenset[Term] | None = None
    confidence: float = 0.0
    source: str = "nothing that leads anywhere is like the question"

    def remaining_hops(self, chain: Chain) -> tuple[Hop, ...] | None:
        """Return the hops that are left to go after a chain; None where no known chain begins with it.

        The chosen chain comes first, so that a search comes to others only where that one was turned down.
        """
        known = (known.hops for known in self.chains_from(chain.topic))
        return next((hops[chain.depth :] for hops in known if hops[: chain.depth] == chain.hops), None)

    def next_hops(self, chain: Chain) -> list[Hop]:
        """Return the hops by which known chains go on from a chain, that of the likeliest first."""
        longer = (known.hops for known in self.chains_from(chain.topic) if known.depth > chain.depth)
        return list(dict.fromkeys(hops[chain.depth] for hops in longer if hops[: chain.depth] == chain.hops))

    def starts_with(self, chain: Chain) -> bool:
        """Return whether the chosen chain begins with a chain."""
        chosen = self.chains.get(chain.topic)
        return chosen is not None and chosen.hops[: chain.depth] == chain.hops

    def is_chosen(self, chain: Chain) -> bool:
        """Return whether a chain is the chosen one, from its start to its end."""
        chosen = self.chains.get(chain.topic)
        return chosen is not None and chosen.hops == chain.hops

    def are_ends(self, topic: Entity, candidates: Sequence[Candidate]) -> bool:
        """Return whether candidates are all that the chosen chain from a topic leads to, and nothing else."""
        known = self.ends.get(topic)
        ends = {end.term for end in candidates}
        return known is not None and not known.truncated and ends == {end.term for end in known.items}

    def answer_numbers(self, chain: Chain, candidates: Sequence[Candidate]) -> list[int]:
        """Number, from 1, the ends of a chain that are answers."""
        answers = self.answers if self.is_chosen(chain) else None
        return [at for at, end in enumerate(candidates, 1) if answers is None or end.term in answers]

    def answer_terms(self) -> list[Term]:
        """Return the ends of the chosen chains that answer the question, in order of appearance."""
        fresh = [[end for end in page if not end.returning] or list(page) for page in self.ends.values()]
        terms = dict.fromkeys(end.term for page in fresh for end in page)
        return [term for term in terms if self.answers is None or term in self.answers]

    def chains_from(self, topic: Entity) -> list[Chain]:
        """Return the known chains from a topic, the chosen one first; none from one that plays no part."""
        chosen = self.chains.get(topic)
        return [chosen, *self.alternatives.get(topic, ())] if chosen is not None else []

    @property
    def reason(self) -> str:
        """Say in one line what it is taken from and how sure it is."""
        return f"{self.source} (confidence {self.confidence:.2f})"


class QuestionInterpreter:
    """Finds out what questions mean on one graph, each once.

    Args:
        graph: where the answers are.
        encode: a sentence encoder; called outside of the event loop.
        exemplars: what training questions teach, if there are any.
        without: the parts to leave out; see `kgqa.models.offline`.

    Attributes:
        mediators: tells which nodes between have names.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        encode: Encode,
        exemplars: ExemplarLibrary | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        self.graph = graph
        self.encode = encode
        self.mediators = MediatorDetector(graph)
        self._exemplars = exemplars
        self._without = without
        self._inverses: InverseRelations | None = None
        self._known: dict[tuple[str, tuple[Entity, ...]], Interpretation] = {}

    async def interpret(
        self, question: str, topics: tuple[Entity, ...], seen: Iterable[Entity] = ()
    ) -> Interpretation:
        """Return the interpretation of a question; without ``topics``, with those that were ``seen``.

        Raises:
            KGError: if the graph cannot be reached.
        """
        key = question, topics or tuple(dict.fromkeys(seen))
        known = self._known.get(key)
        if known is None:
            known = await self._interpret(*key)
            kept = list(self._known.items())[-_MAX_INTERPRETATIONS + 1 :]
            self._known = {**dict(kept), key: known}
        return known

    async def inverse_relations(self) -> InverseRelations:
        """Return which relations of the graph are each other's inverse; none where nothing tells.

        Raises:
            KGError: if the graph cannot be reached.
        """
        if self._inverses is None:
            self._inverses = await find_inverse_relations(self.graph)
        return self._inverses or InverseRelations({})

    async def _interpret(self, question: str, topics: tuple[Entity, ...]) -> Interpretation:
        # for each topic the question with [ENT] for it, [OTHER] for the others
        masked = {topic: _mask_question(question, topic, topics) for topic in topics}
        advice = {topic: await asyncio.to_thread(self._advice, text) for topic, text in masked.items()}
        rated = {topic: await self._rate(topic, text, advice[topic]) for topic, text in masked.items()}
        intent = await asyncio.to_thread(self._intent, list(masked.values()))
        claimed = find_claimed_chains(question, rated)
        intent = QuestionIntent(union=True) if claimed else intent
        rated = claimed or {topic: _drop_topic_chains(found, topics) for topic, found in rated.items()}
        if intent.kind in {"largest", "smallest"}:
            rated = {topic: _prefer_entities(found) for topic, found in rated.items()}
        chosen = await asyncio.to_thread(combine_chains, rated, apart=intent.union)
        if chosen is None:
            return Interpretation()
        answers = await self._select_answers(masked, intent, chosen, advice)
        candidates = chosen.chains
        if answers is not None and intent.union:  # of a comparison, leave out the topics that lost it
            candidates = {topic: each for topic, each in candidates.items() if answers & each.terms}
        alone = len(candidates) == 1 and answers is None
        return Interpretation(
            chains={topic: each.chain for topic, each in candidates.items()},
            ends={
                topic: Page((*each.ends, *each.beside) if alone else each.ends, each.truncated)
                for topic, each in candidates.items()
            },
            alternatives={topic: _alternatives(rated[topic]) for topic in candidates},
            intent=intent,
            answers=answers,
            confidence=chosen.confidence,
            source=_source(advice, chosen),
        )

    def _advice(self, masked: str) -> TrainingAdvice:
        if self._exemplars is None:
            return TrainingAdvice((), ())
        nearest = [] if "nearest" in self._without else self._exemplars.nearest(masked, NEAREST_QUESTIONS)
        hops = () if "hops" in self._without else self._exemplars.hops(masked)
        return TrainingAdvice(nearest, hops)

    async def _rate(self, topic: Entity, masked: str, given: TrainingAdvice) -> list[RatedChain]:
        """Return the candidate chains from a topic, each with the logarithm of its share."""
        inverses = await self.inverse_relations()
        advice = inverses.normalise_advice(given)
        wording = await asyncio.to_thread(QuestionWording, masked, self.encode)
        policy = HopPolicy(advice, wording, inverses.slot, self._without)
        found = await search_chains(topic, policy, self.graph)
        merged = await self.mediators.count_named(inverses.merge_chains(found, given.hops))

        def rate() -> list[RatedChain]:
            said = wording.chains([each.chain.hops for each in merged])
            logits = score_chains(masked, merged, advice, said, self.encode, self._without, inverses)
            shares = logits - np.logaddexp.reduce(logits)
            return [RatedChain(each, float(share)) for each, share in zip(merged, shares, strict=True)]

        return await asyncio.to_thread(rate) if merged else []

    def _intent(self, masked: Sequence[str]) -> QuestionIntent:
        """Return what is asked of the ends: by its words, and by training questions of such words."""
        if "asking" in self._without or not masked:
            return QuestionIntent()
        by_words = intent_by_words(masked[0])
        if self._exemplars is None:
            return by_words
        learned = [pair for text in masked for pair in self._exemplars.asked(text).items()]
        if by_words.kind != "all":
            learned = [(intent, share) for intent, share in learned if intent.kind == by_words.kind]
        best, share = max(learned, key=lambda pair: pair[1], default=(by_words, 0.0))
        if share < (_MIN_INTENT_SHARE if by_words.kind == "all" else _MIN_AGREEING_INTENT_SHARE):
            return by_words
        return replace(best, union=best.union or by_words.union)

    async def _select_answers(
        self,
        masked: Mapping[Entity, str],
        intent: QuestionIntent,
        chosen: ChainCombination,
        advice: Mapping[Entity, TrainingAdvice],
    ) -> frozenset[Term] | None:
        """Return the ends that are answers; None: all of them, also where it takes too long to tell."""
        if any(each.truncated for each in chosen.chains.values()):
            return None
        question = next(iter(masked.values()))
        try:
            answers = await select_answers(intent, chosen.chains, question, self.graph, self.encode)
            if answers is None and len(chosen.chains) == 1 and "conditions" not in self._without:
                ((topic, candidate),) = chosen.chains.items()
                answers = await select_by_conditions(masked[topic], candidate, advice[topic], self.graph)
        except (KGTimeout, KGRejected):
            return None
        return answers


def _mask_question(question: str, topic: Entity, topics: Sequence[Entity]) -> str:
    return mask_topic(question, topic.name, [other.name for other in topics if other != topic and other.name])


def _alternatives(found: Sequence[RatedChain]) -> list[Chain]:
    best = sorted(found, key=lambda each: -each.share)
    return [each.candidate.chain for each in best[:_MAX_ALTERNATIVES]]


def _drop_topic_chains(found: Sequence[RatedChain], topics: Sequence[Entity]) -> list[RatedChain]:
    """Leave out chains that lead to nothing but other topics: what the question names is not its answer."""
    return [each for each in found if each.ends - set(topics) or each.candidate.chain.topic in each.ends]


def _prefer_entities(found: Sequence[RatedChain]) -> list[RatedChain]:
    """Leave out chains to values where there are others: of an extreme the value is not the answer."""
    return [each for each in found if not all(isinstance(end, Literal) for end in each.ends)] or list(found)


def _source(advice: Mapping[Entity, TrainingAdvice], chosen: ChainCombination) -> str:
    """Name the nearest training question that has the chosen chain, or else what it was chosen by."""
    for topic, candidate in chosen.chains.items():
        slots = tuple(Slot(local_name(hop.relation), hop.forward) for hop in candidate.chain.hops)
        for near in advice[topic].nearest:
            if near.exemplar.chain == slots:
                return f"like {near.exemplar.question!r}"
    learned = any(advice[topic].hops for topic in chosen.chains)
    return "put together from training questions and words" if learned else "nearest in words"
