"""Finds and ranks the chains from the topics of a question."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.linking.class_names import asked_kind
from kgqa.kg.linking.schema_terms import asked_kinds, blank_out
from kgqa.kg.linking.values import is_spoken
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.profile.profile import UNTYPED, HopEnds
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal, is_value_id, plain_term
from kgqa.kg.text import in_plural
from kgqa.priors.exemplars import ExemplarLibrary
from kgqa.priors.masking import OTHER_MASK, TOPIC_MASK, blank_labels, mask_topic, replace_names
from kgqa.retrieval.candidate_chains import (
    MIN_LOG_LIKELIHOOD,
    CandidateChain,
    InverseRelations,
    TrainingAdvice,
    find_inverse_relations,
)
from kgqa.retrieval.chain_ranking import score_chains
from kgqa.retrieval.chain_search import HopPolicy, KindShares, search_chains
from kgqa.retrieval.lookups import Lookups
from kgqa.retrieval.wording import Encode, asked_words, open_wording, without_masks, wording_texts

DEFINITION = f"What is the definition of {TOPIC_MASK}?"
"""What a question is compared as that asks for nothing of its topic: what it is."""

SAME_QUESTION = 0.85
"""Similarity from which a training question asks the same: it tells better what "who is [ENT]" asks for."""

MIN_TYPED = 0.25  # share of the nodes from which classes tell of which kind answers are

KIND_LOGIT = 12.0
"""How much a chain gains that leads to things of the class that is asked for, and to no others."""

NEAREST_QUESTIONS = 60  # training questions that are asked for advice


class Retrieved:
    """What was found for a question.

    It is no dataclass: a stream of a run would send its mappings, whose keys JSON has no form for.

    Attributes:
        masked: For each topic the question with ``[ENT]`` for it and ``[OTHER]`` for the others.
        names: What each topic is called, by the question where that has another name for it.
        advice: What training questions say, for each topic.
        chains: The candidate chains from each topic, with their shares.
        inverses: The inverse relations of the graph.
        ends: The ends of all chains that the search has visited.
        hops: What leads on from them.
    """

    def __init__(
        self,
        masked: Mapping[Entity, str],
        names: Mapping[Entity, str],
        advice: Mapping[Entity, TrainingAdvice],
        chains: Mapping[Entity, list[CandidateChain]],
        inverses: InverseRelations,
        ends: Mapping[Chain, Page[Candidate]],
        hops: Mapping[Chain, Sequence[Hop]],
    ) -> None:
        self.masked, self.names, self.advice, self.chains = masked, names, advice, chains
        self.inverses, self.ends, self.hops = inverses, ends, hops


class Retriever:
    """Finds chains on one graph; ``without`` some parts (`kgqa.models.offline.PARTS`)."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        encode: Encode,
        exemplars: ExemplarLibrary | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        self.graph = graph
        self._encode = encode
        self._exemplars = exemplars
        self._without = without
        self._inverses: InverseRelations | None = None
        self._ends: HopEnds | None = None

    async def retrieve(self, question: str, topics: Sequence[Entity], graph: Lookups) -> Retrieved:
        """Return the chains from topics, or from where the look-ups start, that may answer a question.

        From classes among the topics they go to their members, and on from there where all topics are such.
        Without topics, from the classes that the question names, or from anything. So it is where nothing
        leads on from the topics.

        Raises:
            KGError: if the graph cannot be reached, or everything takes too long.
        """
        classes = await graph.open_classes(topics)
        named = [topic for topic in topics if topic not in classes]
        leading = bool(classes) or (bool(topics) and await graph.leads_on(topics))
        opened = classes if leading else await graph.set_out(question, anything=not topics)
        topics = topics if leading else opened or topics
        names = {topic: topic.name for topic in topics if topic.name and topic != ANY}
        unsaid = any(
            is_spoken(topic) or TOPIC_MASK not in mask_topic(question, name, ())
            for topic, name in names.items()
        )
        if leading and (unsaid or any(plain_term(topic) != topic for topic in classes)):
            names |= await graph.said_names(question, topics)
        masked = {
            topic: mask_topic(
                question,
                names.get(topic),
                [name for other, name in names.items() if other not in {topic, *(classes if named else ())}],
            )
            for topic in topics
        }
        for topic, text in masked.items():
            asks = topic in opened or is_value_id(topic.id) or asked_words(text) or TOPIC_MASK not in text
            if not asks and (await asyncio.to_thread(self._advice, text)).best < SAME_QUESTION:
                masked[topic] = DEFINITION
        texts = [question, *(text for each in masked.values() for text in _compared_texts(each))]
        await asyncio.to_thread(self._encode, texts)  # all at once, and known to the encoder from here on
        advice = {topic: await asyncio.to_thread(self._advice, text) for topic, text in masked.items()}
        inverses = await self._inverse_relations()
        for topic in named if leading else ():
            others = [names[one] for one in names if one in classes or is_value_id(topic.id)]
            alone = mask_topic(question, names.get(topic), others)
            text = without_masks(alone)
            if is_value_id(
                topic.id
            ):  # what has a name is of the kind that is asked for, or is not known to be
                text = blank_out(text, asked_kinds(text, ()))
            await graph.restrict_to_names(topic, text)
        searched = {each: text for each, text in masked.items() if not named or each not in classes}
        called, kinds = await self._kinds(question, {topic: names.get(topic) for topic in topics})
        worded = {
            each: _without_kind(text, called) if each in kinds else text for each, text in searched.items()
        }
        rated = await self._rate(searched, worded, advice, inverses, graph, kinds)
        chains = {
            topic: [_whole(each, graph) for each in found if masked[topic] != DEFINITION or _is_text(each)]
            for topic, found in rated.items()
        }
        for topic in opened:
            chains[topic] = [*_members(topic, graph), *chains.get(topic, ())]
        return Retrieved(masked, names, advice, chains, inverses, graph.visited_ends, graph.visited_hops)

    async def _kinds(
        self, question: str, topics: Mapping[Entity, str | None]
    ) -> tuple[Sequence[str], dict[Entity, KindShares]]:
        """Return what classes a question names, the one it asks for first, and how far hops lead to that.

        Where few nodes have a class, those of the others tell nothing.
        """
        profile = await self.graph.profile()
        untyped = profile.find(UNTYPED)
        typed = sum(each.members for each in profile.classes if each != untyped)
        if typed <= MIN_TYPED * (typed + (untyped.members if untyped else 0)):
            return (), {}
        classes = {chain.topic: chain.topic.name for chain in await self.graph.find_classes(question)}
        classes |= {topic: name for topic, name in topics.items() if profile.find(topic.id)}
        asked = asked_kind(question, classes)
        if asked is None:
            return (), {}
        if self._ends is None:
            self._ends = await asyncio.to_thread(HopEnds, profile)
        below = {each.id for each in profile.subclasses(asked.id)}
        others = (topic for topic in topics if topic != asked)
        called = sorted(filter(None, classes.values()), key=lambda name: name != classes[asked])
        return called, dict.fromkeys(others, partial(self._ends.share, classes=below))

    async def _inverse_relations(self) -> InverseRelations:
        """Return the inverse relations of the graph; none, and it is asked again, where it cannot tell."""
        if self._inverses is None:
            self._inverses = await find_inverse_relations(self.graph)
        return self._inverses or InverseRelations({})

    def _advice(self, masked: str) -> TrainingAdvice:
        if self._exemplars is None:
            return TrainingAdvice()
        nearest = [] if "nearest" in self._without else self._exemplars.nearest(masked, NEAREST_QUESTIONS)
        hops = () if "hops" in self._without else self._exemplars.hops(masked)
        return TrainingAdvice(nearest, hops)

    async def _rate(
        self,
        masked: Mapping[Entity, str],
        worded: Mapping[Entity, str],
        given: Mapping[Entity, TrainingAdvice],
        inverses: InverseRelations,
        graph: Lookups,
        kinds: Mapping[Entity, KindShares],
    ) -> dict[Entity, list[CandidateChain]]:
        """Return the candidate chains from each topic with their shares."""
        advice = {topic: inverses.normalise_advice(each) for topic, each in given.items()}

        def read() -> dict[Entity, HopPolicy]:
            wording = {topic: open_wording(text, self._encode) for topic, text in worded.items()}
            return {
                topic: HopPolicy(
                    advice[topic], wording[topic], inverses.slot, self._without, kinds.get(topic)
                )
                for topic in masked
            }

        policies = await asyncio.to_thread(read)
        found = await search_chains(policies, graph)

        def rate(topic: Entity) -> list[CandidateChain]:
            merged = [
                replace(each, moves=tuple(graph.moves(each.chain)))
                for each in inverses.merge_chains(found[topic], given[topic].hops)
            ]
            if not merged:
                return []
            said = policies[topic].wording.chains([each.chain.hops for each in merged])
            logits = score_chains(
                masked[topic], merged, advice[topic], said, self._encode, self._without, inverses
            )
            if topic in kinds:
                company = policies[topic].wording.asks_for_company
                led = [_led_to_kind(each.chain.hops, kinds[topic], company) for each in merged]
                logits = logits + [KIND_LOGIT * (share > 0) * (1 + share) / 2 for share in led]
            total = np.logaddexp.reduce(logits)
            return [
                replace(each, logit=float(logit), share=float(logit - total))
                for each, logit in zip(merged, logits, strict=True)
            ]

        return {topic: await asyncio.to_thread(rate, topic) for topic in masked}


