"""Interprets a question: from the question and its topic entities to the chains that answer it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import Chain, Entity, Hop, Literal, Term, local_name
from kgqa.models.offline.answer_selection import select_answers
from kgqa.models.offline.candidate_chains import CandidateChain, MediatorDetector, TrainingAdvice
from kgqa.models.offline.chain_ranking import ChainCombination, RatedChain, combine_chains, score_chains
from kgqa.models.offline.chain_search import HopPolicy, search_chains
from kgqa.models.offline.conditions import narrowed
from kgqa.models.offline.inverse_relations import InverseRelations, find_inverse_relations
from kgqa.models.offline.question_intent import by_words, find_claimed_chains
from kgqa.models.offline.question_words import Encode
from kgqa.models.offline.wording_similarity import QuestionWording
from kgqa.priors.blueprints import Slot
from kgqa.priors.exemplars import ExemplarLibrary, mask_topic


@dataclass(frozen=True)
class Interpretation:
    """The chains that lead to the answers, and what is asked of their ends.

    Attributes:
        chains: the chain from each topic entity that plays a part, in the order of the topics.
        ends: what of the ends of each chain has a name.
        others: further chains from these topics that lead somewhere, the likeliest first.
        asked: what is asked of the ends.
        answers: what of the ends is the answer; None where it is all of them.
        confidence: how sure this is, from 0 to 1.
        why: in a few words, what it is taken from.
    """

    chains: Mapping[Entity, Chain] = field(default_factory=dict)
    ends: Mapping[Entity, Page[Candidate]] = field(default_factory=dict)
    others: Mapping[Entity, Sequence[Chain]] = field(default_factory=dict)
    asked: QuestionIntent = field(default_factory=QuestionIntent)
    answers: frozenset[Term] | None = None
    confidence: float = 0.0
    why: str = "nothing that leads anywhere is like the question"

    def rest(self, chain: Chain) -> tuple[Hop, ...] | None:
        """Return the hops that are left to go after a chain; None where no way begins with it.

        The believed way comes first, so that a search comes to others only where that one was turned down.
        """
        ways = self._ways(chain.topic)
        return next((way[chain.depth :] for way in ways if way[: chain.depth] == chain.hops), None)

    def next_hops(self, chain: Chain) -> list[Hop]:
        """Return the hops by which ways go on from a chain, that of the likeliest way first."""
        ways = (way for way in self._ways(chain.topic) if len(way) > chain.depth)
        return list(dict.fromkeys(way[chain.depth] for way in ways if way[: chain.depth] == chain.hops))

    def begins_with(self, chain: Chain) -> bool:
        """Return whether the way that is believed in begins with a chain."""
        whole = self.chains.get(chain.topic)
        return whole is not None and whole.hops[: chain.depth] == chain.hops

    def is_believed(self, chain: Chain) -> bool:
        """Return whether a chain is the way that is believed in, from its start to its end."""
        whole = self.chains.get(chain.topic)
        return whole is not None and whole.hops == chain.hops

    def is_end(self, topic: Entity, candidates: Sequence[Candidate]) -> bool:
        """Return whether candidates are all that the believed way from a topic leads to, and nothing else."""
        known = self.ends.get(topic)
        ends = {end.term for end in candidates}
        return known is not None and not known.truncated and ends == {end.term for end in known.items}

    def right(self, chain: Chain, candidates: Sequence[Candidate]) -> list[int]:
        """Number, from 1, the ends of a chain that are answers."""
        every = self.answers is None or not self.is_believed(chain)
        return [at for at, end in enumerate(candidates, 1) if every or end.term in (self.answers or ())]

    def ways(self, topic: Entity) -> list[Chain]:
        """Return the ways from a topic, the believed one first; none from one that plays no part."""
        believed = self.chains.get(topic)
        return [believed, *self.others.get(topic, ())] if believed is not None else []

    def _ways(self, topic: Entity) -> list[tuple[Hop, ...]]:
        return [way.hops for way in self.ways(topic)]

    @property
    def reason(self) -> str:
        """Say in one line what is believed and how surely."""
        return f"{self.why} (confidence {self.confidence:.2f})"


NEAREST_QUESTIONS = 60
"""Training questions that are asked for advice."""

MIN_INTENT_SHARE = 0.5
"""Share from which what training questions ask of the ends is taken over."""

MIN_AGREEING_INTENT_SHARE = 0.1
"""The same, of those that ask for what the words of the question say."""

MAX_ALTERNATIVES = 8
"""Ways from each topic that are kept beside the believed one."""

MAX_INTERPRETATIONS = 256
"""Questions whose beliefs are remembered."""


class QuestionInterpreter:
    """Finds out what questions mean on one graph, each once.

    Attributes:
        graph: where the answers are.
        encode: a sentence encoder; called outside of the event loop.
        between: which nodes between have names.

    Args:
        graph: see above.
        encode: see above.
        exemplars: what training questions teach, if there are any.
        without: the parts to leave out; see `kgqa.models.offline`.
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
        self._exemplars = exemplars
        self._without = without
        self.between = MediatorDetector(graph)
        self._mirrors: InverseRelations | None = None
        self._beliefs: dict[tuple[str, tuple[Entity, ...]], Interpretation] = {}

    async def believe(self, question: str, topics: tuple[Entity, ...]) -> Interpretation:
        """Return the belief about a question.

        Raises:
            KGError: if the graph cannot be reached.
        """
        key = question, topics
        if key not in self._beliefs:
            belief = await self._made(question, topics)
            kept = list(self._beliefs.items())[-MAX_INTERPRETATIONS + 1 :]
            self._beliefs = {**dict(kept), key: belief}
        return self._beliefs[key]

    async def _made(self, question: str, topics: tuple[Entity, ...]) -> Interpretation:
        mirrors = await self.mirrors()
        views = [_TopicView(topic, _mask_question(question, topic, topics)) for topic in topics]
        advice = {view.topic: await asyncio.to_thread(self._advice, view.text) for view in views}
        rated = {view.topic: await self._rated(view, advice[view.topic], mirrors) for view in views}
        asked = await asyncio.to_thread(self._asked, [view.text for view in views])
        claims = find_claimed_chains(question, rated)
        asked = QuestionIntent(union=True) if claims else asked
        rated = claims or {topic: _drop_topic_chains(found, topics) for topic, found in rated.items()}
        if asked.kind in {"largest", "smallest"}:
            rated = {topic: _prefer_entities(found) for topic, found in rated.items()}
        chosen = await asyncio.to_thread(combine_chains, rated, apart=asked.union)
        if chosen is None:
            return Interpretation()
        belief = await self._settled(views, asked, chosen, advice)
        return replace(belief, others={topic: _alternatives(rated[topic]) for topic in belief.chains})

    async def mirrors(self) -> InverseRelations:
        """Return the mirrored relations of the graph; none where they cannot be told.

        Raises:
            KGError: if the graph cannot be reached.
        """
        if self._mirrors is None:
            self._mirrors = await find_inverse_relations(self.graph)
        return self._mirrors or InverseRelations({})

    def _advice(self, view: str) -> TrainingAdvice:
        if self._exemplars is None:
            return TrainingAdvice((), ())
        nearest = [] if "nearest" in self._without else self._exemplars.nearest(view, NEAREST_QUESTIONS)
        hops = () if "hops" in self._without else self._exemplars.hops(view)
        return TrainingAdvice(nearest, hops)

    async def _rated(
        self, view: "_TopicView", told: TrainingAdvice, mirrors: InverseRelations
    ) -> list[RatedChain]:
        advice = mirrors.advice(told)
        wording = await asyncio.to_thread(QuestionWording, view.text, self.encode)
        found = await search_chains(
            view.topic, HopPolicy(advice, wording, mirrors.slot, self._without), self.graph
        )
        merged = await self.between.seen(mirrors.merged(found, told.hops))
        if not merged:
            return []
        return await asyncio.to_thread(self._scored, view.text, merged, advice, wording, mirrors)

    def _scored(
        self,
        view: str,
        found: Sequence[CandidateChain],
        advice: TrainingAdvice,
        wording: QuestionWording,
        mirrors: InverseRelations,
    ) -> list[RatedChain]:
        said = wording.chains([way.chain.hops for way in found])
        logits = score_chains(view, found, advice, said, self.encode, self._without, mirrors)
        shares = logits - np.logaddexp.reduce(logits)
        return [RatedChain(way, float(share)) for way, share in zip(found, shares, strict=True)]

    def _asked(self, views: Sequence[str]) -> QuestionIntent:
        """Tell what is asked of the ends: what words say of it, and training questions of such words."""
        if "asking" in self._without or not views:
            return QuestionIntent()
        said = by_words(views[0])
        if self._exemplars is None:
            return said
        told = [pair for view in views for pair in self._exemplars.asked(view).items()]
        if said.kind != "all":
            told = [(asked, share) for asked, share in told if asked.kind == said.kind]
        best, share = max(told, key=lambda pair: pair[1], default=(said, 0.0))
        if share < (MIN_INTENT_SHARE if said.kind == "all" else MIN_AGREEING_INTENT_SHARE):
            return said
        return replace(best, union=best.union or said.union)

    async def _settled(
        self,
        views: Sequence["_TopicView"],
        asked: QuestionIntent,
        chosen: ChainCombination,
        advice: Mapping[Entity, TrainingAdvice],
    ) -> Interpretation:
        chains = {topic: way.chain for topic, way in chosen.ways.items()}
        ends = {topic: way.ends for topic, way in chosen.ways.items()}
        answers = await self._restricted(views, asked, chosen, advice)
        if answers is not None and asked.union:
            chains = _winning_topics(answers, chains, ends)
        why = _explain(advice, chosen)
        alone = len(chains) == 1 and answers is None
        found = {topic: _interpreted_ends(chosen.ways[topic], alone=alone) for topic in chains}
        return Interpretation(
            chains, found, asked=asked, answers=answers, confidence=chosen.confidence, why=why
        )

    async def _restricted(
        self,
        views: Sequence["_TopicView"],
        asked: QuestionIntent,
        chosen: ChainCombination,
        advice: Mapping[Entity, TrainingAdvice],
    ) -> frozenset[Term] | None:
        """Return the ends that are answers; all of them where that takes too long or they were cut."""
        if any(way.truncated for way in chosen.ways.values()):
            return None
        chains = {topic: way.chain for topic, way in chosen.ways.items()}
        ends = {topic: way.ends for topic, way in chosen.ways.items()}
        try:
            answers = await select_answers(asked, chains, ends, views[0].text, self.graph, self.encode)
            if answers is None and "conditions" not in self._without:
                answers = await self._narrowed(views, chosen, advice)
        except (KGTimeout, KGRejected):
            return None
        return answers

    async def _narrowed(
        self, views: Sequence["_TopicView"], chosen: ChainCombination, advice: Mapping[Entity, TrainingAdvice]
    ) -> frozenset[Term] | None:
        """Narrow the ends of a single way by what else the question says."""
        if len(chosen.ways) > 1:
            return None
        ((topic, way),) = chosen.ways.items()
        text = next(view.text for view in views if view.topic == topic)
        return await narrowed(text, way, advice[topic], self.graph)


