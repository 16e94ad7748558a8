"""Relational blueprints (CoG §3.1): which relations answered questions that are alike.

Templates are counted by the relation names of a blueprint's linear reading: of a query's first
alternative, with the branches that only constrain, without directions. WebQSP's 3,098 training
questions have 512 so counted, where the paper reports 569 of tokens that a regular expression
finds in the text (600 by the ``reading`` "text" of another copy); with directions 515, of the first branch
alone 398.

On disk a library is a folder: ``blueprints.json`` says what it is; in its build (`kgqa.builds`),
``records.jsonl`` holds the templates and ``index.faiss`` the vectors of their anchors, in their order. What a
run adds goes to
an overlay: a folder with one file of JSON lines beside a library that stays as it is, appended to by
as many processes as there are. A line is one write, and a torn line counts for nothing.
"""

import logging
import os
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from kgqa.files import read_file
from kgqa.priors.artifact_store import ArtifactStore, Header, SourceFile, read_lines, write_lines
from kgqa.priors.encoder import BUNDLED_ENCODER, EncodeTexts, Vectors, encode_once
from kgqa.priors.errors import BlueprintError
from kgqa.priors.slots import Blueprint, BlueprintLists
from kgqa.priors.training_questions import BlueprintLesson, QueryReading, TrainingQuestion, extract_lessons
from kgqa.priors.vector_index import VectorIndex, VectorLabel

LIBRARY_VERSION = 3
LEARNED_FILE = "learned.jsonl"

DEFAULT_COPY_THRESHOLD = 0.92
"""The copy threshold of an encoder that is not listed: that of the paper's (CoG appendix E.2.2)."""

COPY_THRESHOLDS = {BUNDLED_ENCODER: 0.98}
"""Copy thresholds for libraries that were not calibrated. With the longest question as the anchor,
MiniLM's nearest is seldom right on WebQSP at any threshold (1 of 5), and 9 times of 10 on MetaQA
above this one; it copies for 7 % of WebQSP's questions, about as many as the paper does."""

AnchorRule = Literal["longest", "shortest", "medoid", "all"]
"""Which question stands for its template: the longest by characters, as it was asked (the
paper's), the shortest, the one that is, masked, nearest to the mean of all of them, or every
one, each for itself. Of several the first."""

_log = logging.getLogger(__name__)


class Anchor(NamedTuple):
    """A masked question that is looked up, and how many questions of its template it stands for."""

    text: str
    questions: int


@dataclass(frozen=True, slots=True)
class TemplateRecord:
    """All questions with one template (CoG §3.1, equation 2); a line of a library.

    ``trees`` are the blueprints with it and how many questions have each, the most frequent first.
    """

    question: str  # that of the first anchor, as it was asked
    anchors: Annotated[tuple[Anchor, ...], Field(min_length=1)]  # one, or all there are
    trees: Annotated[tuple[tuple[BlueprintLists, int], ...], Field(min_length=1)]

    @property
    def blueprint(self) -> Blueprint:
        """The most frequent tree."""
        return self.trees[0][0]

    @property
    def questions(self) -> int:
        """How many questions have this template."""
        return sum(questions for _, questions in self.trees)


def anchors_of(records: Iterable[TemplateRecord]) -> list[tuple[TemplateRecord, Anchor]]:
    """Return every anchor with its record, in the order of their vectors."""
    return [(record, anchor) for record in records for anchor in record.anchors]


def gather_templates(
    lessons: Iterable[BlueprintLesson],
    rule: AnchorRule,
    encode: EncodeTexts,
    before: Sequence[TemplateRecord] = (),
) -> tuple[TemplateRecord, ...]:
    """Make one record of all questions with one template; in the order of the templates.

    Questions without a blueprint are passed over. ``before`` are the records that a library
    has already: their counts are added to, and their anchors compete with the new questions.
    """
    if before and rule == "medoid":
        raise BlueprintError(
            "an anchor that is a medoid is chosen from all questions; build the library anew from all files"
        )
    asked: dict[str, dict[str, str]] = defaultdict(dict)  # how each question is masked, by template
    masked: dict[str, Counter[str]] = defaultdict(Counter)
    trees: dict[str, Counter[Blueprint]] = defaultdict(Counter)
    for record in before:
        template = record.blueprint.template
        asked[template][record.question] = record.anchors[0].text
        masked[template].update(dict(record.anchors))
        trees[template].update(dict(record.trees))
    for lesson in lessons:
        if isinstance(lesson.blueprint, Blueprint):
            template = lesson.blueprint.template
            asked[template].setdefault(lesson.question, lesson.masked)
            masked[template][lesson.masked] += 1
            trees[template][lesson.blueprint] += 1
    records = []
    for template, questions in sorted(asked.items()):
        question = _choose_anchor(questions, rule, encode)
        counts, first = masked[template], questions[question]
        others = [Anchor(*each) for each in sorted(counts.items()) if rule == "all" and each[0] != first]
        stands_for = counts.total() - sum(anchor.questions for anchor in others)
        anchors = (Anchor(first, stands_for), *others)
        records.append(TemplateRecord(question, anchors, tuple(trees[template].most_common())))
    return tuple(records)


