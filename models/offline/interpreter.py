"""Interprets a question: from the question and its topic entities to the chains that answer it."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.linking.class_names import asked_kind
from kgqa.kg.meter import begin_query, metered, unmetered
from kgqa.kg.pages import Candidate, Page
from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.kg.text import in_singular, spaced
from kgqa.models.interface import model_queries_spent
from kgqa.models.offline.answer_selection import (
    Selection,
    select_answers,
    select_by_conditions,
    select_within,
)
from kgqa.models.offline.interpretation import Interpretation
from kgqa.models.offline.question_intent import (
    Bound,
    find_bounds,
    find_claimed_chains,
    find_figures,
    intent_by_words,
)
from kgqa.models.offline.readings import rank_readings
from kgqa.priors.exemplars import ExemplarLibrary
from kgqa.priors.masking import TOPIC_MASK
from kgqa.retrieval.candidate_chains import (
    CandidateChain,
    TrainingAdvice,
    to_slot,
)
from kgqa.retrieval.chain_ranking import ChainCombination, asks_when, combine_chains
from kgqa.retrieval.confidence import MIN_SUPPORT, read_signals
from kgqa.retrieval.directions import turned_noun
from kgqa.retrieval.lookups import MAX_QUERIES, NO_ANSWER, Lookups
from kgqa.retrieval.retriever import Retrieved, Retriever
from kgqa.retrieval.wording import (
    ASKING_WORDS,
    IGNORED_WORDS,
    Encode,
    content_words,
    relation_phrase,
    word_similarity,
)

_MAX_SEARCH_QUERIES = MAX_QUERIES - 7  # the others are for values
_MAX_INTERPRETATIONS = 256  # that are kept
_MIN_INTENT_SHARE = 0.5  # from which the intent of training questions is taken over
_MIN_AGREEING_INTENT_SHARE = 0.1  # the same where the words of the question agree
_MAX_COMPARED_ENDS = 1_000  # of other chains, that a chain may reach
_ASTRAY = 6.0  # in the logarithm of its share, of a chain that goes against what is said
_MAX_ALTERNATIVES = 8  # chains from each topic that are kept beside the chosen one
_VALUE_ASKED = re.compile(
    r"(?i)\bwhen\b|\bhow (?!many\b)|\bwhat (?:is|was|were|are) the\b"
    r"|\b(?:which|what) (?:years?|dates?|days?)\b"
)
"""What asks for a value, which a bound of another may select."""


class _Asked(NamedTuple):
    """What a question asks: chains by topic, what of their ends, and bounds of their values.

    ``claimed`` chains are those of a yes-or-no question, which asks whether they hold.
    """

    rated: Mapping[Entity, Sequence[CandidateChain]]
    intent: QuestionIntent
    bounds: Sequence[Bound]
    claimed: bool = False


class QuestionInterpreter:
    """Finds out what questions mean on one graph, each once, ``without`` some `PARTS` of the model."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        encode: Encode,
        exemplars: ExemplarLibrary | None,
        without: frozenset[str],
    ) -> None:
        self.graph = graph
        self.encode = encode
        self._exemplars = exemplars
        self._without = without
        self._retriever = Retriever(graph, encode, exemplars, without)
        self._known: dict[tuple[str, tuple[Entity, ...]], tuple[Interpretation, int]] = {}

    async def interpret(self, question: str, topics: tuple[Entity, ...]) -> Interpretation:
        """Return the interpretation of a question about topics.

        Its queries count for the first reply of a question, also where it was made before: a record
        does not depend on what was asked before.

        Raises:
            KGError: if the graph cannot be reached.
        """
        key = question, topics
        known = self._known.get(key)
        if known is None:
            with unmetered(), metered(MAX_QUERIES) as meter:
                made = await self._interpret(*key, Lookups(self.graph))
            known = made, meter.queries
            kept = list(self._known.items())[-_MAX_INTERPRETATIONS + 1 :]
            self._known = {**dict(kept), key: known}
        interpretation, queries = known
        for _ in range(0 if model_queries_spent.get() else queries):
            begin_query()
        return interpretation

    async def _interpret(self, question: str, topics: tuple[Entity, ...], graph: Lookups) -> Interpretation:
        with metered(_MAX_SEARCH_QUERIES):
            found = await self._retriever.retrieve(question, topics, graph)
        asked = await self._read(question, topics, found)
        chosen, selected, by = await self._choose_reading(question, found, asked, graph.settled())
        if chosen is None:
            return Interpretation(self.graph, self.encode)
        candidates, answers = chosen.chains, selected.terms if selected else None
        if answers is not None and asked.intent.union:  # of a comparison, leave out the topics that lost it
            candidates = {topic: each for topic, each in candidates.items() if answers & each.terms}
        alone = len(candidates) == 1 and answers is None
        signals = (
            None
            if asked.claimed
            else await asyncio.to_thread(read_signals, question, found, chosen, self.encode, by)
        )
        readings = await asyncio.to_thread(
            rank_readings, question, found, asked.rated, chosen, asked.intent, signals, self.encode
        )
        return Interpretation(
            self.graph,
            self.encode,
            chains={topic: each.chain for topic, each in candidates.items()},
            ends={
                topic: Page((*each.ends, *each.beside) if alone else each.ends, each.truncated)
                for topic, each in candidates.items()
            },
            alternatives={
                topic: _alternatives(each, asked.rated[topic]) for topic, each in candidates.items()
            },
            intent=asked.intent,
            answers=answers,
            by=selected.by if selected else (),
            reading=signals,
            source=_source(found.advice, chosen),
            inverses=found.inverses,
            moves={topic: each.moves for topic, each in candidates.items()},
            readings=readings,
        )

    async def _read(self, question: str, topics: tuple[Entity, ...], found: Retrieved) -> _Asked:
        """Return what is asked of the ends of chains, and the chains as the question's words rate them."""
        masked = [*found.masked.values()]
        intent = await asyncio.to_thread(self._intent, masked)
        if claimed := find_claimed_chains(question, dict(found.chains)):
            return _Asked(claimed, QuestionIntent(union=True), [], claimed=True)
        rated = {topic: _drop_topic_chains(each, topics) for topic, each in found.chains.items()}
        rated = {topic: _turned_as_said(found.masked[topic], each) for topic, each in rated.items()}
        bounds = self._bounds(masked)
        extreme = intent.kind in {"largest", "smallest"}
        if (extreme and not asks_when(question)) or (bounds and not _VALUE_ASKED.search(question)):
            rated = {topic: _prefer_entities(each) for topic, each in rated.items()}
        return _Asked(rated, intent, bounds)

    async def _choose_reading(
        self, question: str, found: Retrieved, asked: _Asked, graph: Lookups
    ) -> tuple[ChainCombination | None, Selection | None, Sequence[Hop]]:
        """Return the likeliest chains, which of their ends are answers, and by what these were told apart.

        Members of a class that is asked for come first, where something of the question selects among them.
        """
        rated, bounds = asked.rated, asked.bounds
        others = {topic: [each for each in chains if each.moves] for topic, chains in rated.items()}
        kinds = [chains[0] for chains in rated.values() if chains and not chains[0].moves]
        members = _asked_members(question, rated, found.names)
        if members:
            others = {topic: [] if topic in members else chains for topic, chains in others.items()}
            bounds = bounds or find_figures(next(iter(found.masked.values())))
            besides = [kind for kind in kinds if kind.chain.topic not in members]
            chosen, selected = await self._choose(members, found, asked.intent, bounds, graph, besides)
        if not members or (selected is None and not _says_no_more(question, members, found.names)):
            apart = [kind for kind in kinds if not others[kind.chain.topic]]
            others = {topic: chains for topic, chains in others.items() if chains or not rated[topic]}
            chosen, selected = await self._choose(others, found, asked.intent, bounds, graph, apart)
        return chosen, selected, selected.by if selected and (bounds or members) else ()

    def _intent(self, masked: Sequence[str]) -> QuestionIntent:
        """Return what is asked of the ends: by its words, and by training questions of such words."""
        if "asking" in self._without or not masked:
            return QuestionIntent()
        by_words = intent_by_words(masked[0])
        library = self._exemplars
        learned = [pair for text in masked for pair in library.asked(text).items()] if library else []
        least = _MIN_INTENT_SHARE
        if by_words.kind != "all":
            learned = [(intent, share) for intent, share in learned if intent.kind == by_words.kind]
            least = _MIN_AGREEING_INTENT_SHARE
        best, share = max(learned, key=lambda pair: pair[1], default=(by_words, 0.0))
        return replace(best, union=best.union or by_words.union) if share >= least else by_words

    def _bounds(self, masked: Sequence[str]) -> list[Bound]:
        """Return the bounds that a question sets."""
        return find_bounds(masked[0]) if masked and "conditions" not in self._without else []

    async def _choose(
        self,
        rated: Mapping[Entity, Sequence[CandidateChain]],
        found: Retrieved,
        intent: QuestionIntent,
        bounds: Sequence[Bound],
        graph: Lookups,
        kinds: Sequence[CandidateChain] = (),
    ) -> tuple[ChainCombination | None, Selection | None]:
        """Return the likeliest chains, None without any, and those of their ends that are answers.

        With ``kinds`` to members of classes, which the answers are if any of the ends is.
        """
        whole = bool(bounds or kinds)
        chosen = await choose_chains(rated, intent, graph, whole=whole) if rated else None
        if chosen is None:
            return None, None
        for kind in () if intent.union else kinds:
            ends = {end.term: end for each in chosen.chains.values() for end in each.ends}
            reached = await graph.reached_ends(kind.chain, [*ends])
            if kept := tuple(end for term, end in ends.items() if term in reached):
                met = replace(kind, ends=kept, truncated=False)
                chosen = chosen._replace(chains={**chosen.chains, kind.chain.topic: met})
        if len(chosen.chains) == 1:
            ((topic, candidate),) = chosen.chains.items()
            chosen = chosen._replace(chains={topic: candidate.as_taught(found.ends)})
        return chosen, await self._select_answers(found, intent, bounds, chosen, graph)

    async def _select_answers(
        self,
        found: Retrieved,
        intent: QuestionIntent,
        bounds: Sequence[Bound],
        chosen: ChainCombination,
        graph: Lookups,
    ) -> Selection | None:
        """Return the ends that are answers; None: all of them, also where it takes too long to tell."""
        if any(each.truncated for each in chosen.chains.values()):
            return None
        masked, advice = found.masked, found.advice
        question = next(iter(masked.values()))
        every, alone = [*chosen.chains.values()], len(chosen.chains) == 1
        try:
            selected = await select_answers(intent, chosen.chains, question, graph, self.encode)
            if bounds and intent.kind in {"all", "count"} and not intent.union:
                pool = selected.terms if selected else every[0].fresh_terms
                chains = [each.chain for each in every]
                within = await select_within(bounds, chains, pool, question, graph, self.encode)
                selected = within or selected
            if selected is None and alone and "conditions" not in self._without:
                ((topic, candidate),) = chosen.chains.items()
                kept = await select_by_conditions(masked[topic], candidate, advice[topic], graph)
                selected = Selection(kept) if kept else None
        except NO_ANSWER:
            return None
        return selected


