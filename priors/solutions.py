"""Solutions: what guides methods (EGP §4.1): a solved question for each template, with all its chains."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain as chained, islice
from random import Random
from typing import NamedTuple, TypeAlias

import numpy as np

from kgqa.kg.terms import replace_surrogates
from kgqa.kg.text import fold
from kgqa.priors.categories import category_by_relations
from kgqa.priors.encoder import BUNDLED_ENCODER, EncodeTexts, Vectors, encode_once
from kgqa.priors.masking import blank_labels, known_labels, make_template
from kgqa.priors.slots import SlotText
from kgqa.priors.training_questions import Topic, TrainingQuestion
from kgqa.priors.vector_index import VectorIndex, VectorLabel

DEFAULT_POOL_SIZE = 20  # solutions that are looked at, before similar ones are left out

DEFAULT_MIN_SIMILARITY = 0.6
"""The least similarity of an encoder that is not listed; the paper has a threshold and does not give it."""

MIN_SIMILARITIES = {BUNDLED_ENCODER: 0.55}
"""Least similarities by encoder. Leave-one-out over WebQSP's training questions, of what MiniLM finds
less similar than that fewer than one in ten take the chain that the question takes; above 0.9, half."""

LABEL_SHARE = 0.2
"""What the similarity of the category labels counts in that of two templates; their words count the rest.

By leave-one-out over 6,617 training questions, the most similar is solved in the same way as often as if
each template were encoded both with its labels and without them."""

Chain: TypeAlias = tuple[SlotText, ...]  # the hops from a topic to the answer


@dataclass(frozen=True, slots=True, order=True)
class Solution:
    """A solved question with category labels in place of its topic entities, and its chains."""

    template: str
    branches: tuple[Chain, ...]  # from each topic that has any, in the order of the topics
    question: str  # as it was asked; of several questions the first in order
    questions: int = 1  # how many different ones it stands for

    def is_of(self, question: str) -> bool:
        """Return whether it says nothing but how this very question was solved."""
        return self.questions == 1 and fold(self.question) == fold(question)


def solution_of(
    question: TrainingQuestion, chains: Mapping[int, Sequence[Chain]], categories: Mapping[Topic, str]
) -> Solution:
    """Make the solution of a question from its chains, by the places of their topics.

    A topic whose category is not known is of the kind that the first relation of its first chain
    is of, where that says one.
    """
    text, labels = replace_surrogates(question.question), dict[str, str | None]()
    for place, topic in enumerate(question.topics):
        first = chains[place][0][0] if place in chains else None
        implied = category_by_relations([first.relation]) if first and first.forward else None
        if topic.name:
            labels.setdefault(topic.name, categories.get(topic) or implied)
    branches = tuple(dict.fromkeys(chain for place in sorted(chains) for chain in chains[place]))
    return Solution(make_template(text, labels), branches, text)


def merge_solutions(solutions: Iterable[Solution]) -> tuple[Solution, ...]:
    """Make one of those that have the same template and the same chains; in their order."""
    asked: dict[Solution, dict[str, Solution]] = defaultdict(dict)
    for each in sorted(solutions):
        asked[replace(each, question="", questions=1)].setdefault(fold(each.question), each)
    merged = (
        replace(min(same.values()), questions=sum(each.questions for each in same.values()))
        for same in asked.values()
    )
    return tuple(sorted(merged))


def solution_labels(solutions: Iterable[Solution]) -> list[VectorLabel]:
    """Name the vector of each solution's template by its number; it weighs as many questions as it."""
    return [VectorLabel(f"{number:09}", each.questions) for number, each in enumerate(solutions)]


def index_solutions(
    solutions: Sequence[Solution], encode: EncodeTexts, in_place: bool = False
) -> VectorIndex:
    """Encode the templates of solutions; blocks."""
    templates = [each.template for each in solutions]
    return VectorIndex(solution_labels(solutions), encode_templates(templates, encode, in_place))


def encode_templates(templates: Sequence[str], encode: EncodeTexts, in_place: bool = False) -> Vectors:
    """Return for each template a unit vector of its words and its labels, of twice the encoder's length.

    The first half is of the template with unknown entities only, the second the mean of the known labels.
    With labels ``in_place`` (EGP §4.1) it is the encoder's vector of the template as it stands.
    """
    if in_place:
        return encode(templates)
    encode, labels = encode_once(encode), [known_labels(each) for each in templates]
    words = encode([*map(blank_labels, templates), *chained.from_iterable(labels)])[: len(templates)]
    kinds = np.zeros_like(words)
    for place, known in enumerate(labels):
        if known:
            mean = encode(known).mean(axis=0)
            kinds[place] = mean / (np.linalg.norm(mean) or 1)
    shares = np.array([[LABEL_SHARE if known else 0.0] for known in labels], np.float32)
    return np.hstack([np.sqrt(1 - shares) * words, np.sqrt(shares) * kinds])


class RecalledSolution(NamedTuple):
    """A solution that is recalled for a question, and how similar they are; None where it was drawn."""

    solution: Solution
    similarity: float | None


class SolutionIndex:
    """Solutions, and the vectors that an encoder made of their templates, in the same order.

    May be used from several threads at once. ``similarity`` is the least of what is recalled: the
    default of the encoder. ``fingerprint`` tells these solutions from any others. ``in_place`` says that
    templates were encoded with their labels in place.
    """

    def __init__(
        self,
        solutions: tuple[Solution, ...],
        index: VectorIndex,
        encode: EncodeTexts,
        encoder_name: str,
        fingerprint: str,
        in_place: bool = False,
    ) -> None:
        self.solutions, self.fingerprint, self._in_place = solutions, fingerprint, in_place
        self.similarity = MIN_SIMILARITIES.get(encoder_name, DEFAULT_MIN_SIMILARITY)
        self._index, self._encode = index, encode

    def recall(
        self, question: str, template: str, *, pool: int, shown: int, similarity: float | None = None
    ) -> list[RecalledSolution]:
        """Return the solutions of questions like this one, the most similar first; blocks.

        Of the ``pool`` most similar, those at least as similar as ``similarity`` (None: the
        encoder's), one for each way of solving, ``shown`` at most. What only says how this very
        question was solved is left out.
        """
        least = self.similarity if similarity is None else similarity
        vector = encode_templates([template], self._encode, self._in_place)
        nearest = self._index.nearest(vector, pool + 1)
        found = ((self.solutions[near.place], near.similarity) for near in nearest)
        others = islice((each for each in found if not each[0].is_of(question)), pool)
        return _keep_diverse((RecalledSolution(*each) for each in others if each[1] >= least), shown)

    def draw(self, question: str, *, pool: int, shown: int) -> list[RecalledSolution]:
        """Return solutions of any questions, drawn by chance with the question as the seed (EGP Table 2)."""
        counts = [each.questions for each in self.solutions]
        drawn = Random(question).sample(self.solutions, min(pool, sum(counts)), counts=counts)
        others = (RecalledSolution(each, None) for each in drawn if not each.is_of(question))
        return _keep_diverse(others, shown)


def _keep_diverse(found: Iterable[RecalledSolution], most: int) -> list[RecalledSolution]:
    """Keep the first of each way of solving: the same chains."""
    first: dict[frozenset[Chain], RecalledSolution] = {}
    for each in found:
        first.setdefault(frozenset(each.solution.branches), each)
    return list(first.values())[:most]
