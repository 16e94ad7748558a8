"""Exemplars that are open: those nearest to a question, and what was learned from all of them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kgqa.kg.asked import Asked
from kgqa.priors.blueprints.templates import Encode
from kgqa.priors.exemplars import records
from kgqa.priors.exemplars.building import MODEL, RECORDS
from kgqa.priors.exemplars.errors import ExemplarError
from kgqa.priors.exemplars.exemplar import Exemplar, HopScores, Near
from kgqa.priors.exemplars.grams import Floats, Row
from kgqa.priors.exemplars.header import KIND, Header, read_header
from kgqa.priors.exemplars.model import Model, kinds_of, slots_of, unpack

DIGITS = 6
"""Decimals by which likenesses are compared, so that the same text is as near on any machine."""


class Exemplars:
    """Exemplars and what was learned from them; may be used from several threads at once.

    Args:
        header: what they are.
        exemplars: in the order of the model's vectors.
        model: learned from them.
        encode: turns texts into unit vectors; blocks.
    """

    def __init__(self, header: Header, exemplars: tuple[Exemplar, ...], model: Model, encode: Encode) -> None:
        self.header, self.exemplars = header, exemplars
        self._model, self._encode = model, encode
        self._slots, self._kinds = slots_of(exemplars), kinds_of(exemplars)
        self._weights = np.array([each.weight for each in exemplars])

    @property
    def encoder(self) -> str:
        """The name of the encoder that the vectors are from."""
        return self.header.encoder

    @property
    def fingerprint(self) -> str:
        """Tell these exemplars from any others."""
        return self.header.records

    def nearest(self, masked: str, k: int) -> list[Near]:
        """Give the ``k`` exemplars most alike to a masked question, best first; blocks.

        Of those equally alike (to six decimals) first what stands for more questions, then
        in the order of the texts.

        Raises:
            ExemplarError: if the encoder's vectors are not as long as the exemplars'.
        """
        likeness = np.round(self._model.likeness(*self._read(masked)), DIGITS)
        best = np.lexsort((-self._weights, -likeness))[:k]
        return [Near(self.exemplars[place], min(1.0, float(likeness[place]))) for place in best]

    def hops(self, masked: str) -> HopScores:
        """Give the log-probabilities of what is at each position of the chain; blocks.

        The last position is that after the longest chain.

        Raises:
            ExemplarError: as `nearest`.
        """
        row, vector = self._read(masked)
        heads = self._model.heads[:-1]
        logs = [head.logs(row, vector).tolist() for head in heads]
        found = [dict(zip(slots, each, strict=True)) for slots, each in zip(self._slots, logs, strict=True)]
        return (*found, {None: 0.0})

    def asked(self, masked: str) -> Mapping[Asked, float]:
        """Give the probability of each kind of asking that there was in training; blocks.

        Raises:
            ExemplarError: as `nearest`.
        """
        shares = np.exp(self._model.heads[-1].logs(*self._read(masked)))
        return dict(zip(self._kinds, shares.tolist(), strict=True))

    def _read(self, masked: str) -> tuple[Row, Floats]:
        (vector,) = self._encode([masked])
        if len(vector) != self.header.dimensions:
            raise ExemplarError(
                f"the encoder gives {len(vector)} numbers for a text, the exemplars have "
                f"{self.header.dimensions}; build them again with this encoder"
            )
        return self._model.vocabulary.row(masked), vector


def open_exemplars(folder: Path, encode: Encode, encoder_name: str) -> Exemplars:
    """Open exemplars (blocking).

    Args:
        folder: where they are.
        encode: turns texts into unit vectors.
        encoder_name: the name of the encoder.

    Raises:
        ExemplarError: if they are missing, foreign, damaged, or built with another encoder.
    """
    header = read_header(folder)
    KIND.check_encoder(folder, header.encoder, encoder_name)
    lines, packed = KIND.read(folder, {RECORDS: header.records, MODEL: header.model})
    try:
        exemplars = records.read(lines)
        model = unpack(packed, exemplars)
    except ValueError:
        raise KIND.damaged(folder) from None
    if model.vectors.shape != (len(exemplars), header.dimensions):
        raise KIND.damaged(folder)
    return Exemplars(header, exemplars, model, encode)