def _choose_anchor(questions: Mapping[str, str], rule: AnchorRule, encode: EncodeTexts) -> str:
    if rule == "medoid":
        rows = encode(list(questions.values()))
        return list(questions)[int((rows @ rows.mean(axis=0)).round(6).argmax())]
    return (min if rule == "shortest" else max)(questions, key=len)


def index_anchors(records: Sequence[TemplateRecord], encode: EncodeTexts) -> VectorIndex:
    """Encode the anchors, each text once, so that equal anchors are equally near."""
    rows = encode_once(encode)([anchor.text for _, anchor in anchors_of(records)])
    return VectorIndex(_anchor_labels(records), rows)


def _anchor_labels(records: Iterable[TemplateRecord]) -> list[VectorLabel]:
    """Name each anchor's vector by its template; it weighs as many questions as it stands for."""
    anchors = anchors_of(records)
    return [VectorLabel(record.blueprint.template, anchor.questions) for record, anchor in anchors]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryHeader(Header):
    """What a library is: also which questions stand for a template, and the copy threshold if calibrated."""

    anchors: AnchorRule
    reading: QueryReading = "query"
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


def write_copy_threshold(folder: Path, header: LibraryHeader, tau: float) -> None:
    """Store the copy threshold in the header of a library, which is to be the one it was calibrated for."""
    LIBRARY_STORE.rewrite_header(folder, header, replace(header, tau=tau))


class LibraryBuild(NamedTuple):
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
    reading: QueryReading = "query",
    add: bool = False,
    sources: Sequence[SourceFile] = (),
    relations: Collection[str] | None = None,
) -> LibraryBuild:
    """Build a library in place of an earlier one, or ``add`` questions to the one that is there.

    It is opened with the encoder of this name. With the local names of ``relations``, a blueprint
    that has any other relation is left out. In a library that is added to, counts grow, anchors are
    chosen anew by its own rule, queries are read in its way, and the copy threshold has to be calibrated
    again.

    Raises:
        BlueprintError: if no question has a blueprint, or something else is in the place; of a library
            to add to, if it has another encoder or one of the sources already, or its anchors are medoids.
    """
    records: tuple[TemplateRecord, ...] = ()
    old = None
    if add:
        old, records = _read_to_extend(folder, encoder_name, sources)
        header = replace(old, sources=(*old.sources, *sources), tau=None)
    else:
        LIBRARY_STORE.check_place(folder)
        read = tuple(sources)
        header = LibraryHeader(
            encoder=encoder_name,
            dimensions=0,
            sources=read,
            questions=0,
            templates=0,
            anchors=anchor,
            reading=reading,
        )
    lessons = list(extract_lessons(questions, relations, header.reading))
    without = Counter(lesson.blueprint for lesson in lessons if isinstance(lesson.blueprint, str))
    records = gather_templates(lessons, header.anchors, encode, records)
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
    files = {"records": write_lines(records, TemplateRecord), "index": index.to_bytes()}
    LIBRARY_STORE.write(folder, header, files, old)
    return LibraryBuild(len(lessons), without, len(records))


def _read_to_extend(
    folder: Path, encoder_name: str, sources: Sequence[SourceFile]
) -> tuple[LibraryHeader, tuple[TemplateRecord, ...]]:
    opened = LIBRARY_STORE.open(folder, encoder_name)
    known = {source.sha256 for source in opened.header.sources}
    if again := next((source.name for source in sources if source.sha256 in known), None):
        raise BlueprintError(f"{folder} has learned from {again} already")
    return opened.header, read_lines(opened.read("records"), TemplateRecord)


@dataclass(frozen=True, slots=True)
class AnchoredBlueprint:
    """A masked question and the blueprint that it stands for: an anchor of a library, a line of an overlay.

    Its fields have the names that they have in an overlay's lines.
    """

    question: str  # masked, unlike that of a `TemplateRecord`
    branches: BlueprintLists  # a whole blueprint


