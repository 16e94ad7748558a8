"""Solved training questions as templates with the chains that answered them, and the index that recalls them (EGP §4.1)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import TypedDict

from kgqa.kg.text import fold
from kgqa.priors.blueprints.templates import EncodeTexts
from kgqa.priors.encoder import BUNDLED_ENCODER
from kgqa.priors.exemplars.categories import category_by_relations
from kgqa.priors.exemplars.exemplar import EXEMPLAR_STORE, ExemplarHeader, read_exemplar_header
from kgqa.priors.masking import make_template
from kgqa.priors.slots import Slot
from kgqa.priors.training_questions import Topic, TrainingQuestion
from kgqa.priors.vector_index import VectorIndex, VectorLabel

if TYPE_CHECKING:
    from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True, order=True)
class Solution:
    """A solved question with category labels in place of its topic entities, and its chains.

    Attributes:
        template: The question with the category labels.
        branches: A chain from each topic that has one, in the order of the topics.
        plain: The question with the same label for all topics, for those whose category nobody knows.
        question: As it was asked; of several questions the first in order.
        questions: How many different questions it stands for.
    """

    template: str
    branches: tuple[tuple[Slot, ...], ...]
    plain: str
    question: str
    questions: int = 1

    @property
    def templates(self) -> tuple[str, ...]:
        """What a question is compared with."""
        return (self.template, self.plain) if self.plain != self.template else (self.template,)

    def is_of(self, question: str) -> bool:
        """Return whether it says nothing but how this very question was solved."""
        return self.questions == 1 and fold(self.question) == fold(question)


def solution_of(
    example: TrainingQuestion, chains: Mapping[int, tuple[Slot, ...]], categories: Mapping[Topic, str]
) -> Solution:
    """Make the solution of a question.

    A topic whose category is not known is of the kind that the first relation of its chain is
    of, where that says one.

    Args:
        example: the question.
        chains: by the places of their topics; not none.
        categories: what kind of thing topics are, as far as that is known.
    """
    question, labels = replace_surrogates(example.question), dict[str, str | None]()
    for place, topic in enumerate(example.topics):
        first = chains[place][0] if place in chains else None
        implied = category_by_relations([first.relation]) if first and first.forward else None
        if topic.name:
            labels.setdefault(topic.name, categories.get(topic) or implied)
    return Solution(
        make_template(question, labels),
        tuple(dict.fromkeys(chains[place] for place in sorted(chains))),
        make_template(question, dict.fromkeys(labels)),
        question,
    )


def merge_solutions(solutions: Iterable[Solution]) -> tuple[Solution, ...]:
    """Make one of those that have the same template and the same chains; in their order."""
    asked: dict[Solution, dict[str, str]] = defaultdict(dict)
    for each in sorted(solutions):
        asked[replace(each, question="")].setdefault(fold(each.question), each.question)
    return tuple(
        sorted(
            replace(each, question=min(texts.values()), questions=len(texts)) for each, texts in asked.items()
        )
    )


def replace_surrogates(text: str) -> str:
    """Replace what is half of a character."""
    return text.encode("utf-8", "replace").decode()


class _SolutionLine(TypedDict):
    template: str
    branches: list[list[str]]
    plain: str
    question: str
    questions: int


def write_solutions(solutions: Iterable[Solution]) -> bytes:
    """Write solutions as JSON, one a line."""
    import orjson

    return b"".join(orjson.dumps(_to_line(each)) + b"\n" for each in solutions)


def read_solutions(lines: bytes) -> tuple[Solution, ...]:
    """Read what `write` wrote.

    Raises:
        ValueError: if it is anything else.
    """
    return tuple(_from_line(_solution_schema().validate_json(line)) for line in lines.splitlines())


@cache
def _solution_schema() -> "TypeAdapter[_SolutionLine]":
    from pydantic import TypeAdapter

    return TypeAdapter(_SolutionLine)


def _to_line(each: Solution) -> _SolutionLine:
    return {
        "template": each.template,
        "branches": [[*map(str, branch)] for branch in each.branches],
        "plain": each.plain,
        "question": each.question,
        "questions": each.questions,
    }


def _from_line(line: _SolutionLine) -> Solution:
    branches = tuple(tuple(map(Slot.parse, branch)) for branch in line["branches"])
    return Solution(line["template"], branches, line["plain"], line["question"], line["questions"])


SOLUTIONS_FILE = "solutions.jsonl"
INDEX_FILE = "index.faiss"

DEFAULT_POOL_SIZE = 20
"""Solutions that are looked at, before those alike are left out."""

DEFAULT_MIN_SIMILARITY = 0.6
"""The least likeness of an encoder that is not listed; the paper has a threshold and does not give it."""

MIN_SIMILARITIES = {BUNDLED_ENCODER: 0.55}
"""Least likenesses by encoder. Leave-one-out over WebQSP's training questions, of what MiniLM finds
less alike than that fewer than one in ten take the chain that the question takes; above 0.9, half."""


class RecalledSolution(NamedTuple):
    """A solution that is recalled for a question, and how alike they are; None where it was drawn."""

    solution: Solution
    similarity: float | None


class SolutionIndex:
    """Solutions and the vectors of their templates; may be used from several threads at once.

    Args:
        header: what they are.
        solutions: in the order of the vectors, those of one solution together.
        shelf: the vectors.
        encode: turns texts into unit vectors; blocks.
    """

    def __init__(
        self, header: ExemplarHeader, solutions: tuple[Solution, ...], shelf: VectorIndex, encode: EncodeTexts
    ) -> None:
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
        return MIN_SIMILARITIES.get(self.header.encoder, DEFAULT_MIN_SIMILARITY)

    def recall(
        self, question: str, template: str, *, pool: int, shown: int, similarity: float | None = None
    ) -> list[RecalledSolution]:
        """Return the solutions of questions like this one, the likest first; blocks.

        Of the ``pool`` likest, those at least as alike as ``similarity`` (None: the encoder's),
        one for each way of solving, ``shown`` at most. What only says how this very question
        was solved is left out.

        Raises:
            BlueprintError: if the encoder's vectors are not as long as the index'.
        """
        least = self.similarity if similarity is None else similarity
        nearest = self._shelf.nearest(self._encode([template]), pool + 1)
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
    first: dict[frozenset[tuple[Slot, ...]], RecalledSolution] = {}
    for each in found:
        first.setdefault(frozenset(each.solution.branches), each)
    return list(first.values())[:most]


def index_solutions(solutions: Sequence[Solution], encode: EncodeTexts) -> VectorIndex:
    """Encode the templates of solutions, each text once, so that equal ones are equally near; blocks."""
    texts = [text for each in solutions for text in each.templates]
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return VectorIndex.of(_vector_labels(solutions), encode(list(places))[[places[text] for text in texts]])


def open_solution_index(folder: Path, encode: EncodeTexts, encoder_name: str) -> SolutionIndex:
    """Open the index of a folder of exemplars (blocking).

    Args:
        folder: where it is.
        encode: turns texts into unit vectors.
        encoder_name: the name of the encoder.

    Raises:
        ExemplarError: if it is missing, foreign, damaged, or built with another encoder.
    """
    header = read_exemplar_header(folder)
    EXEMPLAR_STORE.check_encoder(folder, header.encoder, encoder_name)
    lines, packed = EXEMPLAR_STORE.read(folder, {SOLUTIONS_FILE: header.solutions, INDEX_FILE: header.index})
    try:
        solutions = read_solutions(lines)
        shelf = VectorIndex.read(_vector_labels(solutions), packed, header.dimensions)
    except ValueError:
        raise EXEMPLAR_STORE.damaged(folder) from None
    return SolutionIndex(header, solutions, shelf, encode)


def _vector_labels(solutions: Sequence[Solution]) -> list[VectorLabel]:
    return [
        VectorLabel(f"{number:09}", each.questions)
        for number, each in enumerate(solutions)
        for _ in each.templates
    ]
