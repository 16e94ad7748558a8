"""The entropy filter of VoG (appendix A.2, equations 5 to 8): how many candidates are worth keeping."""

import math

import numpy as np
import numpy.typing as npt

from kgqa.priors.candidate_ranking import Scores

_ENTROPY_DECIMALS = 9  # decimals of an entropy that count: 1 must not come out as a little less


def softmax(weights: Scores, temperature: float) -> npt.NDArray[np.float64]:
    """Turn weights into probabilities (VoG equation 6).

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


def normalised_entropy(p: Scores) -> float:
    """Return the entropy of probabilities as a share of the largest it could be (VoG equation 7).

    0 for one outcome or none, where equation 7 divides by 0.
    """
    shares = np.asarray(p, np.float64)
    if len(shares) < 2:
        return 0.0
    likely = shares[shares > 0]
    entropy = -float(likely @ np.log(likely)) / math.log(len(shares))
    return min(max(round(entropy, _ENTROPY_DECIMALS), 0.0), 1.0)


def adaptive_width(weights: Scores, k_min: int, k_max: int, temperature: float) -> int:
    """Return the number of candidates to keep, from ``k_min`` to ``k_max`` (VoG equations 6 to 8).

    As in the paper, it is ``k_min`` even where there are fewer candidates than that.
    """
    entropy = normalised_entropy(softmax(weights, temperature))
    return max(k_min, min(math.floor(k_min + (k_max - k_min) * entropy), len(weights)))


def select_candidates(weights: Scores, k_min: int, k_max: int, temperature: float) -> list[int]:
    """Return the places of the candidates to keep (VoG algorithm 1).

    They are those with the largest weights, best first, the first of equals first; all places
    as they come where there are at most ``k_max`` candidates.
    """
    places = range(len(weights))
    if len(weights) <= k_max:
        return list(places)
    width = adaptive_width(weights, k_min, k_max, temperature)
    return sorted(places, key=lambda place: -float(weights[place]))[:width]