async def choose_chains(
    rated: Mapping[Entity, Sequence[CandidateChain]],
    intent: QuestionIntent,
    graph: Lookups,
    *,
    whole: bool = False,
) -> ChainCombination | None:
    """Choose the likeliest chains that meet; where it matters which ends they have, these are not sampled.

    It matters where they have to meet, for an intent, or where they are wanted ``whole``.
    Of a chain with too many ends to list, it is asked which ends of other topics' chains it reaches;
    where it is chosen alone after all, these are not its ends.
    """
    cut: dict[Chain, CandidateChain] = {}  # as they were before, those that have the ends they share
    while chosen := await asyncio.to_thread(combine_chains, rated, apart=intent.union):
        alone = len(chosen.chains) == 1
        found = next(
            (each for each in chosen.chains.values() if each.truncated or (alone and each.chain in cut)), None
        )
        if found is None:
            return chosen
        sample, topic = cut.pop(found.chain, found), found.chain.topic
        chosen = chosen._replace(chains={**chosen.chains, topic: sample})
        if alone and intent.kind == "all" and not whole:
            return chosen
        shared = not (alone or intent.union)
        try:
            if shared:
                page = await _shared_ends(sample.chain, rated, graph)
            else:
                page = await graph.follow_chain(sample.chain)
        except NO_ANSWER:
            return chosen
        if page.truncated:
            return chosen
        if shared:
            cut[sample.chain] = sample
        known = replace(sample, ends=tuple(end for end in page if end.term.name), truncated=False)
        rated = {**rated, topic: [known if each is found else each for each in rated[topic]]}
    return None


