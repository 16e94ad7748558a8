"""Solutions: training questions as templates, with the chains that answered them (EGP §4.1)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kgqa.kg.text import fold
from kgqa.priors.blueprints.examples import Example, Topic
from kgqa.priors.blueprints.slots import Slot
from kgqa.priors.exemplars.categories import category_of
from kgqa.priors.exemplars.masking import templated


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
        """Tell whether it says nothing but how this very question was solved."""
        return self.questions == 1 and fold(self.question) == fold(question)


def solved(
    example: Example, chains: Mapping[int, tuple[Slot, ...]], categories: Mapping[Topic, str]
) -> Solution:
    """Make the solution of a question.

    A topic whose category is not known is of the kind that the first relation of its chain is
    of, where that says one.

    Args:
        example: the question.
        chains: by the places of their topics; not none.
        categories: what kind of thing topics are, as far as that is known.
    """
    question, labels = printable(example.question), dict[str, str | None]()
    for place, topic in enumerate(example.topics):
        first = chains[place][0] if place in chains else None
        implied = category_of([first.relation]) if first and first.forward else None
        if topic.name:
            labels.setdefault(topic.name, categories.get(topic) or implied)
    return Solution(
        templated(question, labels),
        tuple(dict.fromkeys(chains[place] for place in sorted(chains))),
        templated(question, dict.fromkeys(labels)),
        question,
    )


def merged(solutions: Iterable[Solution]) -> tuple[Solution, ...]:
    """Make one of those that have the same template and the same chains; in their order."""
    asked: dict[Solution, dict[str, str]] = defaultdict(dict)
    for each in sorted(solutions):
        asked[replace(each, question="")].setdefault(fold(each.question), each.question)
    return tuple(
        sorted(
            replace(each, question=min(texts.values()), questions=len(texts)) for each, texts in asked.items()
        )
    )


def printable(text: str) -> str:
    """Replace what is half of a character."""
    return text.encode("utf-8", "replace").decode()
