"""Searches for candidate chains, the likeliest first: which hop is next, and is the chain complete?"""

import asyncio
import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.offline.candidate_chains import CandidateChain, TrainingAdvice
from kgqa.models.offline.wording import FloatArray, QuestionWording
from kgqa.priors.slots import Slot

HOP_MODEL_WEIGHT = 0.5  # where there is one
NEAREST_WEIGHT = 0.3  # of the nearest training questions, where any goes this way
WORDING_WEIGHT = 0.2  # of the words of relations, as far as no training question is like this one
MIN_WORDING_FACTOR = 0.02  # of that weight, where one is
STOP_PROBABILITY = 0.5  # of a chain's being complete, by words alone

MAX_EXTENDED_CHAINS = 10  # one query each
_MAX_FOLLOWED_CHAINS = 15  # to their ends: one query each
_MAX_HOPS = 3  # of a chain
_MAX_BRANCHES = 12  # hops of one chain that are considered, the likeliest
_MIN_RELATIVE_LIKELIHOOD = 1e-3  # of a chain, as a part of the likeliest's
_SIMILARITY_SCALE = 0.2  # similarities of words that are this far apart are e times as likely


class HopPolicy:
    """What is known of the chains of one question from one topic entity.

    ``slot`` returns a hop as ``advice`` names it; ``without`` "words", wording counts only where nothing
    else is known.
    """

    def __init__(
        self,
        advice: TrainingAdvice,
        wording: QuestionWording,
        slot: Callable[[Hop], Slot],
        without: frozenset[str] = frozenset(),
    ) -> None:
        self._hops = [{slot: math.exp(value) for slot, value in hops.items()} for hops in advice.hops]
        self._slot = slot
        self._wording = wording
        unlike = MIN_WORDING_FACTOR if "words" in without else max(MIN_WORDING_FACTOR, 1 - advice.best)
        self._wording_weight = WORDING_WEIGHT * unlike
        chains = (near.exemplar.chain for near in advice.nearest)
        self._near = list(zip(chains, advice.votes, strict=True))

    def stop_probability(self, hops: Sequence[Hop]) -> float:
        """Return how likely a chain is complete after these hops; at least one."""
        said = [(weight, shares.get(None, 0.0)) for weight, shares in self._learned(hops)]
        said.append((self._wording_weight, STOP_PROBABILITY))
        return sum(weight * share for weight, share in said) / sum(weight for weight, _ in said)

    def hop_probabilities(self, hops: Sequence[Hop], offered: Sequence[Hop]) -> FloatArray:
        """Return how likely each offered hop follows, given that one does: shape (offered,), sum 1."""
        slots = [self._slot(hop) for hop in offered]
        words = np.maximum(self._wording.hops(hops, offered) / _SIMILARITY_SCALE, -700.0)
        said = [(self._wording_weight, np.exp(words - words.max()))]
        for weight, shares in self._learned(hops):
            known = np.array([shares.get(slot, 0.0) for slot in slots])
            if known.sum() > 0:
                said.append((weight, known))
        total = sum(weight * np.asarray(shares / shares.sum(), np.float64) for weight, shares in said)
        return np.asarray(total / sum(weight for weight, _ in said))

    def _learned(self, hops: Sequence[Hop]) -> list[tuple[float, dict[Slot | None, float]]]:
        """Return what the hop model and the nearest questions say comes next, by weight; None: no hop."""
        slots = tuple(map(self._slot, hops))
        votes: dict[Slot | None, float] = defaultdict(float)
        for chain, weight in self._near:
            if chain[: len(slots)] == slots:
                votes[chain[len(slots)] if len(chain) > len(slots) else None] += weight
        total = sum(votes.values())
        known: list[tuple[float, dict[Slot | None, float]]] = []
        if len(hops) < len(self._hops):
            known.append((HOP_MODEL_WEIGHT, self._hops[len(hops)]))
        if total:
            known.append((NEAREST_WEIGHT, {slot: vote / total for slot, vote in votes.items()}))
        return known


async def search_chains(topic: Entity, policy: HopPolicy, graph: KnowledgeGraph) -> list[CandidateChain]:
    """Search from a topic entity: best first, in both directions of relations.

    A chain whose ends have no names is no candidate, but may lead on to one; one that takes too
    long leads nowhere.

    Raises:
        KGError: if the graph cannot be reached, or everything takes too long.
    """
    failures: list[KGTimeout | KGRejected] = []
    found = await _expand_chains(topic, policy, graph, failures)
    lowest = max(found.values(), default=0.0) * _MIN_RELATIVE_LIKELIHOOD
    likely = sorted((-likelihood, chain) for chain, likelihood in found.items() if likelihood >= lowest)
    candidates = []
    for _, chain in likely[:_MAX_FOLLOWED_CHAINS]:
        try:
            page = await graph.follow_chain(chain)
        except (KGTimeout, KGRejected) as error:
            failures.append(error)
            continue
        if ends := tuple(end for end in page if end.term.name):
            candidates.append(CandidateChain(chain, ends, page.truncated))
    if failures and not candidates:
        raise failures[-1]
    return candidates


async def _expand_chains(
    topic: Entity, policy: HopPolicy, graph: KnowledgeGraph, failures: list[KGTimeout | KGRejected]
) -> dict[Chain, float]:
    """Return chains and how likely each is complete: the likeliest is extended again and again.

    It ends where what is left is a slim chance.
    """
    order = count()
    waiting = [(-1.0, next(order), Chain(topic))]
    found: dict[Chain, float] = {}
    best = 0.0
    for _ in range(MAX_EXTENDED_CHAINS):
        if not waiting or -waiting[0][0] < best * _MIN_RELATIVE_LIKELIHOOD:
            break
        share, _, chain = heapq.heappop(waiting)
        try:
            offered = (await graph.extend_chain(chain)).items
        except (KGTimeout, KGRejected) as error:
            failures.append(error)
            continue
        if not offered:
            continue
        for hop, chance in await asyncio.to_thread(_likeliest_hops, policy, chain, offered):
            longer, likelihood = chain.then(hop), -share * chance
            stop = policy.stop_probability(longer.hops)
            found[longer] = likelihood * stop
            best = max(best, likelihood * stop)
            if longer.depth < _MAX_HOPS:
                heapq.heappush(waiting, (-likelihood * (1 - stop), next(order), longer))
    return found


def _likeliest_hops(policy: HopPolicy, chain: Chain, offered: Sequence[Hop]) -> list[tuple[Hop, float]]:
    shares = policy.hop_probabilities(chain.hops, offered)
    return [(offered[at], float(shares[at])) for at in np.argsort(-shares, kind="stable")[:_MAX_BRANCHES]]