async def _shared_ends(
    chain: Chain, rated: Mapping[Entity, Sequence[CandidateChain]], graph: Lookups
) -> Page[Candidate]:
    """Return those ends of other topics' chains that a chain reaches; cut where they are too many to ask."""
    others = [each for at in rated if at != chain.topic for each in rated[at] if not each.truncated]
    terms = (end.term for each in others for end in each.ends)
    ends = {term: Candidate(term) for term in terms if isinstance(term, Entity)}
    if len(ends) > _MAX_COMPARED_ENDS:
        return Page((), truncated=True)
    reached = await graph.reached_ends(chain, list(ends))
    return Page(tuple(ends[term] for term in ends if term in reached))


def _alternatives(chosen: CandidateChain, found: Sequence[CandidateChain]) -> list[Chain]:
    """Return the chains that are the same as the chosen one, then the likeliest."""
    likeliest = sorted(found, key=lambda each: -each.share)[:_MAX_ALTERNATIVES]
    return [*chosen.also, *(each.chain for each in likeliest)]


def _drop_topic_chains(found: Sequence[CandidateChain], topics: Sequence[Entity]) -> list[CandidateChain]:
    """Leave out chains that lead to nothing but topics: what the question names is not its answer.

    Only a chain of several hops may lead to its own: the spouse of a child's mother. One of two does so by
    relations that say the same the other way round, whatever their names, and none goes on from there, but
    for those that training questions have.
    """
    back = [
        each.moves
        for each in found
        if len(each.moves) == 2 and each.terms == {each.chain.topic} and each.taught is None
    ]

    def may_return(each: CandidateChain) -> bool:
        goes_round = len(each.moves) > 2 or each.taught is not None
        return each.chain.topic in each.terms and goes_round and not each.chain.turns_back

    return [
        each for each in found if (each.terms - {*topics} or may_return(each)) and each.moves[:2] not in back
    ]


