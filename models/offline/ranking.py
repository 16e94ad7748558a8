"""Which of several ways is the question's: a weighted sum of what speaks for each.

The weights were fitted by ``benchmarks/_offline_weights.py`` on training parts of MetaQA,
PathQuestion, the sample, and the part of the WebQSP slice that is called train.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Hop
from kgqa.models.offline import kinds
from kgqa.models.offline.mirrors import Mirrors
from kgqa.models.offline.ways import FLOOR, Advice, Way
from kgqa.models.offline.words import Encode, spoken
from kgqa.priors.blueprints import Slot

Logits = npt.NDArray[np.float64]

KINSHIP = 20.0
"""How much more a chain in like words counts, in the same way."""

NONE = 1e-4
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

LEARNED = {
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

VOTED = {
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

UNLEARNED = {
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


def score(
    masked: str,
    ways: Sequence[Way],
    advice: Advice,
    said: npt.NDArray[np.floating],
    encode: Encode,
    without: frozenset[str] = frozenset(),
    mirrors: Mirrors | None = None,
) -> Logits:
    """Give the logit of each way being the question's: shape (ways,); their softmax is the confidence.

    Args:
        masked: the question, with ``[ENT]`` for the topic entity.
        ways: those to choose from.
        advice: what training questions say.
        said: how well each way says the question, from `Wording.chains`: shape (ways,).
        encode: a sentence encoder; blocks.
        without: parts of `FEATURES` to leave out.
        mirrors: relations of the graph that are each other's reverse.
    """
    weights = LEARNED if advice.hops else VOTED if advice.nearest else UNLEARNED
    table = features(masked, ways, advice, said, encode, mirrors or Mirrors({}))
    kept = [weights.get(name, 0.0) * (part not in without) for name, (part, _) in FEATURES.items()]
    return np.asarray(table @ np.array(kept), np.float64)


def features(
    masked: str,
    ways: Sequence[Way],
    advice: Advice,
    said: npt.NDArray[np.floating],
    encode: Encode,
    mirrors: Mirrors,
) -> Logits:
    """Give what speaks for each way, in the order of `FEATURES`: shape (ways, features)."""
    chains = [tuple(map(mirrors.slot, way.chain.hops)) for way in ways]
    learned = [_learned(chain, advice) for chain in chains]
    columns = [
        [sum(logs) for logs in learned],
        [np.exp(sum(logs)) for logs in learned],
        _votes(chains, advice, encode),
        _likeness(masked, ways, encode),
        said,
        said * (1 - advice.best),
        *zip(*(_kind(masked, way) for way in ways), strict=True),
    ]
    return np.array(columns, np.float64).T


def _learned(chain: tuple[Slot, ...], advice: Advice) -> list[float]:
    """Give the log-likelihood of each hop and of the chain's being over after them."""
    if not advice.hops:
        return [0.0]
    steps = (*chain, None)[: len(advice.hops)]
    return [max(FLOOR, logs.get(step, FLOOR)) for step, logs in zip(steps, advice.hops, strict=False)]


def _votes(chains: Sequence[tuple[Slot, ...]], advice: Advice, encode: Encode) -> Logits:
    if not advice.nearest:
        return np.zeros(len(chains))
    weight = np.array(advice.votes)
    rows = _vectors([*chains, *(near.exemplar.chain for near in advice.nearest)], encode)
    alike = rows[: len(chains)] @ rows[len(chains) :].T
    votes = np.exp(KINSHIP * (alike - 1)) @ (weight / weight.sum())
    return np.asarray(np.log(votes + NONE), np.float64)


def _likeness(masked: str, ways: Sequence[Way], encode: Encode) -> list[float]:
    """Give the likeness of the question to each way, the best of its chains."""
    chains = [[_slots(chain.hops) for chain in way.chains] for way in ways]
    likeness = iter(_vectors([chain for group in chains for chain in group], encode) @ encode([masked])[0])
    return [max(float(next(likeness)) for _ in group) for group in chains]


def _slots(hops: Sequence[Hop]) -> tuple[Slot, ...]:
    return tuple(Slot(hop.words, hop.forward) for hop in hops)


def _vectors(chains: Sequence[tuple[Slot, ...]], encode: Encode) -> npt.NDArray[np.float64]:
    """Give the direction of the sum of the hops of each chain: shape (chains, dimensions)."""
    names = sorted({spoken(slot.relation) for chain in chains for slot in chain})
    rows = dict(zip(names, encode(names), strict=True))
    sums = np.array([np.sum([rows[spoken(slot.relation)] for slot in chain], axis=0) for chain in chains])
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.maximum(lengths, 1e-9), np.float64)


def _kind(masked: str, way: Way) -> tuple[float, ...]:
    """Give what the ends and the nodes between say, from ``one`` to ``named`` of `FEATURES`."""
    ends = [end for end in way.ends if not end.returning] or way.ends
    return (
        float(len(ends) == 1),
        kinds.dates(ends) * (not kinds.asks_when(masked)),
        kinds.values(ends) * kinds.asks_whom(masked),
        float(way.named_between),
    )
