"""Builds, extends and calibrates a library of blueprints.

On disk it is a folder: ``blueprints.json`` says what the library is, ``records.jsonl`` holds the
templates and ``index.faiss`` the vectors of their anchors, in their order.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from kgqa.priors.artifact_store import ArtifactStore, Header, SourceFile
from kgqa.priors.blueprints.templates import (
    Anchor,
    AnchorRule,
    TemplateRecord,
    anchors_of,
    gather_templates,
    read_records,
    write_records,
)
from kgqa.priors.encoder import EncodeTexts, encode_distinct
from kgqa.priors.errors import BlueprintError
from kgqa.priors.slots import Blueprint
from kgqa.priors.training_questions import BlueprintLesson, TrainingQuestion, extract_lessons
from kgqa.priors.vector_index import VectorIndex, VectorLabel

LIBRARY_VERSION = 1

THRESHOLDS = tuple(tau / 100 for tau in (*range(50, 90, 5), *range(90, 100)))
"""Copy thresholds that are tried: 0.50, 0.55 … 0.85, 0.90, 0.91 … 0.99."""

MIN_COPIES = 20  # copies that a precision is judged by at least


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryHeader(Header):
    """What a library is.

    Attributes:
        anchors: Which questions stand for a template.
        tau: The copy threshold if it was calibrated.
    """

    anchors: AnchorRule
    tau: float | None = None


LIBRARY_STORE = ArtifactStore(
    "blueprint library",
    "kgqa blueprints build --dataset FILE --out",
    "blueprints.json",
    LibraryHeader,
    LIBRARY_VERSION,
    {"records": "records.jsonl", "index": "index.faiss"},
    BlueprintError,
)


read_library_header = LIBRARY_STORE.read_header


def write_copy_threshold(folder: Path, tau: float) -> None:
    """Store the copy threshold in the header of a library.

    Raises:
        BlueprintError: if there is none, it is damaged or of another version, or cannot be written.
    """
    LIBRARY_STORE.rewrite_header(folder, replace(read_library_header(folder), tau=tau))


@dataclass(frozen=True, slots=True)
class LibraryBuild:
    """What was read for a library now, and how many templates it has."""

    questions: int
    without: Mapping[str, int]
    templates: int


def build_blueprints(
    questions: Iterable[TrainingQuestion],
    folder: Path,
    encode: EncodeTexts,
    encoder_name: str,
    anchor: AnchorRule = "longest",
    *,
    sources: Sequence[SourceFile] = (),
    relations: Collection[str] | None = None,
) -> LibraryBuild:
    """Build a library; an earlier one in its place is replaced as a whole.

    It is opened with the encoder of this name. With the local names of ``relations``, a blueprint
    that has any other relation is left out.

    Raises:
        BlueprintError: if no question has a blueprint, or something else is in the place.
    """
    LIBRARY_STORE.check_place(folder)
    fresh = LibraryHeader(
        encoder=encoder_name, dimensions=0, sources=tuple(sources), questions=0, templates=0, anchors=anchor
    )
    return _build(questions, folder, encode, fresh, (), relations)


def extend_blueprints(
    questions: Iterable[TrainingQuestion],
    folder: Path,
    encode: EncodeTexts,
    encoder_name: str,
    *,
    sources: Sequence[SourceFile] = (),
    relations: Collection[str] | None = None,
) -> LibraryBuild:
    """Add questions to a library: its counts grow, and its anchors are chosen anew by its own rule.

    Its copy threshold has to be calibrated again.

    Raises:
        BlueprintError: if there is no library, it has another encoder or one of the sources
            already, or its anchors are medoids.
    """
    header = read_library_header(folder)
    if header.encoder != encoder_name:
        raise BlueprintError(f"{folder} was built with the encoder {header.encoder}; add with that one")
    known = {source.sha256 for source in header.sources}
    if again := next((source.name for source in sources if source.sha256 in known), None):
        raise BlueprintError(f"{folder} has learned from {again} already")
    before = read_records(LIBRARY_STORE.read(folder, header, "records"))
    LIBRARY_STORE.read(folder, header, "index")  # a library that is damaged is not added to
    header = replace(header, sources=(*header.sources, *sources), tau=None)
    return _build(questions, folder, encode, header, before, relations)


def _build(
    questions: Iterable[TrainingQuestion],
    folder: Path,
    encode: EncodeTexts,
    header: LibraryHeader,
    before: Sequence[TemplateRecord],
    relations: Collection[str] | None,
) -> LibraryBuild:
    lessons = list(extract_lessons(questions, relations))
    without = Counter(lesson.blueprint for lesson in lessons if isinstance(lesson.blueprint, str))
    records = gather_templates(lessons, header.anchors, encode, before)
    if not records:
        raise BlueprintError("no question has a blueprint: each needs SPARQL or gold paths")
    index = index_anchors(records, encode)
    header = replace(
        header,
        dimensions=index.dimensions,
        questions=header.questions + len(lessons),
        without=dict(without + Counter(header.without)),
        templates=len(records),
    )
    LIBRARY_STORE.write(folder, header, {"records": write_records(records), "index": index.to_bytes()})
    return LibraryBuild(len(lessons), dict(without), len(records))


def index_anchors(records: Sequence[TemplateRecord], encode: EncodeTexts) -> VectorIndex:
    """Encode the anchors, each text once, so that equal anchors are equally near."""
    anchors = anchors_of(records)
    rows = encode_distinct([anchor.text for _, anchor in anchors], encode)
    return VectorIndex(anchor_labels(anchors), rows)


def anchor_labels(anchors: Iterable[tuple[TemplateRecord, Anchor]]) -> list[VectorLabel]:
    """Name each anchor's vector by its template; it weighs as many questions as it stands for."""
    return [VectorLabel(record.blueprint.template, anchor.questions) for record, anchor in anchors]


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
    """What each of `THRESHOLDS` does (Table 7 of the paper, with what it copies).

    So many questions were ``learned`` for a library, and so many ``held_out`` and looked up in it.
    """

    learned: int
    held_out: int
    templates: int
    rows: tuple[ThresholdResult, ...]

    def recommended(self, precision: float) -> float | None:
        """Return the least threshold that reaches a precision over `MIN_COPIES` copies; None if none does."""
        enough = (row for row in self.rows if row.copied >= MIN_COPIES and row.precision is not None)
        return next((row.tau for row in enough if (row.precision or 0) >= precision), None)


