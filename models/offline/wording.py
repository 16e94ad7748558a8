"""How well a relation chain says a question, from likeness of words alone.

Three things count: how well words of the question say the hops of the chain, in their order
(`reading`, `aligning`); how alike the question as a whole is to all of the hops; and how
usual the turns of the chain are.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kgqa.kg.terms import Hop
from kgqa.models.offline.aligning import UNSAID, Values, aligned, begun, whole
from kgqa.models.offline.reading import read
from kgqa.models.offline.sides import told
from kgqa.models.offline.stems import shared_stems
from kgqa.models.offline.turns import by_length, costs, groupings, pairing, twice, unit
from kgqa.models.offline.words import Encode, spoken
from kgqa.priors.blueprints import MASK

Scores = npt.NDArray[np.float32]

SHARP = 1.5
"""Power of likenesses: one word that says a hop well counts more than some that do a little."""

STEM = 0.6
"""Part of the way to full likeness that words of one stem are taken."""

QUESTION = 0.5
"""What the likeness of the whole question counts."""

_COMPANY = re.compile(r"\b(same|also|others|else|together|co|shares?|another|both|common)\b", re.IGNORECASE)


def relation_texts(label: str) -> tuple[str, ...]:
    """Give what a relation is compared by, all of it counting alike: what to teach an encoder.

    >>> relation_texts("film.film.directed_by"), relation_texts("officialLanguage")
    (('film directed', 'directed'), ('official language',))
    """
    texts = dict.fromkeys(told(spoken(part)) for part in (label, label.split(".")[-1]))
    return tuple(text for text in texts if text) or (label,)


class Wording:
    """One question about an entity; may be used from several threads.

    Args:
        masked: the question, the entity as `kgqa.priors.blueprints.MASK`.
        encode: a sentence encoder; called here with the parts of the question, and in both
            methods with the texts of relations.
    """

    def __init__(self, masked: str, encode: Encode) -> None:
        self._encode = encode
        self._orders = read(masked)
        self._spans = sorted({span for order in self._orders for spans in order.spans for span in spans})
        self._columns = {span: at for at, span in enumerate(self._spans)}
        rows = encode([*self._spans, masked.replace(MASK, "it")])
        self._parts, self._question = rows[:-1], rows[-1]
        self._company = _COMPANY.search(masked) is not None

    def hops(self, before: Sequence[Hop], offered: Sequence[Hop]) -> Scores:
        """Tell how well each hop follows ``before``, whatever comes after it: shape (offered,)."""
        return self._scores([(*before, hop) for hop in offered], over=False)

    def chains(self, chains: Sequence[Sequence[Hop]]) -> Scores:
        """Tell how well each whole chain says the question: shape (chains,).

        Chains of any length can be compared; 1 is about what a well-said hop is worth.
        """
        return self._scores(chains, over=True)

    def _scores(self, chains: Sequence[Sequence[Hop]], *, over: bool) -> Scores:
        steps = sorted({(hop.words, hop.forward) for chain in chains for hop in chain})
        row = {step: at for at, step in enumerate(steps)}
        vectors, stems = self._known(steps)
        scores = np.zeros(len(chains), np.float32)
        for places in by_length(chains):
            alike = [chains[place] for place in places]
            rows = np.array([[row[hop.words, hop.forward] for hop in chain] for chain in alike])
            said = self._aligned(vectors[rows], stems[rows], twice(alike), over)
            scores[places] = said + self._likeness(vectors[rows]) - costs(alike, company=self._company)
        return scores

    def _known(self, steps: Sequence[tuple[str, bool]]) -> tuple[Values, Values]:
        """Give vectors of hops, and how far they share stems with each part of the question.

        A hop against its arrow ends at what the relation's name begins with.
        """
        texts = [relation_texts(label)[: None if forward else 1] for label, forward in steps]
        known = sorted({text for each in texts for text in each})
        rows = dict(zip(known, self._encode(known), strict=True))
        vectors = [np.sum([rows[text] for text in each], axis=0) for each in texts]
        return unit(np.array(vectors, np.float64)), shared_stems([each[-1] for each in texts], self._spans)

    def _aligned(self, hops: Values, stems: Values, forbidden: Values, over: bool) -> Values:
        """Align words with hops, or with two hops together: shape (chains,)."""
        best = np.full(len(hops), -np.inf)
        for groups in groupings(hops.shape[1]):
            units = unit(np.stack([hops[:, group].sum(axis=1) for group in groups], axis=1))
            like = np.maximum(units @ self._parts.T, 0.0)
            same = np.stack([stems[:, group].max(axis=1) for group in groups], axis=1)
            like = np.minimum(like + STEM * same * (1 - like), 1.0) ** SHARP
            said = self._ordered(like, over)
            for pair in (group for group in groups if len(group) > 1):
                said = said - pairing(hops[:, pair]) - forbidden[:, pair[0]]
            best = np.maximum(best, said)
        return best

    def _ordered(self, like: Values, over: bool) -> Values:
        """Take the better order of words: shape (chains,)."""
        if not self._orders:
            return np.full(len(like), -UNSAID * (like.shape[1] - 1))
        said = [(aligned(like, order, self._columns), order) for order in self._orders]
        values = [whole(each) if over else begun(each, order) for each, order in said]
        return np.asarray(np.max(values, axis=0))

    def _likeness(self, hops: Values) -> Values:
        return np.asarray(QUESTION * (unit(hops.sum(axis=1)) @ self._question))