def _without_kind(masked: str, called: Sequence[str]) -> str:
    """Leave out what a question calls the first class, for which it asks, where it says more than classes.

    How far hops lead there counts by itself.
    """
    kind, every = (
        replace_names(masked, {form: OTHER_MASK for name in names for form in (in_plural(name), name)})
        for names in (called[:1], called)
    )
    return kind if asked_words(every) else masked


def _led_to_kind(hops: Sequence[Hop], kinds: KindShares, company: bool) -> float:
    """Return the share of what a chain leads to that is of the class which is asked for.

    None where it may have been there before and has only gone away and back, unless ``company`` is asked for.
    """
    back = len(hops) > 2 and hops[-1] == hops[-2].inverse and kinds(hops[-3]) > 0
    return 0.0 if back and not company else kinds(hops[-1])


def _is_text(candidate: CandidateChain) -> bool:
    """Return whether a chain leads to what is written of its topic itself."""
    return candidate.chain.depth == 1 and all(isinstance(end.term, Literal) for end in candidate.ends)


def _members(topic: Entity, graph: Lookups) -> Iterator[CandidateChain]:
    """Yield the chain to the members of a class, before all others; none from anything."""
    chain, page = graph.whole(Chain(topic)), graph.known_ends(Chain(topic))
    if page and (ends := tuple(end for end in page if end.term.name)):
        yield CandidateChain(chain, ends, page.truncated, share=MIN_LOG_LIKELIHOOD)


def _whole(candidate: CandidateChain, graph: Lookups) -> CandidateChain:
    """Return a candidate with what is before its chain, and no more of its moves than there were."""
    return replace(
        candidate,
        chain=graph.whole(candidate.chain),
        also=tuple(map(graph.whole, candidate.also)),
        taught=graph.whole(candidate.taught) if candidate.taught else None,
    )


def _compared_texts(masked: str) -> list[str]:
    """Return all that a masked question is encoded as."""
    return [
        masked,
        blank_labels(masked),
        without_masks(masked),
        *asked_words(masked),
        *wording_texts(masked),
    ]
