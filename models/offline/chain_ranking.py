"""Ranks candidate chains, and combines those of several topic entities.

A chain's score is a weighted sum of features. The weights were fitted by
``benchmarks/_offline_weights.py`` on training parts of MetaQA, PathQuestion, the sample,
and the part of the WebQSP slice that is called train.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Chain, Entity, Hop, Term
from kgqa.models.offline import kinds
from kgqa.models.offline.candidate_chains import MIN_LOG_LIKELIHOOD, CandidateChain, TrainingAdvice
from kgqa.models.offline.inverse_relations import InverseRelations
from kgqa.models.offline.question_words import Encode, relation_phrase
from kgqa.priors.blueprints import Slot

Logits = npt.NDArray[np.float64]

CHAIN_VOTE_SHARPNESS = 20.0
"""How much more a chain in like words counts, in the same way."""

MIN_VOTE = 1e-4
"""What no vote at all counts as."""

FEATURES = {
    "learned": ("hops", "log-likelihood by the hop model"),
    "sure": ("hops", "likelihood by the hop model"),
    "votes": ("nearest", "logarithm of the votes of the nearest questions for chains in like words"),
    "whole": ("words", "likeness of question and hops"),
    "said": ("words", "how well the chain says the question's words in order"),
    "alone": ("words", "the same, as far as no training question is like this one"),
    "one": ("kinds", "a single end"),
    "date": ("kinds", "share of dates where none is asked for"),
    "thing": ("kinds", "share of values where somebody or a place is asked for"),
    "named": ("kinds", "named nodes between"),
}
"""What speaks for and against a way: the part that it belongs to, and what it is."""

HOP_MODEL_WEIGHTS = {
    "learned": 0.51,
    "sure": 3.55,
    "votes": 0.0,
    "whole": 10.96,
    "said": 0.84,
    "alone": 12.5,
    "one": -1.94,
    "date": -4.88,
    "thing": -0.04,
    "named": -0.18,
}
"""The weights where there is a hop model; it leaves nothing to the votes."""

NEAREST_WEIGHTS = {
    "learned": 0.0,
    "sure": 0.0,
    "votes": 2.54,
    "whole": 0.0,
    "said": 5.37,
    "alone": 20.18,
    "one": -0.58,
    "date": -11.61,
    "thing": -0.9,
    "named": 0.0,
}
"""The weights where there are the nearest questions alone."""

UNTRAINED_WEIGHTS = {
    "learned": 0.0,
    "sure": 0.0,
    "votes": 0.0,
    "whole": 1.78,
    "said": 7.66,
    "alone": 0.0,
    "one": -0.82,
    "date": -4.89,
    "thing": -2.01,
    "named": 0.0,
}
"""The weights where there are no training questions."""


def score_chains(
    masked: str,
    ways: Sequence[CandidateChain],
    advice: TrainingAdvice,
    said: npt.NDArray[np.floating],
    encode: Encode,
    without: frozenset[str] = frozenset(),
    mirrors: InverseRelations | None = None,
) -> Logits:
    """Return the logit of each way being the question's: shape (ways,); their softmax is the confidence.

    Args:
        masked: the question, with ``[ENT]`` for the topic entity.
        ways: those to choose from.
        advice: what training questions say.
        said: how well each way says the question, from `Wording.chains`: shape (ways,).
        encode: a sentence encoder; blocks.
        without: parts of `FEATURES` to leave out.
        mirrors: relations of the graph that are each other's reverse.
    """
    weights = HOP_MODEL_WEIGHTS if advice.hops else NEAREST_WEIGHTS if advice.nearest else UNTRAINED_WEIGHTS
    table = chain_features(masked, ways, advice, said, encode, mirrors or InverseRelations({}))
    kept = [weights.get(name, 0.0) * (part not in without) for name, (part, _) in FEATURES.items()]
    return np.asarray(table @ np.array(kept), np.float64)


def chain_features(
    masked: str,
    ways: Sequence[CandidateChain],
    advice: TrainingAdvice,
    said: npt.NDArray[np.floating],
    encode: Encode,
    mirrors: InverseRelations,
) -> Logits:
    """Return what speaks for each way, in the order of `FEATURES`: shape (ways, features)."""
    chains = [tuple(map(mirrors.slot, way.chain.hops)) for way in ways]
    learned = [_hop_log_likelihoods(chain, advice) for chain in chains]
    columns = [
        [sum(logs) for logs in learned],
        [np.exp(sum(logs)) for logs in learned],
        _chain_votes(chains, advice, encode),
        _relation_similarities(masked, ways, encode),
        said,
        said * (1 - advice.best),
        *zip(*(_end_features(masked, way) for way in ways), strict=True),
    ]
    return np.array(columns, np.float64).T


def _hop_log_likelihoods(chain: tuple[Slot, ...], advice: TrainingAdvice) -> list[float]:
    """Return the log-likelihood of each hop and of the chain's being over after them."""
    if not advice.hops:
        return [0.0]
    steps = (*chain, None)[: len(advice.hops)]
    return [
        max(MIN_LOG_LIKELIHOOD, logs.get(step, MIN_LOG_LIKELIHOOD))
        for step, logs in zip(steps, advice.hops, strict=False)
    ]