class _Copy(NamedTuple):
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
    """Hold a share of the questions out, make a library of the others, and copy what is nearest.

    (CoG appendix E.2.2.) Questions of equal text are on one side; which one depends on a hash of
    text and seed. Those without a blueprint are passed over.

    Raises:
        BlueprintError: if no question is left on one of the sides.
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
    index, anchors, copies = index_anchors(records, encode), anchors_of(records), []
    rows = encode([lesson.masked for lesson, _ in outside])
    for (_, own), row in zip(outside, rows, strict=True):
        (near,) = index.nearest(row[None], 1)
        copied = anchors[near.place][0].blueprint.slots
        relations = [{slot.relation for slot in slots} for slots in (own.slots, copied)]
        copies.append(_Copy(near.similarity, own.slots == copied, relations[0] == relations[1]))
    return ThresholdCalibration(
        len(inside), len(outside), len(records), tuple(_threshold_result(copies, tau) for tau in THRESHOLDS)
    )


def _draw_share(question: str, seed: int) -> float:
    """Draw a number from 0 to below 1 that depends on text and seed only."""
    return int.from_bytes(sha256(f"{seed} {question}".encode()).digest()[:8]) / 2**64


def _threshold_result(copies: Sequence[_Copy], tau: float) -> ThresholdResult:
    above = [each for each in copies if each.similarity > tau]
    n = len(above)
    precision = sum(each.same for each in above) / n if n else None
    same_relations = sum(each.same_relations for each in above) / n if n else None
    return ThresholdResult(tau, n, n / len(copies), precision, same_relations)