class _TopicView(NamedTuple):
    """A question as it is seen from one topic entity."""

    topic: Entity
    text: str
    """With ``[ENT]`` for the topic, ``[OTHER]`` for the others."""


def _mask_question(question: str, topic: Entity, topics: Sequence[Entity]) -> str:
    return mask_topic(question, topic.name, [other.name for other in topics if other != topic and other.name])


def _interpreted_ends(way: CandidateChain, *, alone: bool) -> Page[Candidate]:
    """Return the ends of a way; of one that is ``alone`` also what mirrored relations lead to."""
    return Page((*way.ends, *way.beside) if alone else way.ends, way.truncated)


def _alternatives(found: Sequence[RatedChain]) -> list[Chain]:
    best = sorted(found, key=lambda each: -each.share)
    return [each.way.chain for each in best[:MAX_ALTERNATIVES]]


def _drop_topic_chains(found: Sequence[RatedChain], topics: Sequence[Entity]) -> list[RatedChain]:
    """Leave out ways that lead to nothing but another topic: what the question names is not its answer."""
    return [
        each
        for each in found
        if not _other_topics(each.way, topics).issuperset(e.term for e in each.way.ends)
    ]


def _other_topics(way: CandidateChain, topics: Sequence[Entity]) -> set[Term]:
    return {topic for topic in topics if topic != way.chain.topic}


def _prefer_entities(found: Sequence[RatedChain]) -> list[RatedChain]:
    """Leave out ways to values where there are others: of an extreme the value is not the answer."""
    things = [each for each in found if not all(isinstance(end.term, Literal) for end in each.way.ends)]
    return things or list(found)


def _winning_topics(
    answers: frozenset[Term], chains: Mapping[Entity, Chain], ends: Mapping[Entity, tuple[Candidate, ...]]
) -> dict[Entity, Chain]:
    """Leave out the topics of a comparison that lost it."""
    return {topic: chain for topic, chain in chains.items() if answers & {end.term for end in ends[topic]}}


def _explain(advice: Mapping[Entity, TrainingAdvice], chosen: ChainCombination) -> str:
    """Name the nearest training question that has the chosen chain, or else what it was chosen by."""
    for topic, way in chosen.ways.items():
        slots = tuple(Slot(local_name(hop.relation), hop.forward) for hop in way.chain.hops)
        for near in advice[topic].nearest:
            if near.exemplar.chain == slots:
                return f"like {near.exemplar.question!r}"
    learned = any(advice[topic].hops for topic in chosen.ways)
    return "put together from training questions and words" if learned else "nearest in words"
