"""Builds a library from questions, and adds further questions to one."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgqa.priors.blueprints import folder as files, records
from kgqa.priors.blueprints.errors import BlueprintError
from kgqa.priors.blueprints.examples import Example
from kgqa.priors.blueprints.extraction import lessons
from kgqa.priors.blueprints.header import KIND, VERSION, Header, Source, read_header
from kgqa.priors.blueprints.records import Anchor, Record
from kgqa.priors.blueprints.shelf import Label, Shelf
from kgqa.priors.blueprints.templates import AnchorRule, Encode, gather
from kgqa.priors.folders import digest


@dataclass(frozen=True, slots=True)
class Built:
    """What was read for a library now, and how many templates it has."""

    questions: int
    without: Mapping[str, int]
    templates: int


def build(
    examples: Iterable[Example],
    folder: Path,
    encode: Encode,
    encoder_name: str,
    anchor: AnchorRule = "longest",
    *,
    sources: Sequence[Source] = (),
    relations: Collection[str] | None = None,
) -> Built:
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
    KIND.check_place(folder)
    return _write(folder, examples, encode, encoder_name, anchor, sources, relations, None)


def add(
    examples: Iterable[Example],
    folder: Path,
    encode: Encode,
    encoder_name: str,
    *,
    sources: Sequence[Source] = (),
    relations: Collection[str] | None = None,
) -> Built:
    """Add questions to a library: its counts grow, and its anchors are chosen anew by its own rule.

    Its copy threshold has to be calibrated again.

    Raises:
        BlueprintError: if there is no library, it has another encoder or one of the sources
            already, or its anchors are medoids.
    """
    header = read_header(folder)
    if header.encoder != encoder_name:
        raise BlueprintError(f"{folder} was built with the encoder {header.encoder}; add with that one")
    known = {source.sha256 for source in header.sources}
    if again := next((source.name for source in sources if source.sha256 in known), None):
        raise BlueprintError(f"{folder} has learned from {again} already")
    return _write(folder, examples, encode, encoder_name, header.anchors, sources, relations, header)


def _write(
    folder: Path,
    examples: Iterable[Example],
    encode: Encode,
    encoder_name: str,
    anchor: AnchorRule,
    sources: Sequence[Source],
    relations: Collection[str] | None,
    before: Header | None,
) -> Built:
    learned = list(lessons(examples, relations))
    without = Counter(lesson.blueprint for lesson in learned if isinstance(lesson.blueprint, str))
    kept: tuple[Record, ...] = records.read(files.read(folder).records) if before else ()
    gathered = gather(learned, anchor, encode, kept)
    if not gathered:
        raise BlueprintError("no question has a blueprint: each needs SPARQL or gold paths")
    shelf = shelve(gathered, encode)
    packed, index = records.write(gathered), shelf.packed()
    header = Header(
        version=VERSION,
        encoder=encoder_name,
        dimensions=shelf.dimensions,
        anchors=anchor,
        sources=(*(before.sources if before else ()), *sources),
        questions=len(learned) + (before.questions if before else 0),
        without=dict(without + Counter(before.without if before else {})),
        templates=len(gathered),
        records=digest(packed),
        index=digest(index),
    )
    files.write(files.Files(header, packed, index), folder)
    return Built(len(learned), dict(without), len(gathered))


def shelve(gathered: Sequence[Record], encode: Encode) -> Shelf:
    """Encode the anchors, each text once, so that equal anchors are equally near."""
    anchors = records.anchored(gathered)
    places = {text: place for place, text in enumerate(dict.fromkeys(each.text for _, each in anchors))}
    vectors = encode(list(places))
    return Shelf.of(labels_of(anchors), vectors[[places[anchor.text] for _, anchor in anchors]])


def labels_of(anchors: Iterable[tuple[Record, Anchor]]) -> list[Label]:
    """Name each anchor's vector by its template; it weighs as many questions as it stands for."""
    return [Label(record.blueprint.template, anchor.questions) for record, anchor in anchors]
