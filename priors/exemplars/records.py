"""What is kept of solved training questions: an exemplar for each topic, a solution for each template."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

from pydantic import PlainSerializer, PlainValidator

from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import replace_surrogates
from kgqa.kg.text import fold
from kgqa.priors.exemplars.categories import category_by_relations
from kgqa.priors.masking import make_template
from kgqa.priors.slots import Slot
from kgqa.priors.training_questions import Topic, TrainingQuestion

ALL_ENDS = QuestionIntent()


def _parse_slot(text: object) -> Slot:
    if not isinstance(text, str):
        raise ValueError("not a slot")
    return Slot.parse(text)


Chain: TypeAlias = tuple[Annotated[Slot, PlainValidator(_parse_slot), PlainSerializer(str)], ...]
"""The hops from a topic to the answer; in JSON each as `Slot.parse` reads it."""


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
    chain: Chain
    asked: QuestionIntent = ALL_ENDS
    weight: int = 1


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
    branches: tuple[Chain, ...]
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
    question: TrainingQuestion, chains: Mapping[int, Chain], categories: Mapping[Topic, str]
) -> Solution:
    """Make the solution of a question from its chains, by the places of their topics.

    A topic whose category is not known is of the kind that the first relation of its chain is
    of, where that says one.
    """
    text, labels = replace_surrogates(question.question), dict[str, str | None]()
    for place, topic in enumerate(question.topics):
        first = chains[place][0] if place in chains else None
        implied = category_by_relations([first.relation]) if first and first.forward else None
        if topic.name:
            labels.setdefault(topic.name, categories.get(topic) or implied)
    branches = tuple(dict.fromkeys(chains[place] for place in sorted(chains)))
    plain = make_template(text, dict.fromkeys(labels))
    return Solution(make_template(text, labels), branches, plain, text)


def merge_solutions(solutions: Iterable[Solution]) -> tuple[Solution, ...]:
    """Make one of those that have the same template and the same chains; in their order."""
    asked: dict[Solution, dict[str, str]] = defaultdict(dict)
    for each in sorted(solutions):
        asked[replace(each, question="")].setdefault(fold(each.question), each.question)
    merged = (
        replace(each, question=min(texts.values()), questions=len(texts)) for each, texts in asked.items()
    )
    return tuple(sorted(merged))
