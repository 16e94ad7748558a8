"""The index of solutions: those of the questions that are most like one (EGP §4.1)."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from kgqa.priors.blueprints.shelf import Label, Shelf
from kgqa.priors.blueprints.slots import Slot
from kgqa.priors.blueprints.templates import Encode
from kgqa.priors.encoder import BUNDLED
from kgqa.priors.exemplars.header import KIND, Header, read_header
from kgqa.priors.exemplars.solution import Solution
from kgqa.priors.exemplars.solution_records import read

SOLUTIONS = "solutions.jsonl"
INDEX = "index.faiss"

POOL = 20
"""Solutions that are looked at, before those alike are left out."""

SIMILARITY = 0.6
"""The least likeness of an encoder that is not listed; the paper has a threshold and does not give it."""

SIMILARITIES = {BUNDLED: 0.55}
"""Least likenesses by encoder. Leave-one-out over WebQSP's training questions, of what MiniLM finds
less alike than that fewer than one in ten take the chain that the question takes; above 0.9, half."""


class Recalled(NamedTuple):
    """A solution that is recalled for a question, and how alike they are; None where it was drawn."""

    solution: Solution
    similarity: float | None


class Index:
    """Solutions and the vectors of their templates; may be used from several threads at once.

    Args:
        header: what they are.
        solutions: in the order of the vectors, those of one solution together.
        shelf: the vectors.
        encode: turns texts into unit vectors; blocks.
    """

    def __init__(self, header: Header, solutions: tuple[Solution, ...], shelf: Shelf, encode: Encode) -> None:
        self.header, self.solutions = header, solutions
        self._shelf, self._encode = shelf, encode
        self._owners = [each for each in solutions for _ in each.templates]

    @property
    def fingerprint(self) -> str:
        """Tell these solutions from any others."""
        return self.header.solutions

    @property
    def similarity(self) -> float:
        """The least likeness of what is recalled: the default of the encoder."""
        return SIMILARITIES.get(self.header.encoder, SIMILARITY)

    def recall(
        self, question: str, template: str, *, pool: int, shown: int, similarity: float | None = None
    ) -> list[Recalled]:
        """Give the solutions of questions like this one, the likest first; blocks.

        Of the ``pool`` likest, those at least as alike as ``similarity`` (None: the encoder's),
        one for each way of solving, ``shown`` at most. What only says how this very question
        was solved is left out.

        Raises:
            BlueprintError: if the encoder's vectors are not as long as the index'.
        """
        least = self.similarity if similarity is None else similarity
        nearest = self._shelf.nearest(self._encode([template]), pool + 1)
        found = (Recalled(self._owners[near.place], near.similarity) for near in nearest)
        others = islice((each for each in found if not each.solution.is_of(question)), pool)
        return _diverse((each for each in others if (each.similarity or 0) >= least), shown)

    def draw(self, question: str, *, pool: int, shown: int) -> list[Recalled]:
        """Give solutions of any questions, drawn by chance with the question as the seed (EGP Table 2)."""
        counts = [each.questions for each in self.solutions]
        drawn = Random(question).sample(self.solutions, min(pool, sum(counts)), counts=counts)
        return _diverse((Recalled(each, None) for each in drawn if not each.is_of(question)), shown)


def _diverse(found: Iterable[Recalled], most: int) -> list[Recalled]:
    """Keep the first of each way of solving: the same chains."""
    first: dict[frozenset[tuple[Slot, ...]], Recalled] = {}
    for each in found:
        first.setdefault(frozenset(each.solution.branches), each)
    return list(first.values())[:most]


def shelve(solutions: Sequence[Solution], encode: Encode) -> Shelf:
    """Encode the templates of solutions, each text once, so that equal ones are equally near; blocks."""
    texts = [text for each in solutions for text in each.templates]
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return Shelf.of(_labels(solutions), encode(list(places))[[places[text] for text in texts]])


def open_index(folder: Path, encode: Encode, encoder_name: str) -> Index:
    """Open the index of a folder of exemplars (blocking).

    Args:
        folder: where it is.
        encode: turns texts into unit vectors.
        encoder_name: the name of the encoder.

    Raises:
        ExemplarError: if it is missing, foreign, damaged, or built with another encoder.
    """
    header = read_header(folder)
    KIND.check_encoder(folder, header.encoder, encoder_name)
    lines, packed = KIND.read(folder, {SOLUTIONS: header.solutions, INDEX: header.index})
    try:
        solutions = read(lines)
        shelf = Shelf.read(_labels(solutions), packed, header.dimensions)
    except ValueError:
        raise KIND.damaged(folder) from None
    return Index(header, solutions, shelf, encode)


def _labels(solutions: Sequence[Solution]) -> list[Label]:
    return [
        Label(f"{number:09}", each.questions) for number, each in enumerate(solutions) for _ in each.templates
    ]