def _chain_votes(chains: Sequence[tuple[Slot, ...]], advice: TrainingAdvice, encode: Encode) -> Logits:
    if not advice.nearest:
        return np.zeros(len(chains))
    weight = np.array(advice.votes)
    rows = _chain_vectors([*chains, *(near.exemplar.chain for near in advice.nearest)], encode)
    alike = rows[: len(chains)] @ rows[len(chains) :].T
    votes = np.exp(CHAIN_VOTE_SHARPNESS * (alike - 1)) @ (weight / weight.sum())
    return np.asarray(np.log(votes + MIN_VOTE), np.float64)


def _relation_similarities(masked: str, ways: Sequence[CandidateChain], encode: Encode) -> list[float]:
    """Return the likeness of the question to each way, the best of its chains."""
    chains = [[_word_slots(chain.hops) for chain in way.chains] for way in ways]
    likeness = iter(
        _chain_vectors([chain for group in chains for chain in group], encode) @ encode([masked])[0]
    )
    return [max(float(next(likeness)) for _ in group) for group in chains]


def _word_slots(hops: Sequence[Hop]) -> tuple[Slot, ...]:
    return tuple(Slot(hop.words, hop.forward) for hop in hops)


def _chain_vectors(chains: Sequence[tuple[Slot, ...]], encode: Encode) -> npt.NDArray[np.float64]:
    """Return the direction of the sum of the hops of each chain: shape (chains, dimensions)."""
    names = sorted({relation_phrase(slot.relation) for chain in chains for slot in chain})
    rows = dict(zip(names, encode(names), strict=True))
    sums = np.array(
        [np.sum([rows[relation_phrase(slot.relation)] for slot in chain], axis=0) for chain in chains]
    )
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.maximum(lengths, 1e-9), np.float64)


def _end_features(masked: str, way: CandidateChain) -> tuple[float, ...]:
    """Return what the ends and the nodes between say, from ``one`` to ``named`` of `FEATURES`."""
    ends = [end for end in way.ends if not end.returning] or way.ends
    return (
        float(len(ends) == 1),
        kinds.dates(ends) * (not kinds.asks_when(masked)),
        kinds.values(ends) * kinds.asks_whom(masked),
        float(way.named_between),
    )


UNUSED_TOPIC_LOGIT = -6.0
"""Logarithm of how likely it is that a topic entity plays no part in the answer."""

HOP_LOGIT = -1.0
"""What each hop counts where there are several topics: what one chain says, another need not say again."""

MAX_TOPICS = 8
"""Topic entities that may play a part, at most: the first ones."""

MAX_COMBINATIONS = 1_000
"""Combinations that are looked at, at most; of each topic as many of the best ways as that allows."""


@dataclass(frozen=True)
class RatedChain:
    """A way and the logarithm of its share among those from its topic."""

    way: CandidateChain
    share: float

    @cached_property
    def ends(self) -> frozenset[Term]:
        """What the way leads to."""
        return frozenset(end.term for end in self.way.ends)


class ChainCombination(NamedTuple):
    """The ways that were chosen, and the share of this choice among all that are possible."""

    ways: Mapping[Entity, CandidateChain]
    confidence: float


def combine_chains(rated: Mapping[Entity, Sequence[RatedChain]], *, apart: bool) -> ChainCombination | None:
    """Choose the likeliest ways whose ends have something in common.

    A topic may play no part, though not every one. ``apart``, for comparisons: the ways go the same
    from every topic where they can, and their ends need not meet. None where there is no way at all.
    """
    rated = dict(islice(rated.items(), MAX_TOPICS))
    choices = list(_combinations(rated, apart))
    if apart:
        choices = [chosen for chosen in choices if _same_hops(chosen)] or choices
    possible = [(sum(map(_weight if len(rated) > 1 else _share, chosen)), chosen) for chosen in choices]
    if not possible:
        return None
    shares = np.exp(np.array([total for total, _ in possible]) - max(total for total, _ in possible))
    best = int(np.argmax(shares))
    ways = {each.way.chain.topic: each.way for each in possible[best][1] if each.way.chain.hops}
    return ChainCombination(ways, float(shares[best] / shares.sum()))


def _combinations(
    rated: Mapping[Entity, Sequence[RatedChain]], apart: bool
) -> Iterator[tuple[RatedChain, ...]]:
    several = len(rated) > 1
    most = max(1, int(MAX_COMBINATIONS ** (1 / max(1, len(rated)))) - several)
    offered = [sorted(ways, key=lambda each: -each.share)[:most] for ways in rated.values()]
    none = [[_unused_topic(topic)] if several or not ways else [] for topic, ways in rated.items()]
    for chosen in product(*(ways + left for ways, left in zip(offered, none, strict=True))):
        taken = [each for each in chosen if each.way.chain.hops]
        if taken and (apart or _have_common_end(taken)):
            yield chosen


def _unused_topic(topic: Entity) -> RatedChain:
    return RatedChain(CandidateChain(Chain(topic), (), False), UNUSED_TOPIC_LOGIT)


def _share(rated: RatedChain) -> float:
    return rated.share


def _weight(rated: RatedChain) -> float:
    return rated.share + HOP_LOGIT * rated.way.chain.depth


def _same_hops(chosen: Sequence[RatedChain]) -> bool:
    return len({each.way.chain.hops for each in chosen}) == 1


def _have_common_end(taken: Sequence[RatedChain]) -> bool:
    """Return whether ways have an end in common, as far as their ends are known."""
    known = [each.ends for each in taken if not each.way.truncated]
    return len(known) < 2 or bool(frozenset.intersection(*known))
