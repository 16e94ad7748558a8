"""Calibrates the copy threshold on training questions that a library has not seen (CoG appendix E.2.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from kgqa.priors.blueprints.building import index_anchors
from kgqa.priors.blueprints.templates import AnchorRule, EncodeTexts, anchors_of, gather_templates
from kgqa.priors.errors import BlueprintError
from kgqa.priors.slots import Blueprint
from kgqa.priors.training_questions import BlueprintLesson

THRESHOLDS = tuple(tau / 100 for tau in (*range(50, 90, 5), *range(90, 100)))
"""Thresholds that are tried: 0.50, 0.55 … 0.85, 0.90, 0.91 … 0.99."""

MIN_COPIES = 20
"""Copies that a precision is judged by at least."""


class ThresholdResult(NamedTuple):
    """What a threshold does to the held-out questions.

    Attributes:
        tau: The threshold.
        copied: How many questions have an anchor that is more similar than it.
        share: Their share of the held-out questions.
        precision: The share of the copied blueprints that have the question's own slots, in
            their order and direction; None where nothing is copied.
        same_relations: The share of those that have the question's own relations at least.
    """

    tau: float
    copied: int
    share: float
    precision: float | None
    same_relations: float | None


@dataclass(frozen=True, slots=True)
class ThresholdCalibration:
    """What every threshold of `GRID` does (Table 7 of the paper, with what it copies)."""

    learned: int
    """Questions that the library was made of."""
    held_out: int
    """Questions that were looked up in it."""
    templates: int
    rows: tuple[ThresholdResult, ...]

    def recommended(self, precision: float) -> float | None:
        """Return the least threshold that reaches a precision over `LEAST` copies; None if none does."""
        enough = (row for row in self.rows if row.copied >= MIN_COPIES and row.precision is not None)
        return next((row.tau for row in enough if (row.precision or 0) >= precision), None)


class _CopyTrial(NamedTuple):
    similarity: float
    same: bool
    same_relations: bool


def calibrate_copy_threshold(
    lessons: Iterable[BlueprintLesson],
    encode: EncodeTexts,
    anchor: AnchorRule,
    held_out: float = 0.2,
    seed: int = 0,
) -> ThresholdCalibration:
    """Hold some questions out, make a library of the others, and copy what is nearest.

    Questions of equal text are on one side; which one is told by a hash of text and seed.

    Args:
        lessons: training questions; those without a blueprint are passed over.
        encode: turns texts into unit vectors.
        anchor: which question stands for a template.
        held_out: the share of the questions to hold out, between 0 and 1.
        seed: another one gives another split.

    Raises:
        BlueprintError: if no question is left on one of the sides.
    """
    usable = [lesson for lesson in lessons if isinstance(lesson.blueprint, Blueprint)]
    outside = [lesson for lesson in usable if _draw_share(lesson.question, seed) < held_out]
    inside = [lesson for lesson in usable if _draw_share(lesson.question, seed) >= held_out]
    if not (inside and outside):
        raise BlueprintError(f"{len(usable)} questions with a blueprint are too few to hold some out")
    records = gather_templates(inside, anchor, encode)
    shelf, anchors, tries = index_anchors(records, encode), anchors_of(records), []
    for lesson, row in zip(outside, encode([lesson.masked for lesson in outside]), strict=True):
        (near,) = shelf.nearest(row[None], 1)
        tries.append(_try_copy(lesson, anchors[near.place][0].blueprint, near.similarity))
    return ThresholdCalibration(
        len(inside), len(outside), len(records), tuple(_threshold_result(tries, tau) for tau in THRESHOLDS)
    )


def _draw_share(question: str, seed: int) -> float:
    """Draw a number from 0 to below 1 that depends on text and seed only."""
    return int.from_bytes(sha256(f"{seed} {question}".encode()).digest()[:8]) / 2**64


def _try_copy(lesson: BlueprintLesson, copied: Blueprint, similarity: float) -> _CopyTrial:
    own = lesson.blueprint.slots if isinstance(lesson.blueprint, Blueprint) else ()
    relations = {slot.relation for slot in own}
    return _CopyTrial(similarity, own == copied.slots, relations == {slot.relation for slot in copied.slots})


def _threshold_result(tries: Sequence[_CopyTrial], tau: float) -> ThresholdResult:
    above = [each for each in tries if each.similarity > tau]
    n = len(above)
    precision = sum(each.same for each in above) / n if n else None
    same_relations = sum(each.same_relations for each in above) / n if n else None
    return ThresholdResult(tau, n, n / len(tries), precision, same_relations)
