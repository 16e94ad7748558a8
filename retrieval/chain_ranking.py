"""Ranks candidate chains, and combines those of several topic entities.

A chain's score is a weighted sum of features. The weights were fitted by
``benchmarks/_offline_weights.py`` on training parts of MetaQA, PathQuestion, the sample,
and the part of the WebQSP slice that is called train; that of ``undated``, and what several topics count,
were chosen on these and on the part of CWQ's slice that is called train.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgqa.kg.proof.values import kind_of
from kgqa.kg.terms import Chain, Entity, Literal
from kgqa.retrieval.candidate_chains import (
    CandidateChain,
    InverseRelations,
    TrainingAdvice,
    fresh_ends,
    log_likelihood,
)
from kgqa.retrieval.wording import Encode, FloatArray, relation_phrase


class Feature(NamedTuple):
    """The part of the model that a feature belongs to, and its weight by what there is to learn from."""

    part: str
    with_hop_model: float
    with_nearest: float  # where there are the nearest questions alone
    untrained: float


FEATURES = {
    # log-likelihood and likelihood by the hop model
    "learned": Feature("hops", 0.51, 0.0, 0.0),
    "sure": Feature("hops", 3.55, 0.0, 0.0),
    # logarithm of the votes of the nearest questions for chains in similar words
    "votes": Feature("nearest", 0.0, 2.54, 0.0),
    # similarity of question and hops
    "whole": Feature("words", 10.96, 0.0, 1.78),
    # how well the chain says the question's words in order; the same, as far as training tells nothing
    "said": Feature("words", 0.84, 5.37, 7.66),
    "alone": Feature("words", 12.5, 20.18, 0.0),
    # a single end; share of dates where none is asked for; of values where somebody or a place is
    "one": Feature("kinds", -1.94, -0.58, -0.82),
    "date": Feature("kinds", -4.88, -11.61, -4.89),
    "thing": Feature("kinds", -0.04, -0.9, -2.01),
    # named nodes between
    "named": Feature("kinds", -0.18, 0.0, 0.0),
    # share of ends without a date or year, where one is asked for
    "undated": Feature("kinds", -4.0, -4.0, -4.0),
}
"""What speaks for and against a chain."""

MIN_VOTE = 1e-4  # what no vote at all counts as
MAX_TOPICS = 8  # topic entities that may play a part, at most: the first ones
_CHAIN_VOTE_SHARPNESS = 20.0  # how much more a chain in similar words counts
_MAX_TYPED_ENDS = 12  # ends whose kind is looked at
# with several topics
_UNUSED_TOPIC_LOGIT = -8.0  # logarithm of how likely a topic entity plays no part in the answer
_HOP_LOGIT = -1.0  # of each hop: what one chain says, another need not say again
_NAMED_END_LOGIT = -8.0  # of each topic among the answers: nobody asks for what the question names
_BEST_LOGIT_WEIGHT = 0.3  # of the chain that answers best: shares of different topics do not tell which
_MAX_COMBINATIONS = 1_000  # that are looked at; of each topic as many of the best chains as that allows

_WHEN = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:year|date|day|time|month)\b|\bbirth ?(?:day|date)\b", re.IGNORECASE
)
_WHO_OR_WHERE = re.compile(r"\b(?:who|whom|whose|where)\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
_DATE = re.compile(r"-?\d{4}(?:-\d\d(?:-\d\d)?)?(?:$|T)")


def score_chains(
    masked: str,
    candidates: Sequence[CandidateChain],
    advice: TrainingAdvice,
    said: npt.NDArray[np.floating],
    encode: Encode,
    without: frozenset[str],
    inverses: InverseRelations,
) -> FloatArray:
    """Return the logit of each chain being the question's: shape (chains,); their softmax is the confidence.

    ``said`` is from `QuestionWording.chains`; ``without`` are parts of `FEATURES` to leave out.
    """
    column = 1 if advice.hops else 2 if advice.nearest else 3
    weights = [row[column] * (row.part not in without) for row in FEATURES.values()]
    table = chain_features(masked, candidates, advice, said, encode, inverses)
    return np.asarray(table @ np.array(weights, np.float64), np.float64)


def chain_features(
    masked: str,
    candidates: Sequence[CandidateChain],
    advice: TrainingAdvice,
    said: npt.NDArray[np.floating],
    encode: Encode,
    inverses: InverseRelations,
) -> FloatArray:
    """Return what speaks for each chain, in the order of `FEATURES`: shape (chains, features)."""
    chains = [tuple(map(inverses.slot, each.chain.hops)) for each in candidates]
    learned = [log_likelihood((*chain, None), advice.hops) for chain in chains]
    relations = [[slot.relation for slot in chain] for chain in chains]
    columns = [
        learned,
        np.exp(learned),
        _chain_votes(relations, advice, encode),
        _relation_similarities(masked, candidates, encode),
        said,
        said * (1 - advice.best),
        *zip(*(_end_features(masked, each) for each in candidates), strict=True),
    ]
    return np.array(columns, np.float64).T


def _chain_votes(chains: Sequence[Sequence[str]], advice: TrainingAdvice, encode: Encode) -> FloatArray:
    if not advice.nearest:
        return np.zeros(len(chains))
    weights = np.array(advice.votes)
    near = [[slot.relation for slot in each.exemplar.chain] for each in advice.nearest]
    rows = _chain_vectors([*chains, *near], encode)
    alike = rows[: len(chains)] @ rows[len(chains) :].T
    votes = np.exp(_CHAIN_VOTE_SHARPNESS * (alike - 1)) @ (weights / weights.sum())
    return np.asarray(np.log(votes + MIN_VOTE), np.float64)


def _relation_similarities(masked: str, candidates: Sequence[CandidateChain], encode: Encode) -> list[float]:
    """Return the similarity of the question to each candidate, the best of its equal chains."""
    chains = [[hop.words for hop in chain.hops] for each in candidates for chain in each.chains]
    similarity = iter(_chain_vectors(chains, encode) @ encode([masked])[0])
    return [max(map(float, islice(similarity, len(each.chains)))) for each in candidates]


def _chain_vectors(chains: Sequence[Sequence[str]], encode: Encode) -> FloatArray:
    """Return the direction of the sum of the relations of each chain: shape (chains, dimensions)."""
    phrases = [[relation_phrase(relation) for relation in chain] for chain in chains]
    names = sorted({phrase for each in phrases for phrase in each})
    rows = dict(zip(names, encode(names), strict=True))
    sums = np.array([np.sum([rows[phrase] for phrase in each], axis=0) for each in phrases])
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.maximum(lengths, 1e-9), np.float64)


def _end_features(masked: str, candidate: CandidateChain) -> tuple[float, ...]:
    """Return what the ends and the nodes between say, from ``one`` on in `FEATURES`."""
    ends = fresh_ends(candidate.ends)
    terms = [end.term for end in ends[:_MAX_TYPED_ENDS]]
    values = [term.value for term in terms if isinstance(term, Literal)]
    dates = [value for value in values if _DATE.match(value)]
    undated = [term for term in terms if not (_YEAR.search(str(term)) or kind_of(term) == "date")]
    when = asks_when(masked)
    return (
        float(len(ends) == 1),
        len(dates) / max(1, len(terms)) * (not when),
        len(values) / max(1, len(terms)) * (_WHO_OR_WHERE.search(masked) is not None),
        float(candidate.named_between),
        len(undated) / max(1, len(terms)) * when,
    )


def asks_when(question: str) -> bool:
    """Return whether a question asks for a date or a year."""
    return _WHEN.search(question) is not None


class ChainCombination(NamedTuple):
    """The chains that were chosen, and the share of this choice among all that are possible."""

    chains: Mapping[Entity, CandidateChain]
    confidence: float


def combine_chains(
    rated: Mapping[Entity, Sequence[CandidateChain]], *, apart: bool
) -> ChainCombination | None:
    """Choose the likeliest chains whose ends have something in common; None where there is no chain."""
    return next(iter(rank_combinations(rated, apart=apart, most=1)), None)


def rank_combinations(
    rated: Mapping[Entity, Sequence[CandidateChain]], *, apart: bool, most: int
) -> list[ChainCombination]:
    """Return the likeliest choices of chains whose ends have something in common, the best first.

    A topic may play no part, though not every one. ``apart``, for comparisons: the chains go the same
    from every topic where they can, and their ends need not meet.
    """
    rated = dict(islice(rated.items(), MAX_TOPICS))
    choices = list(_combinations(rated, apart))
    if apart:  # one sequence of hops from every topic
        choices = [chosen for chosen in choices if len({each.chain.hops for each in chosen}) == 1] or choices
    if not choices:
        return []
    between = {chain: each for found in rated.values() for each in found for chain in each.chains}
    totals = np.array([_total(chosen, {} if apart else between, apart) for chosen in choices])
    shares = np.exp(totals - totals.max())
    shares /= shares.sum()
    best = np.argsort(-shares, kind="stable")[:most]
    used = ({each.chain.topic: each for each in choices[at] if each.chain.depth} for at in best)
    return [ChainCombination(chains, float(shares[at])) for chains, at in zip(used, best, strict=True)]


def _total(chosen: Sequence[CandidateChain], between: Mapping[Chain, CandidateChain], apart: bool) -> float:
    """Return the logit of a choice of one chain from each topic; ``between`` may lead from one to another."""
    total = sum(_joined_share(each, chosen, between) for each in chosen)
    if len(chosen) == 1:
        return total
    total += _HOP_LOGIT * sum(each.chain.depth for each in chosen)
    if apart:
        return total
    used = [each for each in chosen if each.chain.depth]
    named = frozenset.intersection(*(each.terms for each in used)) & {each.chain.topic for each in chosen}
    return total + _NAMED_END_LOGIT * len(named) + _BEST_LOGIT_WEIGHT * max(each.logit for each in used)


def _joined_share(
    one: CandidateChain, chosen: Sequence[CandidateChain], between: Mapping[Chain, CandidateChain]
) -> float:
    """Return the share of a chain; or of the one by which it goes on to another topic, if that is likelier.

    A question of two topics may be said by the chain from one to the other, and ask for a node on it.
    """
    shares = [one.share]
    for other in chosen if one.chain.depth else ():
        if other is not one and other.chain.depth:
            back = tuple(hop.inverse for hop in reversed(other.chain.hops))
            whole = between.get(Chain(one.chain.topic, (*one.chain.hops, *back)))
            if whole and other.chain.topic in whole.terms:
                shares.append(whole.share)
    return max(shares)


def _combinations(
    rated: Mapping[Entity, Sequence[CandidateChain]], apart: bool
) -> Iterator[tuple[CandidateChain, ...]]:
    several = len(rated) > 1
    most = max(1, int(_MAX_COMBINATIONS ** (1 / max(1, len(rated)))) - several)
    offered = []
    for topic, chains in rated.items():
        unused = CandidateChain(Chain(topic), share=_UNUSED_TOPIC_LOGIT)
        best = sorted(chains, key=lambda each: -each.share)[:most]
        offered.append([*best, unused] if several or not chains else best)
    for chosen in product(*offered):
        used = [each for each in chosen if each.chain.depth]
        if used and (apart or _have_common_end(used)):
            yield chosen


def _have_common_end(chains: Sequence[CandidateChain]) -> bool:
    """Return whether chains have an end in common, as far as their ends are known."""
    known = [each.terms for each in chains if not each.truncated]
    return len(known) < 2 or bool(frozenset.intersection(*known))