def _turned_as_said(masked: str, found: Sequence[CandidateChain]) -> list[CandidateChain]:
    """Hold a relation that leads both ways from a topic against what a verb or a noun beside it says.

    Of a verb before the topic somebody else is the subject: "who knows [ENT]", not "who does [ENT] know".
    """
    before, _, after = map(content_words, masked.lower().partition(TOPIC_MASK.lower()))
    directly = masked[: masked.find(TOPIC_MASK)].lower().removesuffix("the ").split()[-1:]
    shares = {each.chain.hops[0]: each.share for each in found if each.chain.depth == 1}

    def share_of(each: CandidateChain) -> float:
        hop = each.chain.hops[0]
        words = relation_phrase(hop.words).split()
        if each.chain.depth > 1 or hop.inverse not in shares or "by" in directly:
            return each.share
        if turned_noun(masked, hop):
            return each.share - _ASTRAY
        if turned_noun(masked, hop.inverse):
            return max(each.share, shares[hop.inverse])
        verb_before = _is_alike(directly, words)
        if not verb_before and (_is_alike(before, words) or not _is_alike(after, words) or "'s" in masked):
            return each.share
        return each.share - _ASTRAY * (hop.forward == (verb_before != (words[-1] == "by")))

    return [replace(each, share=share_of(each)) for each in found]


def _is_alike(words: Sequence[str], others: Sequence[str]) -> bool:
    return any(word_similarity(one, two) >= MIN_SUPPORT for one in words for two in others)


def _asked_members(
    question: str, rated: Mapping[Entity, Sequence[CandidateChain]], names: Mapping[Entity, str]
) -> dict[Entity, list[CandidateChain]]:
    """Return the chain to the members of the class that a question asks for; none where it asks for none.

    Nor where what is asked of them hangs on an entity.
    """
    members = {topic: [each for each in found if not each.moves] for topic, found in rated.items()}
    called = {each: names.get(each, each.name) for each in members}
    asked = asked_kind(question, called) if all(members.values()) else None
    return {asked: members[asked]} if asked else {}


def _says_no_more(question: str, classes: Iterable[Entity], names: Mapping[Entity, str]) -> bool:
    """Return whether a question says nothing beside the class that it asks for."""
    called = (spaced(names.get(each, each.name or "")) for each in classes)
    named = {word for name in called for word in in_singular(name).lower().split()}
    return {*content_words(in_singular(question))} <= named | IGNORED_WORDS | ASKING_WORDS


def _prefer_entities(found: Sequence[CandidateChain]) -> list[CandidateChain]:
    """Leave out chains to values where there are others: of an extreme the value is not the answer."""
    return [each for each in found if not all(isinstance(end, Literal) for end in each.terms)] or list(found)


def _source(advice: Mapping[Entity, TrainingAdvice], chosen: ChainCombination) -> str:
    """Name the nearest training question that has the chosen chain, or else what it was chosen by."""
    for topic, candidate in chosen.chains.items():
        slots = tuple(map(to_slot, candidate.chain.hops))
        for near in advice[topic].nearest:
            if near.exemplar.chain == slots:
                return f"like {near.exemplar.question!r}"
    learned = any(advice[topic].hops for topic in chosen.chains)
    return "put together from training questions and words" if learned else "nearest in words"
