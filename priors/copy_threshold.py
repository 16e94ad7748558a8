"""From which similarity on a blueprint can be copied: found on questions that are held out (CoG E.2.2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from kgqa.priors.blueprints import AnchorRule, anchors_of, gather_templates, index_anchors
from kgqa.priors.encoder import EncodeTexts
from kgqa.priors.errors import BlueprintError
from kgqa.priors.slots import Blueprint
from kgqa.priors.training_questions import BlueprintLesson

THRESHOLDS = tuple(tau / 100 for tau in (*range(50, 90, 5), *range(90, 100)))
"""Copy thresholds that are tried: 0.50, 0.55 … 0.85, 0.90, 0.91 … 0.99."""

MIN_COPIES = 20  # copies that a precision is judged by at least


class ThresholdResult(NamedTuple):
    """What a copy threshold does to the held-out questions."""

    tau: float
    copied: int  # how many questions have an anchor that is more similar than it
    share: float
    precision: float | None
    """The share of the copies that have the question's own slots, in their order and direction."""
    same_relations: float | None  # the share of the copies that have the question's own relations at least


@dataclass(frozen=True, slots=True)
class ThresholdCalibration:
    """What each of `THRESHOLDS` does (Table 7 of the paper, with what it copies)."""

    learned: int  # questions of the library
    held_out: int  # questions that were looked up in it
    templates: int
    rows: tuple[ThresholdResult, ...]

    def recommended(self, precision: float) -> float | None:
        """Return the least threshold that reaches a precision over `MIN_COPIES` copies; None if none does."""
        enough = (row for row in self.rows if row.copied >= MIN_COPIES)
        return next((row.tau for row in enough if (row.precision or 0) >= precision), None)


def calibrate_copy_threshold(
    lessons: Iterable[BlueprintLesson],
    encode: EncodeTexts,
    anchor: AnchorRule,
    held_out: float = 0.2,
    seed: int = 0,
) -> ThresholdCalibration:
    """Hold a share of the questions out, make a library of the others, and copy what is nearest.

    Questions of equal text are on one side; which one depends on a hash of text and seed. Those
    without a blueprint are passed over.
    """
    sides: tuple[list[tuple[BlueprintLesson, Blueprint]], ...] = ([], [])
    for lesson in lessons:
        if isinstance(lesson.blueprint, Blueprint):
            sides[_draw_share(lesson.question, seed) < held_out].append((lesson, lesson.blueprint))
    inside, outside = sides
    if not (inside and outside):
        usable = len(inside) + len(outside)
        raise BlueprintError(f"{usable} questions with a blueprint are too few to hold some out")
    records = gather_templates([lesson for lesson, _ in inside], anchor, encode)
    index, anchors = index_anchors(records, encode), anchors_of(records)
    copies: list[tuple[float, bool, bool]] = []  # the similarity, and what of the slots is right
    for (_, own), row in zip(outside, encode([lesson.masked for lesson, _ in outside]), strict=True):
        (near,) = index.nearest(row[None], 1)
        copied = anchors[near.place][0].blueprint.slots
        relations = [{slot.relation for slot in slots} for slots in (own.slots, copied)]
        copies.append((near.similarity, own.slots == copied, relations[0] == relations[1]))
    similarities, *right = map(np.array, zip(*copies, strict=True))
    results = []
    for tau in THRESHOLDS:
        above = similarities > tau
        shares = [float(each[above].mean()) if above.any() else None for each in right]
        results.append(ThresholdResult(tau, int(above.sum()), float(above.mean()), *shares))
    return ThresholdCalibration(len(inside), len(outside), len(records), tuple(results))


def _draw_share(question: str, seed: int) -> float:
    """Draw a number from 0 to below 1 that depends on text and seed only."""
    return int.from_bytes(sha256(f"{seed} {question}".encode()).digest()[:8]) / 2**64
