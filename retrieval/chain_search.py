"""Searches for candidate chains, the likeliest first: which hop is next, and is the chain complete?"""

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.meter import QueryBudgetExhausted
from kgqa.kg.profile.profile import MIN_SURE_SHARE
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.priors.slots import Slot
from kgqa.retrieval.candidate_chains import CandidateChain, TrainingAdvice
from kgqa.retrieval.lookups import CHAINS_PER_QUERY, Lookups
from kgqa.retrieval.wording import FloatArray, QuestionWording, SimilarityScores

HOP_MODEL_WEIGHT = 0.5  # where there is one
NEAREST_WEIGHT = 0.3  # of the nearest training questions, where any goes this way
WORDING_WEIGHT = 0.2  # of the words of relations, as far as no training question is like this one
MIN_WORDING_FACTOR = 0.02  # of that weight, where one is
STOP_PROBABILITY = 0.5  # of a chain's being complete, by words alone

STOP_AT_KIND, STOP_ELSEWHERE = 0.7, 0.3  # the same where it is known of which class answers are
KIND_BOOST = 3.0  # how much likelier a hop is that leads to this class alone

MAX_ROUNDS = 3  # one query each: the likeliest chains are followed to their ends, and what leads on is seen
_MAX_HOPS = 3  # of a chain
_MAX_BRANCHES = 12  # hops of one chain that are considered, the likeliest
_MIN_RELATIVE_LIKELIHOOD = 1e-3  # of a chain, as a part of the likeliest's
_SIMILARITY_SCALE = 0.2  # similarities of words that are this far apart are e times as likely


KindShares = Callable[[Hop], float]
"""Returns the share of what a hop leads to that is of the class which is asked for."""


class HopPolicy:
    """What is known of the chains of one question from one topic entity.

    ``slot`` returns a hop as ``advice`` names it; ``without`` "words", wording counts only where nothing
    else is known. ``kinds`` tells which hops lead to the things that are asked for.
    """

    def __init__(
        self,
        advice: TrainingAdvice,
        wording: QuestionWording,
        slot: Callable[[Hop], Slot],
        without: frozenset[str] = frozenset(),
        kinds: "KindShares | None" = None,
    ) -> None:
        self._kinds = kinds
        self._hops = [{slot: math.exp(value) for slot, value in hops.items()} for hops in advice.hops]
        self._slot = slot
        self.wording = wording
        unlike = MIN_WORDING_FACTOR if "words" in without else max(MIN_WORDING_FACTOR, 1 - advice.best)
        self._wording_weight = WORDING_WEIGHT * unlike
        # what comes after the beginnings of the nearest questions' chains; None: no hop
        self._votes: dict[tuple[Slot, ...], dict[Slot | None, float]] = {}
        for near, weight in zip(advice.nearest, advice.votes, strict=True):
            chain = near.exemplar.chain
            for depth, following in enumerate([*chain, None]):
                votes = self._votes.setdefault(chain[:depth], defaultdict(float))
                votes[following] += weight

    def stop_probability(self, hops: Sequence[Hop]) -> float:
        """Return how likely a chain is complete after these hops; at least one."""
        said = [(weight, shares.get(None, 0.0)) for weight, shares in self._learned(hops)]
        stop = STOP_PROBABILITY
        if self._kinds:
            stop = STOP_AT_KIND if self._kinds(hops[-1]) >= MIN_SURE_SHARE else STOP_ELSEWHERE
        said.append((self._wording_weight, stop))
        return sum(weight * share for weight, share in said) / sum(weight for weight, _ in said)

    def hop_probabilities(self, chains: Sequence[tuple[Sequence[Hop], Sequence[Hop]]]) -> list[FloatArray]:
        """Return how likely each hop that is offered after some follows, given that one does.

        Of each of the pairs: shape (offered,), sum 1.
        """
        words = self.wording.hops(chains)
        return [self._shares(*chain, said) for chain, said in zip(chains, words, strict=True)]

    def _shares(self, hops: Sequence[Hop], offered: Sequence[Hop], wording: SimilarityScores) -> FloatArray:
        slots = [self._slot(hop) for hop in offered]
        words = np.maximum(wording / _SIMILARITY_SCALE, -700.0)
        said = [(self._wording_weight, np.exp(words - words.max()))]
        for weight, shares in self._learned(hops):
            known = np.array([shares.get(slot, 0.0) for slot in slots])
            if known.sum() > 0:
                said.append((weight, known))
        parts = [weight * np.asarray(shares / shares.sum(), np.float64) for weight, shares in said]
        total = np.sum(parts, axis=0)
        if self._kinds:
            total = total * np.array([1 + KIND_BOOST * self._kinds(hop) for hop in offered])
        return np.asarray(total / total.sum())

    def _learned(self, hops: Sequence[Hop]) -> list[tuple[float, dict[Slot | None, float]]]:
        """Return what the hop model and the nearest questions say comes next, by weight; None: no hop."""
        slots = tuple(map(self._slot, hops))
        votes = self._votes.get(slots, {})
        total = sum(votes.values())
        known: list[tuple[float, dict[Slot | None, float]]] = []
        if len(hops) < len(self._hops):
            known.append((HOP_MODEL_WEIGHT, self._hops[len(hops)]))
        if total:
            known.append((NEAREST_WEIGHT, {slot: vote / total for slot, vote in votes.items()}))
        return known