class Overlay:
    """The overlay in a folder, which is made at the first addition."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise BlueprintError(f"{folder} is a file; an overlay of blueprints is a folder")
        self._path = folder / LEARNED_FILE

    def read(self) -> list[AnchoredBlueprint]:
        """Read what was added until now, by any process."""
        try:
            lines = [line for line in read_file(self._path).splitlines() if line]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BlueprintError(f"cannot read {self._path}: {error.strerror}") from error
        learned: list[AnchoredBlueprint] = []
        for line in lines:
            with suppress(ValueError):
                learned += read_lines(line, AnchoredBlueprint)
        if len(learned) < len(lines):
            _log.warning("%s has lines that are no blueprints; they are passed over", self._path)
        return learned

    def append(self, learned: AnchoredBlueprint) -> None:
        """Add one line."""
        line = write_lines([learned], AnchoredBlueprint)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with open(self._path, "a+b", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                # a torn line must not spoil this one
                is_whole = size == 0 or os.pread(file.fileno(), 1, size - 1) == b"\n"
                file.write(line if is_whole else b"\n" + line)
        except OSError as error:
            raise BlueprintError(f"cannot write to {self._path}: {error.strerror}") from error


class BlueprintMatch(NamedTuple):
    """A blueprint whose anchor is near to a question; the anchor is masked."""

    anchor: str
    blueprint: Blueprint
    similarity: float


class BlueprintLibrary:
    """A library, with the vectors of its records' anchors in their order, and what a run adds to it.

    May be used from several threads at once. A `BlueprintError` says where the vectors are of
    another length than the library's, or where a library without an overlay is to be added to.
    Its ``fingerprint`` tells the records from any others; an overlay, which grows, has no part in it.
    ``tau`` is the similarity above which a blueprint is copied: as calibrated, or that of the encoder.
    """

    def __init__(
        self,
        header: LibraryHeader,
        records: tuple[TemplateRecord, ...],
        index: VectorIndex,
        encode: EncodeTexts,
        overlay: Overlay | None = None,
    ) -> None:
        self.header, self.records, self.fingerprint = header, records, header.records
        default = COPY_THRESHOLDS.get(header.encoder, DEFAULT_COPY_THRESHOLD)
        self.tau = default if header.tau is None else header.tau
        self._index, self._encode, self._overlay = index, encode, overlay
        anchors = anchors_of(records)
        self._anchored = [AnchoredBlueprint(anchor.text, record.blueprint) for record, anchor in anchors]
        self._known = set(self._anchored)
        self._lock = threading.Lock()
        learned = dict.fromkeys(overlay.read() if overlay else ())
        if fresh := [each for each in learned if each not in self._known]:
            self._index_all(fresh, encode([each.question for each in fresh]))

    def nearest(self, question: str, k: int) -> list[BlueprintMatch]:
        """Return the ``k`` templates whose anchors are nearest to a masked question; blocks.

        Best first. What is equally near (to six decimals) is in the order of how many questions
        it stands for, then of the templates, the library's own before what was added.
        """
        row = self._encode([question])
        with self._lock:
            found = [(self._anchored[near.place], near.similarity) for near in self._index.nearest(row, k)]
        return [BlueprintMatch(each.question, each.branches, similarity) for each, similarity in found]

    def add(self, question: str, blueprint: Blueprint) -> None:
        """Add a masked question and its blueprint to the overlay, once; blocks."""
        if self._overlay is None:
            raise BlueprintError(
                "a blueprint is added to an overlay, and this library was opened without one"
            )
        learned = AnchoredBlueprint(question, blueprint)
        row = self._encode([question])  # before anything is added: where it fails, nothing is
        with self._lock:
            if learned not in self._known:
                self._overlay.append(learned)
                self._index_all([learned], row)

    def _index_all(self, added: Sequence[AnchoredBlueprint], rows: Vectors) -> None:
        """Make additions findable by their vectors, shape (additions, dimensions)."""
        self._index.add([VectorLabel(each.branches.template, 0) for each in added], rows)
        self._anchored += added
        self._known.update(added)


def open_library(
    folder: Path, encode: EncodeTexts, encoder_name: str, overlay: Path | None = None
) -> BlueprintLibrary:
    """Open a library, and on top of it what a run has added to its overlay until now (blocking).

    The folder of the overlay need not exist yet.
    """
    opened = LIBRARY_STORE.open(folder, encoder_name)
    lines, packed = opened.read("records"), opened.read("index")
    try:
        records = read_lines(lines, TemplateRecord)
        index = VectorIndex.from_bytes(_anchor_labels(records), packed, opened.header.dimensions)
    except ValueError:
        raise opened.damaged from None
    return BlueprintLibrary(opened.header, records, index, encode, Overlay(overlay) if overlay else None)
