"""Searches for candidate chains, the likeliest first: which hop is next, and is the chain complete?"""

import asyncio
import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.offline.candidate_chains import CandidateChain, TrainingAdvice
from kgqa.models.offline.wording_similarity import QuestionWording
from kgqa.priors.blueprints import Slot

Probabilities = npt.NDArray[np.float64]

HOP_MODEL_WEIGHT = 0.5
"""What the hop model counts, where there is one."""

NEAREST_WEIGHT = 0.3
"""What the nearest training questions count, where any goes this way."""

WORDING_WEIGHT = 0.2
"""What the words of relations count beside the two, as far as no training question is like this one."""

MIN_WORDING_FACTOR = 0.02
"""The same where one is."""

STOP_PROBABILITY = 0.5
"""How likely a way is taken to be over by words alone."""

SIMILARITY_SCALE = 0.2
"""Likenesses of words that are this far apart are e times as likely."""


class HopPolicy:
    """What is known of the ways of one question from one topic entity.

    Args:
        advice: what training questions say, empty where there are none.
        wording: how well chains say the question.
        slot: gives a hop as ``advice`` names it; see `kgqa.models.offline.inverse_relations`.
        without: parts of the model to leave out; without "words" only where nothing else is known.
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
        self._words = WORDING_WEIGHT * (
            MIN_WORDING_FACTOR if "words" in without else max(MIN_WORDING_FACTOR, 1 - advice.best)
        )
        self._near = [
            (near.exemplar.chain, vote) for near, vote in zip(advice.nearest, advice.votes, strict=True)
        ]

    def over(self, way: Sequence[Hop]) -> float:
        """Tell how likely a way is over after these hops; at least one."""
        parts = ((HOP_MODEL_WEIGHT, self._learned(len(way))), (NEAREST_WEIGHT, self._votes(way)))
        said = [(weight, shares.get(None, 0.0)) for weight, shares in parts if shares]
        said.append((self._words, STOP_PROBABILITY))
        return sum(weight * share for weight, share in said) / sum(weight for weight, _ in said)

    def follow(self, way: Sequence[Hop], offered: Sequence[Hop]) -> Probabilities:
        """Tell how likely each of the hops follows, given that one does: shape (offered,), sum 1."""
        slots = [self._slot(hop) for hop in offered]
        words = np.maximum(self._wording.hops(way, offered) / SIMILARITY_SCALE, -700.0)
        total = self._words * _normalise(np.exp(words - words.max()))
        weight = self._words
        for share, told in ((HOP_MODEL_WEIGHT, self._learned(len(way))), (NEAREST_WEIGHT, self._votes(way))):
            known = np.array([told.get(slot, 0.0) for slot in slots])
            if known.sum() > 0:
                total = total + share * _normalise(known)
                weight += share
        return total / weight

    def _learned(self, position: int) -> dict[Slot | None, float]:
        return self._hops[position] if position < len(self._hops) else {}

    def _votes(self, way: Sequence[Hop]) -> dict[Slot | None, float]:
        """Return the shares of the nearest questions whose chain begins this way; None: it is over."""
        begun = tuple(map(self._slot, way))
        votes: dict[Slot | None, float] = defaultdict(float)
        for chain, weight in self._near:
            if chain[: len(begun)] == begun:
                votes[chain[len(begun)] if len(chain) > len(begun) else None] += weight
        total = sum(votes.values())
        return {slot: vote / total for slot, vote in votes.items()} if total else {}


def _normalise(shares: Probabilities) -> Probabilities:
    return np.asarray(shares / shares.sum(), np.float64)


MAX_HOPS = 3
"""Hops of a way at most."""

MAX_EXTENDED_CHAINS = 10
"""Chains that are extended at most: one query each."""

MAX_FOLLOWED_CHAINS = 15
"""Chains that are followed to their ends at most: one query each."""

MAX_BRANCHES = 12
"""Hops of one chain that are considered, the likeliest."""

MIN_RELATIVE_LIKELIHOOD = 1e-3
"""A chain is left alone whose share is this part of the likeliest's."""


class _ScoredChain(NamedTuple):
    """A chain and how likely it is the whole way."""

    likelihood: float
    chain: Chain


async def search_chains(topic: Entity, policy: HopPolicy, graph: KnowledgeGraph) -> list[CandidateChain]:
    """Search from a topic entity: best first, in both directions of relations.

    A chain whose ends have no names is no way by itself, but may lead on to one; one that takes too
    long leads nowhere.

    Raises:
        KGError: if the graph cannot be reached, or everything takes too long.
    """
    tried = _FailingGraph(graph)
    found = await _expand_chains(topic, policy, tried)
    best = max((each.likelihood for each in found), default=0.0)
    likely = sorted(
        (each for each in found if each.likelihood >= best * MIN_RELATIVE_LIKELIHOOD), key=_search_rank
    )[:MAX_FOLLOWED_CHAINS]
    followed = [await tried.follow(each.chain) for each in likely]
    leading = [way for way in followed if way and way.ends]
    if tried.failed and not leading:
        raise tried.failed
    return leading


class _FailingGraph:
    """A graph of which a query may fail; the last failure is kept."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self._graph = graph
        self.failed: KGTimeout | KGRejected | None = None

    async def extend(self, chain: Chain) -> tuple[Hop, ...]:
        """Return the hops that lead on; none where the query fails."""
        try:
            return (await self._graph.extend_chain(chain)).items
        except (KGTimeout, KGRejected) as error:
            self.failed = error
            return ()

    async def follow(self, chain: Chain) -> CandidateChain | None:
        """Follow a chain to its named ends; None where the query fails."""
        try:
            page = await self._graph.follow_chain(chain)
        except (KGTimeout, KGRejected) as error:
            self.failed = error
            return None
        return CandidateChain(chain, tuple(end for end in page if end.term.name), page.truncated)


def _search_rank(found: _ScoredChain) -> tuple[float, Chain]:
    return -found.likelihood, found.chain


async def _expand_chains(topic: Entity, policy: HopPolicy, graph: _FailingGraph) -> list[_ScoredChain]:
    """Extend the likeliest chain again and again, until what is left is a slim chance."""
    order = count()
    waiting: list[tuple[float, int, Chain, float]] = [(-1.0, next(order), Chain(topic), 1.0)]
    found: list[_ScoredChain] = []
    best = 0.0
    for _ in range(MAX_EXTENDED_CHAINS):
        if not waiting or -waiting[0][0] < best * MIN_RELATIVE_LIKELIHOOD:
            break
        _, _, chain, share = heapq.heappop(waiting)
        offered = await graph.extend(chain)
        if not offered:
            continue
        for hop, chance in await asyncio.to_thread(_likeliest_hops, policy, chain, offered):
            longer, likelihood = chain.then(hop), share * chance
            over = policy.over(longer.hops)
            found.append(_ScoredChain(likelihood * over, longer))
            best = max(best, likelihood * over)
            if longer.depth < MAX_HOPS:
                onwards = likelihood * (1 - over)
                heapq.heappush(waiting, (-onwards, next(order), longer, onwards))
    return found


def _likeliest_hops(policy: HopPolicy, chain: Chain, offered: tuple[Hop, ...]) -> list[tuple[Hop, float]]:
    shares = policy.follow(chain.hops, offered)
    return [(offered[at], float(shares[at])) for at in np.argsort(-shares, kind="stable")[:MAX_BRANCHES]]
