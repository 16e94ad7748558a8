"""Ranks candidates by a blueprint (CoG §3.2.2, equations 4 to 6), or by the words of a question (BM25).

The entropy filter of VoG (appendix A.2, equations 5 to 8) says how many of them are worth keeping.
Similarities are cosines of an encoder's vectors. Steps and slots count from 0 here, from 1 in the papers.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Hop
from kgqa.priors.encoder import Vectors

Similarities = npt.NDArray[np.float32]
Scores = Sequence[float] | npt.NDArray[np.floating]
WEIGHT_DECIMALS = 6  # decimals of a weight: in those after, two products of equal rows may differ
ENTROPY_DECIMALS = 9  # decimals of an entropy that count: 1 must not come out as a little less


def relation_words(name: str) -> str:
    """Write the name of a relation as the encoder reads it: h() of CoG.

    >>> relation_words("film.director.film_s")
    'film director film s'
    """
    return " ".join(name.replace(".", " ").replace("_", " ").split())


def hop_words(hops: Iterable[Hop]) -> str:
    """Write hops as the encoder reads them, one after the other."""
    return " ".join(relation_words(hop.words) for hop in hops)


class SignalWeights(NamedTuple):
    """What each of the three signals counts; they need not add up to 1 (CoG equation 6)."""

    local: float
    step: float
    glob: float


class RelationSignals(NamedTuple):
    """The signals of CoG equation 5, each of shape (relations,); None for one that is missing."""

    local: Similarities | None  # similarity to the subgoal (5a)
    step: Similarities | None = None  # similarity to the slot that the step is aligned to (5b)
    glob: Similarities | None = None  # similarity to the slot that is most similar (5c)

    def fuse(self, weights: SignalWeights) -> Similarities:
        """Return the weighted mean of the signals that are there, shape (relations,) (CoG equation 6).

        The weights of those that are there, at least one, are made to add up to 1; where they add up
        to 0, every score is 0.
        """
        there = [(weight, signal) for weight, signal in zip(weights, self, strict=True) if signal is not None]
        if not there:
            raise ValueError("at least one signal is needed")
        total = sum(weight for weight, _ in there)
        fused = sum((weight * signal for weight, signal in there), np.zeros_like(there[0][1]))
        return np.asarray(fused / total if total else fused, np.float32)


def align_steps(similarities: Similarities, passed: Sequence[int] = ()) -> list[int]:
    """Align each step with a slot of the blueprint (CoG equation 4).

    The slot is the one most similar to the step's subgoal among those from the slot of the step
    before on; the first of equals. Steps beyond the last slot stay at it.

    ``similarities`` are of subgoals to slots, shape (steps, slots). ``passed`` says how many slots lie
    behind a chain before each step, as far as that is known: a slot whose relation the chain has taken is
    not waited at again. (The paper has no such rule; without it, the nodes after an unnamed one, at which
    the subgoal is still the same, could never be aligned with the next slot.)
    """
    steps, slots = similarities.shape
    aligned: list[int] = []
    for step in range(steps):
        before = aligned[-1] if aligned else 0
        least = min(max(before, passed[step] if step < len(passed) else 0), slots - 1)
        best = least + int(np.argmax(similarities[step, least:]))
        aligned.append(slots - 1 if step >= slots else best)
    return aligned


def similarity_to_suggestions(candidates: Vectors, suggested: Vectors) -> npt.NDArray[np.float64]:
    """Return the weight of each candidate: its similarity to the nearest suggestion (VoG equation 5)."""
    return np.asarray((candidates @ suggested.T).max(axis=1), np.float64).round(WEIGHT_DECIMALS)


def bm25_scores(texts: Sequence[str], query: str) -> list[float]:
    """Return the BM25 score of each text (Robertson and Zaragoza 2009), divided by the largest.

    All are 0 where no word is shared.

    >>> bm25_scores(["place of birth", "film director"], "Who is the director of this film?")
    [0.0, 1.0]
    """
    import bm25s

    corpus = bm25s.tokenize(list(texts), stopwords="en", show_progress=False)
    words = bm25s.tokenize(query, stopwords="en", return_ids=False, show_progress=False)[0]
    if not corpus.vocab or not words:
        return [0.0] * len(texts)
    index = bm25s.BM25()
    index.index(corpus, show_progress=False)
    scores = [round(float(score), 6) for score in index.get_scores(words)]
    most = max(scores)
    return [score / most if most > 0 else 0.0 for score in scores]


def softmax(weights: Scores, temperature: float) -> npt.NDArray[np.float64]:
    """Turn weights into probabilities (VoG equation 6).

    The paper has no temperature, that is, 1. Cosines then are nearly uniform, and the
    width is always the same.
    """
    if not temperature > 0:
        raise ValueError(f"a temperature must be above 0, not {temperature}")
    scaled = np.asarray(weights, np.float64) / temperature
    powers = np.exp(scaled - scaled.max(initial=-np.inf))
    return np.asarray(powers / powers.sum(), np.float64)


def normalised_entropy(p: Scores) -> float:
    """Return the entropy of probabilities as a share of the largest it could be (VoG equation 7)."""
    shares = np.asarray(p, np.float64)
    if len(shares) < 2:  # the equation divides by 0
        return 0.0
    likely = shares[shares > 0]
    entropy = -float(likely @ np.log(likely)) / math.log(len(shares))
    return min(max(round(entropy, ENTROPY_DECIMALS), 0.0), 1.0)


def adaptive_width(weights: Scores, k_min: int, k_max: int, temperature: float) -> int:
    """Return the number of candidates to keep, from ``k_min`` to ``k_max`` (VoG equations 6 to 8).

    As in the paper, it is ``k_min`` even where there are fewer candidates than that.
    """
    entropy = normalised_entropy(softmax(weights, temperature))
    return max(k_min, min(math.floor(k_min + (k_max - k_min) * entropy), len(weights)))


def select_candidates(weights: Scores, k_min: int, k_max: int, temperature: float) -> list[int]:
    """Return the places of the candidates to keep (VoG algorithm 1).

    They are those with the largest weights, best first, the first of equals first; all where there are
    at most ``k_max`` candidates.
    """
    width = adaptive_width(weights, k_min, k_max, temperature) if len(weights) > k_max else None
    return sorted(range(len(weights)), key=lambda place: -float(weights[place]))[:width]
