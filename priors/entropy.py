"""How many candidates to keep: fewer where some stand out (VoG appendix A.2, equations 5 to 8)."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa.priors.encoder import Vectors

Numbers = Sequence[float] | npt.NDArray[np.floating]

DIGITS = 6
"""Decimals of a weight: in those after, two products of equal rows may differ."""

_EXACT = 9
"""Decimals of an entropy that count: 1 must not come out as a little less."""


def likeness(candidates: Vectors, suggested: Vectors) -> npt.NDArray[np.float64]:
    """Give the weight of each candidate: its likeness to the suggestion most like it (equation 5).

    Args:
        candidates: unit vectors, shape (candidates, dimensions).
        suggested: unit vectors of at least one suggestion, shape (suggestions, dimensions).

    Returns:
        Weights, shape (candidates,).
    """
    return np.asarray((candidates @ suggested.T).max(axis=1), np.float64).round(DIGITS)


def softmax(weights: Numbers, temperature: float) -> npt.NDArray[np.float64]:
    """Turn weights into probabilities (equation 6).

    The paper has no temperature, that is, 1. Cosines then are nearly uniform, and the
    width is always the same.

    Raises:
        ValueError: the temperature is not above 0.
    """
    if not temperature > 0:
        raise ValueError(f"a temperature must be above 0, not {temperature}")
    scaled = np.asarray(weights, np.float64) / temperature
    powers = np.exp(scaled - scaled.max(initial=-np.inf))
    return np.asarray(powers / powers.sum(), np.float64)


def normalised_entropy(p: Numbers) -> float:
    """Give the entropy of probabilities as a share of the largest it could be (equation 7).

    0 for one outcome or none, where equation 7 divides by 0.
    """
    shares = np.asarray(p, np.float64)
    if len(shares) < 2:
        return 0.0
    likely = shares[shares > 0]
    entropy = -float(likely @ np.log(likely)) / math.log(len(shares))
    return min(max(round(entropy, _EXACT), 0.0), 1.0)


def adaptive_width(weights: Numbers, k_min: int, k_max: int, temperature: float) -> int:
    """Give the number of candidates to keep, from ``k_min`` to ``k_max`` (equations 6 to 8).

    As in the paper, it is ``k_min`` even where there are fewer candidates than that.
    """
    entropy = normalised_entropy(softmax(weights, temperature))
    return max(k_min, min(math.floor(k_min + (k_max - k_min) * entropy), len(weights)))


def kept(weights: Numbers, k_min: int, k_max: int, temperature: float) -> list[int]:
    """Give the places of the candidates to keep (algorithm 1).

    Returns:
        The places of those with the largest weights, best first, the first of equals first.
        All places as they come where there are at most ``k_max`` candidates.
    """
    places = range(len(weights))
    if len(weights) <= k_max:
        return list(places)
    width = adaptive_width(weights, k_min, k_max, temperature)
    return sorted(places, key=lambda place: -float(weights[place]))[:width]
