"""Makes up the offline model's mind: from a question and its topic entities to a belief."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kgqa.kg.asked import Asked
from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import Chain, Entity, Literal, Term, local_name
from kgqa.models.offline.asking import by_words, settle
from kgqa.models.offline.belief import Belief
from kgqa.models.offline.between import Between
from kgqa.models.offline.combining import Combined, Rated, combine
from kgqa.models.offline.conditions import narrowed
from kgqa.models.offline.mirrors import Mirrors, find_mirrors
from kgqa.models.offline.policy import Policy
from kgqa.models.offline.ranking import score
from kgqa.models.offline.search import ways
from kgqa.models.offline.ways import Advice, Way
from kgqa.models.offline.whether import claimed
from kgqa.models.offline.wording import Wording
from kgqa.models.offline.words import Encode
from kgqa.priors.blueprints import Slot
from kgqa.priors.exemplars import Exemplars, masked

NEAREST = 60
"""Training questions that are asked for advice."""

SURE = 0.5
"""Share from which what training questions ask of the ends is taken over."""

LIKELY = 0.1
"""The same, of those that ask for what the words of the question say."""

ALTERNATIVES = 8
"""Ways from each topic that are kept beside the believed one."""

REMEMBERED = 256
"""Questions whose beliefs are remembered."""


class Believer:
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
        exemplars: Exemplars | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        self.graph = graph
        self.encode = encode
        self._exemplars = exemplars
        self._without = without
        self.between = Between(graph)
        self._mirrors: Mirrors | None = None
        self._beliefs: dict[tuple[str, tuple[Entity, ...]], Belief] = {}

    async def believe(self, question: str, topics: tuple[Entity, ...]) -> Belief:
        """Give the belief about a question.

        Raises:
            KGError: if the graph cannot be reached.
        """
        key = question, topics
        if key not in self._beliefs:
            belief = await self._made(question, topics)
            kept = list(self._beliefs.items())[-REMEMBERED + 1 :]
            self._beliefs = {**dict(kept), key: belief}
        return self._beliefs[key]

    async def _made(self, question: str, topics: tuple[Entity, ...]) -> Belief:
        mirrors = await self.mirrors()
        views = [_View(topic, _masked(question, topic, topics)) for topic in topics]
        advice = {view.topic: await asyncio.to_thread(self._advice, view.text) for view in views}
        rated = {view.topic: await self._rated(view, advice[view.topic], mirrors) for view in views}
        asked = await asyncio.to_thread(self._asked, [view.text for view in views])
        claims = claimed(question, rated)
        asked = Asked(union=True) if claims else asked
        rated = claims or {topic: _answers(found, topics) for topic, found in rated.items()}
        if asked.kind in {"largest", "smallest"}:
            rated = {topic: _things(found) for topic, found in rated.items()}
        chosen = await asyncio.to_thread(combine, rated, apart=asked.union)
        if chosen is None:
            return Belief()
        belief = await self._settled(views, asked, chosen, advice)
        return replace(belief, others={topic: _others_of(rated[topic]) for topic in belief.chains})

    async def mirrors(self) -> Mirrors:
        """Give the mirrored relations of the graph; none where they cannot be told.

        Raises:
            KGError: if the graph cannot be reached.
        """
        if self._mirrors is None:
            self._mirrors = await find_mirrors(self.graph)
        return self._mirrors or Mirrors({})

    def _advice(self, view: str) -> Advice:
        if self._exemplars is None:
            return Advice((), ())
        nearest = [] if "nearest" in self._without else self._exemplars.nearest(view, NEAREST)
        hops = () if "hops" in self._without else self._exemplars.hops(view)
        return Advice(nearest, hops)

    async def _rated(self, view: "_View", told: Advice, mirrors: Mirrors) -> list[Rated]:
        advice = mirrors.advice(told)
        wording = await asyncio.to_thread(Wording, view.text, self.encode)
        found = await ways(view.topic, Policy(advice, wording, mirrors.slot, self._without), self.graph)
        merged = await self.between.seen(mirrors.merged(found, told.hops))
        if not merged:
            return []
        return await asyncio.to_thread(self._scored, view.text, merged, advice, wording, mirrors)

    def _scored(
        self, view: str, found: Sequence[Way], advice: Advice, wording: Wording, mirrors: Mirrors
    ) -> list[Rated]:
        said = wording.chains([way.chain.hops for way in found])
        logits = score(view, found, advice, said, self.encode, self._without, mirrors)
        shares = logits - np.logaddexp.reduce(logits)
        return [Rated(way, float(share)) for way, share in zip(found, shares, strict=True)]

    def _asked(self, views: Sequence[str]) -> Asked:
        """Tell what is asked of the ends: what words say of it, and training questions of such words."""
        if "asking" in self._without or not views:
            return Asked()
        said = by_words(views[0])
        if self._exemplars is None:
            return said
        told = [pair for view in views for pair in self._exemplars.asked(view).items()]
        if said.kind != "all":
            told = [(asked, share) for asked, share in told if asked.kind == said.kind]
        best, share = max(told, key=lambda pair: pair[1], default=(said, 0.0))
        if share < (SURE if said.kind == "all" else LIKELY):
            return said
        return replace(best, union=best.union or said.union)

    async def _settled(
        self, views: Sequence["_View"], asked: Asked, chosen: Combined, advice: Mapping[Entity, Advice]
    ) -> Belief:
        chains = {topic: way.chain for topic, way in chosen.ways.items()}
        ends = {topic: way.ends for topic, way in chosen.ways.items()}
        answers = await self._restricted(views, asked, chosen, advice)
        if answers is not None and asked.union:
            chains = _leading_to(answers, chains, ends)
        why = _why(advice, chosen)
        alone = len(chains) == 1 and answers is None
        found = {topic: _led_to(chosen.ways[topic], alone=alone) for topic in chains}
        return Belief(chains, found, asked=asked, answers=answers, confidence=chosen.confidence, why=why)

    async def _restricted(
        self, views: Sequence["_View"], asked: Asked, chosen: Combined, advice: Mapping[Entity, Advice]
    ) -> frozenset[Term] | None:
        """Give the ends that are answers; all of them where that takes too long or they were cut."""
        if any(way.truncated for way in chosen.ways.values()):
            return None
        chains = {topic: way.chain for topic, way in chosen.ways.items()}
        ends = {topic: way.ends for topic, way in chosen.ways.items()}
        try:
            answers = await settle(asked, chains, ends, views[0].text, self.graph, self.encode)
            if answers is None and "conditions" not in self._without:
                answers = await self._narrowed(views, chosen, advice)
        except (KGTimeout, KGRejected):
            return None
        return answers

    async def _narrowed(
        self, views: Sequence["_View"], chosen: Combined, advice: Mapping[Entity, Advice]
    ) -> frozenset[Term] | None:
        """Narrow the ends of a single way by what else the question says."""
        if len(chosen.ways) > 1:
            return None
        ((topic, way),) = chosen.ways.items()
        text = next(view.text for view in views if view.topic == topic)
        return await narrowed(text, way, advice[topic], self.graph)


class _View(NamedTuple):
    """A question as it is seen from one topic entity."""

    topic: Entity
    text: str
    """With ``[ENT]`` for the topic, ``[OTHER]`` for the others."""


def _masked(question: str, topic: Entity, topics: Sequence[Entity]) -> str:
    return masked(question, topic.name, [other.name for other in topics if other != topic and other.name])


def _led_to(way: Way, *, alone: bool) -> Page[Candidate]:
    """Give the ends of a way; of one that is ``alone`` also what mirrored relations lead to."""
    return Page((*way.ends, *way.beside) if alone else way.ends, way.truncated)


def _others_of(found: Sequence[Rated]) -> list[Chain]:
    best = sorted(found, key=lambda each: -each.share)
    return [each.way.chain for each in best[:ALTERNATIVES]]


def _answers(found: Sequence[Rated], topics: Sequence[Entity]) -> list[Rated]:
    """Leave out ways that lead to nothing but another topic: what the question names is not its answer."""
    return [each for each in found if not _others(each.way, topics).issuperset(e.term for e in each.way.ends)]


def _others(way: Way, topics: Sequence[Entity]) -> set[Term]:
    return {topic for topic in topics if topic != way.chain.topic}


def _things(found: Sequence[Rated]) -> list[Rated]:
    """Leave out ways to values where there are others: of an extreme the value is not the answer."""
    things = [each for each in found if not all(isinstance(end.term, Literal) for end in each.way.ends)]
    return things or list(found)


def _leading_to(
    answers: frozenset[Term], chains: Mapping[Entity, Chain], ends: Mapping[Entity, tuple[Candidate, ...]]
) -> dict[Entity, Chain]:
    """Leave out the topics of a comparison that lost it."""
    return {topic: chain for topic, chain in chains.items() if answers & {end.term for end in ends[topic]}}


def _why(advice: Mapping[Entity, Advice], chosen: Combined) -> str:
    """Name the nearest training question that has the chosen chain, or else what it was chosen by."""
    for topic, way in chosen.ways.items():
        slots = tuple(Slot(local_name(hop.relation), hop.forward) for hop in way.chain.hops)
        for near in advice[topic].nearest:
            if near.exemplar.chain == slots:
                return f"like {near.exemplar.question!r}"
    learned = any(advice[topic].hops for topic in chosen.ways)
    return "put together from training questions and words" if learned else "nearest in words"
