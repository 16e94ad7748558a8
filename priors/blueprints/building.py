"""Builds a library from questions, and adds further questions to one."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgqa.priors.artifact_store import content_digest
from kgqa.priors.blueprints import store as files, templates
from kgqa.priors.blueprints.store import (
    LIBRARY_STORE,
    LIBRARY_VERSION,
    LibraryHeader,
    SourceFile,
    read_library_header,
)
from kgqa.priors.blueprints.templates import Anchor, AnchorRule, EncodeTexts, TemplateRecord, gather_templates
from kgqa.priors.errors import BlueprintError
from kgqa.priors.training_questions import TrainingQuestion, extract_lessons
from kgqa.priors.vector_index import VectorIndex, VectorLabel


@dataclass(frozen=True, slots=True)
class LibraryBuild:
    """What was read for a library now, and how many templates it has."""

    questions: int
    without: Mapping[str, int]
    templates: int


def build_blueprints(
    examples: Iterable[TrainingQuestion],
    folder: Path,
    encode: EncodeTexts,
    encoder_name: str,
    anchor: AnchorRule = "longest",
    *,
    sources: Sequence[SourceFile] = (),
    relations: Collection[str] | None = None,
) -> LibraryBuild:
    """Build a library; an earlier one in its place is replaced as a whole.

    Args:
        examples: the questions to learn from.
        folder: the place of the library.
        encode: turns texts into unit vectors.
        encoder_name: the name of the encoder, which the library is opened with.
        anchor: which question stands for a template.
        sources: the files that the questions are from.
        relations: local names; a blueprint with any other relation is left out.

    Raises:
        BlueprintError: if no question has a blueprint, or something else is in the place.
    """
    LIBRARY_STORE.check_place(folder)
    return _build_and_write(folder, examples, encode, encoder_name, anchor, sources, relations, None)


def extend_blueprints(
    examples: Iterable[TrainingQuestion],
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
    return _build_and_write(
        folder, examples, encode, encoder_name, header.anchors, sources, relations, header
    )


def _build_and_write(
    folder: Path,
    examples: Iterable[TrainingQuestion],
    encode: EncodeTexts,
    encoder_name: str,
    anchor: AnchorRule,
    sources: Sequence[SourceFile],
    relations: Collection[str] | None,
    before: LibraryHeader | None,
) -> LibraryBuild:
    learned = list(extract_lessons(examples, relations))
    without = Counter(lesson.blueprint for lesson in learned if isinstance(lesson.blueprint, str))
    kept: tuple[TemplateRecord, ...] = (
        templates.read_records(files.read_library(folder).records) if before else ()
    )
    gathered = gather_templates(learned, anchor, encode, kept)
    if not gathered:
        raise BlueprintError("no question has a blueprint: each needs SPARQL or gold paths")
    shelf = index_anchors(gathered, encode)
    packed, index = templates.write_records(gathered), shelf.packed()
    header = LibraryHeader(
        version=LIBRARY_VERSION,
        encoder=encoder_name,
        dimensions=shelf.dimensions,
        anchors=anchor,
        sources=(*(before.sources if before else ()), *sources),
        questions=len(learned) + (before.questions if before else 0),
        without=dict(without + Counter(before.without if before else {})),
        templates=len(gathered),
        records=content_digest(packed),
        index=content_digest(index),
    )
    files.write_library(files.LibraryFiles(header, packed, index), folder)
    return LibraryBuild(len(learned), dict(without), len(gathered))


def index_anchors(gathered: Sequence[TemplateRecord], encode: EncodeTexts) -> VectorIndex:
    """Encode the anchors, each text once, so that equal anchors are equally near."""
    anchors = templates.anchors_of(gathered)
    places = {text: place for place, text in enumerate(dict.fromkeys(each.text for _, each in anchors))}
    vectors = encode(list(places))
    return VectorIndex.of(anchor_labels(anchors), vectors[[places[anchor.text] for _, anchor in anchors]])


def anchor_labels(anchors: Iterable[tuple[TemplateRecord, Anchor]]) -> list[VectorLabel]:
    """Name each anchor's vector by its template; it weighs as many questions as it stands for."""
    return [VectorLabel(record.blueprint.template, anchor.questions) for record, anchor in anchors]
