"""Exemplars and solutions that are open: those nearest to a question, and what was learned from all.

The offline model asks the exemplars and their hop model; methods recall solutions (EGP §4.1).
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

import numpy as np

from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.priors.artifact_store import read_lines
from kgqa.priors.encoder import BUNDLED_ENCODER, EncodeTexts
from kgqa.priors.errors import ExemplarError
from kgqa.priors.exemplars.building import EXEMPLAR_STORE, ExemplarHeader, solution_labels
from kgqa.priors.exemplars.hop_model import (
    Floats,
    HopModel,
    SparseRow,
    intents_of,
    slots_by_position,
    unpack_model,
)
from kgqa.priors.exemplars.records import Chain, Exemplar, Solution
from kgqa.priors.slots import Slot
from kgqa.priors.vector_index import SIMILARITY_DECIMALS, VectorIndex

DEFAULT_POOL_SIZE = 20  # solutions that are looked at, before similar ones are left out

DEFAULT_MIN_SIMILARITY = 0.6
"""The least similarity of an encoder that is not listed; the paper has a threshold and does not give it."""

MIN_SIMILARITIES = {BUNDLED_ENCODER: 0.55}
"""Least similarities by encoder. Leave-one-out over WebQSP's training questions, of what MiniLM finds
less similar than that fewer than one in ten take the chain that the question takes; above 0.9, half."""

HopScores: TypeAlias = tuple[Mapping[Slot | None, float], ...]
"""For each position of a chain from 0, the natural log-probability of each slot that training
has there; None is the end of the chain."""


class NearExemplar(NamedTuple):
    """An exemplar near to a question, and how near it is, at most 1."""

    exemplar: Exemplar
    similarity: float


class ExemplarLibrary:
    """Exemplars, in the order of the vectors of the model that was learned from them.

    May be used from several threads at once. Where the vectors of its encoder are of another length
    than the exemplars', that is an `ExemplarError`.
    """

    def __init__(
        self, header: ExemplarHeader, exemplars: tuple[Exemplar, ...], model: HopModel, encode: EncodeTexts
    ) -> None:
        self.header, self.exemplars = header, exemplars
        self._model, self._encode = model, encode
        self._slots, self._intents = slots_by_position(exemplars), intents_of(exemplars)
        self._weights = np.array([each.weight for each in exemplars])

    @property
    def encoder(self) -> str:
        """The name of the encoder that the vectors are from."""
        return self.header.encoder

    @property
    def fingerprint(self) -> str:
        """Tell these exemplars from any others."""
        return self.header.records

    def nearest(self, masked: str, k: int) -> list[NearExemplar]:
        """Return the ``k`` exemplars most similar to a masked question, best first; blocks.

        Of those equally similar (to six decimals) first what stands for more questions, then
        in the order of the texts.
        """
        found = np.round(self._model.similarities(*self._read(masked)), SIMILARITY_DECIMALS)
        best = np.lexsort((-self._weights, -found))[:k]
        return [NearExemplar(self.exemplars[place], min(1.0, float(found[place]))) for place in best]

    def hops(self, masked: str) -> HopScores:
        """Return the log-probabilities of what is at each position of the chain; blocks.

        The last position is that after the longest chain.
        """
        row, vector = self._read(masked)
        pairs = zip(self._slots, self._model.heads[:-1], strict=True)
        found = [dict(zip(slots, head.logs(row, vector).tolist(), strict=True)) for slots, head in pairs]
        return (*found, {None: 0.0})

    def asked(self, masked: str) -> Mapping[QuestionIntent, float]:
        """Return the probability of each kind of asking that there was in training; blocks."""
        shares = np.exp(self._model.heads[-1].logs(*self._read(masked)))
        return dict(zip(self._intents, shares.tolist(), strict=True))

    def _read(self, masked: str) -> tuple[SparseRow, Floats]:
        (vector,) = self._encode([masked])
        if len(vector) != self.header.dimensions:
            raise ExemplarError(
                f"the encoder gives {len(vector)} numbers for a text, the exemplars have "
                f"{self.header.dimensions}; build them again with this encoder"
            )
        return self._model.vocabulary.row(masked), vector


def open_exemplars(folder: Path, encode: EncodeTexts, encoder_name: str) -> ExemplarLibrary:
    """Open exemplars with the encoder that they were built with (blocking).

    Raises:
        ExemplarError: if they are missing, foreign, damaged, or built with another encoder.
    """
    header, (lines, packed) = EXEMPLAR_STORE.open(folder, encoder_name, "records", "model")
    try:
        exemplars = read_lines(lines, Exemplar)
        model = unpack_model(packed, exemplars)
    except ValueError:
        raise EXEMPLAR_STORE.damaged(folder) from None
    if model.vectors.shape != (len(exemplars), header.dimensions):
        raise EXEMPLAR_STORE.damaged(folder)
    return ExemplarLibrary(header, exemplars, model, encode)


class RecalledSolution(NamedTuple):
    """A solution that is recalled for a question, and how similar they are; None where it was drawn."""

    solution: Solution
    similarity: float | None


class SolutionIndex:
    """Solutions, and the vectors of their templates in the same order.

    May be used from several threads at once.
    """

    def __init__(
        self, header: ExemplarHeader, solutions: tuple[Solution, ...], index: VectorIndex, encode: EncodeTexts
    ) -> None:
        self.header, self.solutions = header, solutions
        self._index, self._encode = index, encode
        self._owners = [each for each in solutions for _ in each.templates]

    @property
    def fingerprint(self) -> str:
        """Tell these solutions from any others."""
        return self.header.solutions

    @property
    def similarity(self) -> float:
        """The least similarity of what is recalled: the default of the encoder."""
        return MIN_SIMILARITIES.get(self.header.encoder, DEFAULT_MIN_SIMILARITY)

    def recall(
        self, question: str, template: str, *, pool: int, shown: int, similarity: float | None = None
    ) -> list[RecalledSolution]:
        """Return the solutions of questions like this one, the most similar first; blocks.

        Of the ``pool`` most similar, those at least as similar as ``similarity`` (None: the
        encoder's), one for each way of solving, ``shown`` at most. What only says how this very
        question was solved is left out.
        """
        least = self.similarity if similarity is None else similarity
        nearest = self._index.nearest(self._encode([template]), pool + 1)
        found = (RecalledSolution(self._owners[near.place], near.similarity) for near in nearest)
        others = islice((each for each in found if not each.solution.is_of(question)), pool)
        return _keep_diverse((each for each in others if (each.similarity or 0) >= least), shown)

    def draw(self, question: str, *, pool: int, shown: int) -> list[RecalledSolution]:
        """Return solutions of any questions, drawn by chance with the question as the seed (EGP Table 2)."""
        counts = [each.questions for each in self.solutions]
        drawn = Random(question).sample(self.solutions, min(pool, sum(counts)), counts=counts)
        return _keep_diverse(
            (RecalledSolution(each, None) for each in drawn if not each.is_of(question)), shown
        )


def _keep_diverse(found: Iterable[RecalledSolution], most: int) -> list[RecalledSolution]:
    """Keep the first of each way of solving: the same chains."""
    first: dict[frozenset[Chain], RecalledSolution] = {}
    for each in found:
        first.setdefault(frozenset(each.solution.branches), each)
    return list(first.values())[:most]


def open_solution_index(folder: Path, encode: EncodeTexts, encoder_name: str) -> SolutionIndex:
    """Open the index of a folder of exemplars, with the encoder that it was built with (blocking).

    Raises:
        ExemplarError: if it is missing, foreign, damaged, or built with another encoder.
    """
    header, (lines, packed) = EXEMPLAR_STORE.open(folder, encoder_name, "solutions", "index")
    try:
        solutions = read_lines(lines, Solution)
        index = VectorIndex.from_bytes(solution_labels(solutions), packed, header.dimensions)
    except ValueError:
        raise EXEMPLAR_STORE.damaged(folder) from None
    return SolutionIndex(header, solutions, index, encode)
