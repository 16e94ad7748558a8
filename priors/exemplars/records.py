"""What is kept of solved training questions, as lines of JSON: exemplars and solutions.

There is an exemplar for each topic of a question, and a solution for each template of questions.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from typing_extensions import TypedDict

from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.text import fold
from kgqa.priors.artifact_store import read_lines, write_lines
from kgqa.priors.encoder import replace_surrogates
from kgqa.priors.exemplars.categories import category_by_relations
from kgqa.priors.masking import make_template
from kgqa.priors.slots import Slot
from kgqa.priors.training_questions import Topic, TrainingQuestion

ALL_ENDS = QuestionIntent()


@dataclass(frozen=True, slots=True, order=True)
class Exemplar:
    """A masked question, and the chain from one of its topics to its answer.

    Attributes:
        question: Masked for that topic: ``[ENT]`` it, ``[OTHER]`` the others.
        chain: From that topic to the answer.
        asked: What is asked of the ends.
        weight: How many training questions it stands for.
    """

    question: str
    chain: tuple[Slot, ...]
    asked: QuestionIntent = ALL_ENDS
    weight: int = 1


class _ExemplarLine(TypedDict):
    question: str
    chain: list[str]
    asked: QuestionIntent
    weight: int


def write_exemplars(exemplars: Iterable[Exemplar]) -> bytes:
    """Write exemplars, one a line."""
    return write_lines(
        {
            "question": each.question,
            "chain": [*map(str, each.chain)],
            "asked": each.asked,
            "weight": each.weight,
        }
        for each in exemplars
    )


def read_exemplars(content: bytes) -> tuple[Exemplar, ...]:
    """Read what `write_exemplars` wrote.

    Raises:
        ValueError: if it is anything else.
    """
    return tuple(
        Exemplar(line["question"], tuple(map(Slot.parse, line["chain"])), line["asked"], line["weight"])
        for line in read_lines(content, _ExemplarLine)
    )


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


class _SolutionLine(TypedDict):
    template: str
    branches: list[list[str]]
    plain: str
    question: str
    questions: int


def write_solutions(solutions: Iterable[Solution]) -> bytes:
    """Write solutions, one a line."""
    return write_lines(
        {
            "template": each.template,
            "branches": [[*map(str, branch)] for branch in each.branches],
            "plain": each.plain,
            "question": each.question,
            "questions": each.questions,
        }
        for each in solutions
    )


def read_solutions(content: bytes) -> tuple[Solution, ...]:
    """Read what `write_solutions` wrote.

    Raises:
        ValueError: if it is anything else.
    """
    return tuple(
        Solution(
            line["template"],
            tuple(tuple(map(Slot.parse, branch)) for branch in line["branches"]),
            line["plain"],
            line["question"],
            line["questions"],
        )
        for line in read_lines(content, _SolutionLine)
    )


def solution_of(
    question: TrainingQuestion, chains: Mapping[int, tuple[Slot, ...]], categories: Mapping[Topic, str]
) -> Solution:
    """Make the solution of a question.

    A topic whose category is not known is of the kind that the first relation of its chain is
    of, where that says one.

    Args:
        question: what was asked.
        chains: by the places of their topics; not none.
        categories: what kind of thing topics are, as far as that is known.
    """
    text, labels = replace_surrogates(question.question), dict[str, str | None]()
    for place, topic in enumerate(question.topics):
        first = chains[place][0] if place in chains else None
        implied = category_by_relations([first.relation]) if first and first.forward else None
        if topic.name:
            labels.setdefault(topic.name, categories.get(topic) or implied)
    return Solution(
        make_template(text, labels),
        tuple(dict.fromkeys(chains[place] for place in sorted(chains))),
        make_template(text, dict.fromkeys(labels)),
        text,
    )


def merge_solutions(solutions: Iterable[Solution]) -> tuple[Solution, ...]:
    """Make one of those that have the same template and the same chains; in their order."""
    asked: dict[Solution, dict[str, str]] = defaultdict(dict)
    for each in sorted(solutions):
        asked[replace(each, question="")].setdefault(fold(each.question), each.question)
    merged = (
        replace(each, question=min(texts.values()), questions=len(texts)) for each, texts in asked.items()
    )
    return tuple(sorted(merged))
