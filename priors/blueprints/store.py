"""A library of blueprints on disk: a folder of a header, the records, and the index of their anchors.

``blueprints.json`` says what the library is, ``records.jsonl`` holds the templates and
``index.faiss`` the vectors of their anchors, in their order.
"""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.priors.artifact_store import ArtifactStore
from kgqa.priors.blueprints.templates import AnchorRule
from kgqa.priors.errors import BlueprintError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LIBRARY_VERSION = 1
HEADER_FILE = "blueprints.json"

LIBRARY_STORE = ArtifactStore(
    "blueprint library",
    "kgqa blueprints build --dataset FILE --out",
    HEADER_FILE,
    LIBRARY_VERSION,
    BlueprintError,
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A question file: its name, the SHA-256 of its bytes, and how many of its questions were read."""

    name: str
    sha256: str
    questions: int


@dataclass(frozen=True, slots=True)
class LibraryHeader:
    """What a library is.

    Attributes:
        version: Of the layout of its folder.
        encoder: The name of the encoder that its vectors are from.
        dimensions: The length of a vector.
        anchors: Which questions stand for a template.
        sources: The files it was learned from.
        questions: How many questions were read.
        without: How many of them have no blueprint, by reason.
        templates: How many records there are.
        records: The SHA-256 of the records file.
        index: The SHA-256 of the index file.
        tau: The copy threshold if it was calibrated.
    """

    version: int
    encoder: str
    dimensions: int
    anchors: AnchorRule
    sources: tuple[SourceFile, ...]
    questions: int
    without: Mapping[str, int]
    templates: int
    records: str
    index: str
    tau: float | None = None

    def __str__(self) -> str:
        """Write it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


def read_library_header(folder: Path) -> LibraryHeader:
    """Read what a library is.

    Raises:
        BlueprintError: if there is none, or it is damaged or of another version.
    """
    return LIBRARY_STORE.read_header(folder, _header_schema())


def write_copy_threshold(folder: Path, tau: float) -> None:
    """Store the copy threshold in the header of a library.

    Raises:
        BlueprintError: as `read_header`, and if it cannot be written.
    """
    header = replace(read_library_header(folder), tau=tau)
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{HEADER_FILE}.", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(str(header))
        os.chmod(aside, 0o644)
        os.replace(aside, folder / HEADER_FILE)
    except OSError as error:
        raise BlueprintError(f"cannot write to {folder}: {error.strerror}") from error


@cache
def _header_schema() -> "TypeAdapter[LibraryHeader]":
    from pydantic import TypeAdapter

    return TypeAdapter(LibraryHeader)


RECORDS_FILE = "records.jsonl"
INDEX_FILE = "index.faiss"


@dataclass(frozen=True, slots=True)
class LibraryFiles:
    """The content of a library folder."""

    header: LibraryHeader
    records: bytes
    index: bytes


def write_library(files: LibraryFiles, folder: Path) -> None:
    """Write a library; an earlier one in its place is replaced.

    Raises:
        BlueprintError: if anything else is in its place, or it cannot be written.
    """
    LIBRARY_STORE.write(folder, str(files.header), {RECORDS_FILE: files.records, INDEX_FILE: files.index})


def read_library(folder: Path) -> LibraryFiles:
    """Read a library.

    Raises:
        BlueprintError: if it is missing, foreign, damaged, or of another version.
    """
    header = read_library_header(folder)
    return LibraryFiles(
        header, *LIBRARY_STORE.read(folder, {RECORDS_FILE: header.records, INDEX_FILE: header.index})
    )
