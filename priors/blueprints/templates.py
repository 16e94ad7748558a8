"""Deduplicates blueprints by template and chooses what stands for each (CoG §3.1, equation 2).

Templates are counted by the relation names of a blueprint's linear reading: of a query's first
alternative, with the branches that only constrain, without directions. WebQSP's 3,098 training
questions have 512 so counted, where the paper reports 569 of tokens that a regular expression
finds in the text; with directions 515, of the first branch alone 398.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from kgqa.priors.blueprints.errors import BlueprintError
from kgqa.priors.blueprints.extraction import Lesson
from kgqa.priors.blueprints.records import Anchor, Record
from kgqa.priors.blueprints.slots import Blueprint

if TYPE_CHECKING:
    from kgqa.priors.encoder import Vectors

Encode: TypeAlias = "Callable[[Sequence[str]], Vectors]"
"""Texts to unit vectors, shape (texts, dimensions); blocks."""

AnchorRule = Literal["longest", "shortest", "medoid", "all"]
"""Which question stands for its template: the longest by characters, as it was asked (the
paper's), the shortest, the one that is, masked, nearest to the mean of all of them, or every
one, each for itself. Of several the first."""


@dataclass(slots=True)
class _Template:
    """The questions of one template as they were asked, with how they are masked, and their trees."""

    questions: dict[str, str] = field(default_factory=dict)
    masked: Counter[str] = field(default_factory=Counter)
    trees: Counter[Blueprint] = field(default_factory=Counter)

    def learn(self, record: Record) -> None:
        self.questions[record.question] = record.anchors[0].text
        self.masked.update(dict(record.anchors))
        self.trees.update(dict(record.trees))

    def record(self, rule: AnchorRule, encode: Encode) -> Record:
        question = _chosen(list(self.questions), rule, lambda: encode(list(self.questions.values())))
        text = self.questions[question]
        others = (
            [Anchor(*each) for each in sorted(self.masked.items()) if each[0] != text]
            if rule == "all"
            else []
        )
        stands_for = self.masked.total() - sum(anchor.questions for anchor in others)
        return Record(question, (Anchor(text, stands_for), *others), tuple(self.trees.most_common()))


def gather(
    lessons: Iterable[Lesson], rule: AnchorRule, encode: Encode, before: Sequence[Record] = ()
) -> tuple[Record, ...]:
    """Make one record of all questions with one template; in the order of the templates.

    Questions without a blueprint are passed over. ``before`` are the records that a library
    has already: their counts are added to, and their anchors compete with the new questions.

    Raises:
        BlueprintError: for medoids of a library that has records: they need all its questions.
    """
    if before and rule == "medoid":
        raise BlueprintError(
            "an anchor that is a medoid is chosen from all questions; build the library anew from all files"
        )
    templates: dict[str, _Template] = {}
    for record in before:
        templates.setdefault(record.blueprint.template, _Template()).learn(record)
    for lesson in lessons:
        if isinstance(lesson.blueprint, Blueprint):
            template = templates.setdefault(lesson.blueprint.template, _Template())
            template.questions.setdefault(lesson.question, lesson.masked)
            template.masked[lesson.masked] += 1
            template.trees[lesson.blueprint] += 1
    return tuple(template.record(rule, encode) for _, template in sorted(templates.items()))


def _chosen(questions: Sequence[str], rule: AnchorRule, rows: Callable[[], "Vectors"]) -> str:
    if rule == "medoid":
        return questions[_medoid(rows())]
    return min(questions, key=len) if rule == "shortest" else max(questions, key=len)


def _medoid(rows: "Vectors") -> int:
    """Give the place of the row nearest to the mean of all; ties to the first, within 1e-6."""
    return int((rows @ rows.mean(axis=0)).round(6).argmax())