@dataclass
class _TopicSearch:
    """The search from one topic entity."""

    policy: HopPolicy
    waiting: dict[Chain, float] = field(default_factory=dict)  # chains that were not followed, how likely
    complete: dict[Chain, float] = field(default_factory=dict)  # how likely each chain is the whole one

    def extend(self, taken: Mapping[Chain, float], graph: Lookups) -> None:
        """Add the likeliest of the chains that go on from some; blocks."""
        offered = {chain: hops for chain in taken if (hops := graph.known_hops(chain))}
        shares = self.policy.hop_probabilities([(chain.hops, hops) for chain, hops in offered.items()])
        for (chain, hops), each in zip(offered.items(), shares, strict=True):
            self._add(chain, taken[chain], hops, each)

    def _add(self, chain: Chain, likelihood: float, offered: Sequence[Hop], shares: FloatArray) -> None:
        likelihood -= self.complete.get(chain, 0.0)  # that it goes on
        for at in np.argsort(-shares, kind="stable")[:_MAX_BRANCHES]:
            longer, share = chain.then(offered[at]), float(likelihood * shares[at])
            stop = self.policy.stop_probability(longer.hops)
            self.complete[longer] = share * stop
            self.waiting[longer] = share if longer.depth < _MAX_HOPS else share * stop

    def take(self, number: int) -> dict[Chain, float]:
        """Take so many chains to follow, the likeliest first; none that is a slim chance."""
        lowest = max(self.complete.values()) * _MIN_RELATIVE_LIKELIHOOD if self.complete else 0.0
        likely = sorted(self.waiting.items(), key=lambda each: -each[1])
        return {chain: self.waiting.pop(chain) for chain, share in likely[:number] if share >= lowest}


async def search_chains(
    policies: Mapping[Entity, HopPolicy], graph: Lookups
) -> dict[Entity, list[CandidateChain]]:
    """Search from topic entities: the likeliest chains first, in both directions of relations.

    In each round the topics share the chains that one query follows. A chain whose ends have no names
    is no candidate, but may lead on to one; one that takes too long leads nowhere. It ends where what
    is left is a slim chance, or where no query is left.

    Raises:
        KGError: if the graph cannot be reached, or everything takes too long.
    """
    searches = {topic: _TopicSearch(policy) for topic, policy in policies.items()}
    taken: dict[Entity, dict[Chain, float]] = {topic: {Chain(topic): 1.0} for topic in policies}
    failure: KGTimeout | KGRejected | None = None
    for left in range(MAX_ROUNDS, -1, -1):
        chains = [chain for each in taken.values() for chain in each]
        try:
            await graph.visit_chains(chains, ends=left < MAX_ROUNDS)
        except (KGTimeout, KGRejected) as error:
            failure = error
        except QueryBudgetExhausted:
            break
        await asyncio.to_thread(_extend_all, searches, taken, graph)
        share = max(1, CHAINS_PER_QUERY // max(1, sum(bool(each.waiting) for each in searches.values())))
        taken = {topic: each.take(share) for topic, each in searches.items()}
        if not any(taken.values()):
            break
    found = {topic: _candidates(each, graph) for topic, each in searches.items()}
    if failure is not None and not any(found.values()):
        raise failure
    return found


def _extend_all(
    searches: Mapping[Entity, _TopicSearch], taken: Mapping[Entity, Mapping[Chain, float]], graph: Lookups
) -> None:
    for topic, chains in taken.items():
        searches[topic].extend(chains, graph)


def _candidates(search: _TopicSearch, graph: Lookups) -> list[CandidateChain]:
    """Return the chains that lead to something with a name, the likeliest first."""
    candidates = []
    for _, chain in sorted((-likelihood, chain) for chain, likelihood in search.complete.items()):
        page = graph.known_ends(chain)
        if page and (ends := tuple(end for end in page if end.term.name)):
            candidates.append(CandidateChain(chain, ends, page.truncated))
    return candidates
