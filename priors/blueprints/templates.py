"""Templates of blueprints: one record for all questions with the same relations (CoG §3.1, equation 2).

Templates are counted by the relation names of a blueprint's linear reading: of a query's first
alternative, with the branches that only constrain, without directions. WebQSP's 3,098 training
questions have 512 so counted, where the paper reports 569 of tokens that a regular expression
finds in the text; with directions 515, of the first branch alone 398. On disk a record is a line
of JSON.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from typing_extensions import TypedDict

from kgqa.priors.artifact_store import read_lines, write_lines
from kgqa.priors.encoder import EncodeTexts
from kgqa.priors.errors import BlueprintError
from kgqa.priors.slots import Blueprint
from kgqa.priors.training_questions import BlueprintLesson

AnchorRule = Literal["longest", "shortest", "medoid", "all"]
"""Which question stands for its template: the longest by characters, as it was asked (the
paper's), the shortest, the one that is, masked, nearest to the mean of all of them, or every
one, each for itself. Of several the first."""


class Anchor(NamedTuple):
    """A masked question that is looked up, and how many questions of its template it stands for."""

    text: str
    questions: int


@dataclass(frozen=True, slots=True)
class TemplateRecord:
    """A template of the library."""

    question: str  # that of the first anchor, as it was asked
    anchors: tuple[Anchor, ...]  # the masked questions that stand for the template: one, or all there are
    trees: tuple[tuple[Blueprint, int], ...]
    """The blueprints with this template and how many questions have each, the most frequent first."""

    @property
    def blueprint(self) -> Blueprint:
        """The most frequent tree."""
        return self.trees[0][0]

    @property
    def questions(self) -> int:
        """How many questions have this template."""
        return sum(questions for _, questions in self.trees)


class _Tree(TypedDict):
    branches: list[list[str]]
    questions: int


class _Line(TypedDict):
    anchor: str
    question: str
    template: str
    branches: list[list[str]]
    questions: int
    other_anchors: dict[str, int]
    other_trees: list[_Tree]


def write_records(records: Iterable[TemplateRecord]) -> bytes:
    """Write records as JSON lines; their questions are in all, those of the others beside them."""
    return write_lines(map(_to_line, records), _Line)


def read_records(content: bytes) -> tuple[TemplateRecord, ...]:
    """Read what `write_records` wrote; a ValueError if it is anything else."""
    return tuple(map(_from_line, read_lines(content, _Line)))


def _to_line(record: TemplateRecord) -> _Line:
    others = record.trees[1:]
    return {
        "anchor": record.anchors[0].text,
        "question": record.question,
        "template": record.blueprint.template,
        "branches": record.blueprint.to_lists(),
        "questions": record.questions,
        "other_anchors": dict(record.anchors[1:]),
        "other_trees": [{"branches": tree.to_lists(), "questions": number} for tree, number in others],
    }


def _from_line(line: _Line) -> TemplateRecord:
    trees = [(Blueprint.parse(tree["branches"]), tree["questions"]) for tree in line["other_trees"]]
    anchors = [Anchor(*other) for other in line["other_anchors"].items()]
    first = line["questions"] - sum(questions for _, questions in trees)
    stands_for = line["questions"] - sum(anchor.questions for anchor in anchors)
    return TemplateRecord(
        line["question"],
        (Anchor(line["anchor"], stands_for), *anchors),
        ((Blueprint.parse(line["branches"]), first), *trees),
    )


def anchors_of(records: Iterable[TemplateRecord]) -> list[tuple[TemplateRecord, Anchor]]:
    """Return every anchor with its record, in the order of their vectors."""
    return [(record, anchor) for record in records for anchor in record.anchors]


def slot_histogram(records: Iterable[TemplateRecord]) -> dict[int, int]:
    """Count the templates by their number of slots."""
    return dict(sorted(Counter(len(record.blueprint.slots) for record in records).items()))


@dataclass(slots=True)
class _TemplateQuestions:
    """The questions of one template as they were asked, with how they are masked, and their trees."""

    questions: dict[str, str] = field(default_factory=dict)
    masked: Counter[str] = field(default_factory=Counter)
    trees: Counter[Blueprint] = field(default_factory=Counter)

    def add_record(self, record: TemplateRecord) -> None:
        self.questions[record.question] = record.anchors[0].text
        self.masked.update(dict(record.anchors))
        self.trees.update(dict(record.trees))

    def to_record(self, rule: AnchorRule, encode: EncodeTexts) -> TemplateRecord:
        if rule == "medoid":
            rows = encode(list(self.questions.values()))
            question = list(self.questions)[int((rows @ rows.mean(axis=0)).round(6).argmax())]
        else:
            question = (min if rule == "shortest" else max)(self.questions, key=len)
        text = self.questions[question]
        others = [Anchor(*each) for each in sorted(self.masked.items()) if rule == "all" and each[0] != text]
        stands_for = self.masked.total() - sum(anchor.questions for anchor in others)
        return TemplateRecord(question, (Anchor(text, stands_for), *others), tuple(self.trees.most_common()))


def gather_templates(
    lessons: Iterable[BlueprintLesson],
    rule: AnchorRule,
    encode: EncodeTexts,
    before: Sequence[TemplateRecord] = (),
) -> tuple[TemplateRecord, ...]:
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
    templates: dict[str, _TemplateQuestions] = {}
    for record in before:
        templates.setdefault(record.blueprint.template, _TemplateQuestions()).add_record(record)
    for lesson in lessons:
        if isinstance(lesson.blueprint, Blueprint):
            template = templates.setdefault(lesson.blueprint.template, _TemplateQuestions())
            template.questions.setdefault(lesson.question, lesson.masked)
            template.masked[lesson.masked] += 1
            template.trees[lesson.blueprint] += 1
    return tuple(template.to_record(rule, encode) for _, template in sorted(templates.items()))
