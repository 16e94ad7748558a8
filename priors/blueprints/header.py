"""The header of a library: what it was learned from, how, and with which encoder."""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kgqa.priors.blueprints.errors import BlueprintError
from kgqa.priors.blueprints.templates import AnchorRule
from kgqa.priors.folders import Kind

if TYPE_CHECKING:
    from pydantic import TypeAdapter

VERSION = 1
HEADER = "blueprints.json"

KIND = Kind(
    "blueprint library", "kgqa blueprints build --dataset FILE --out", HEADER, VERSION, BlueprintError
)


@dataclass(frozen=True, slots=True)
class Source:
    """A question file: its name, the SHA-256 of its bytes, and how many of its questions were read."""

    name: str
    sha256: str
    questions: int


@dataclass(frozen=True, slots=True)
class Header:
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
    sources: tuple[Source, ...]
    questions: int
    without: Mapping[str, int]
    templates: int
    records: str
    index: str
    tau: float | None = None

    def __str__(self) -> str:
        """Write it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


def read_header(folder: Path) -> Header:
    """Read what a library is.

    Raises:
        BlueprintError: if there is none, or it is damaged or of another version.
    """
    return KIND.read_header(folder, _schema())


def write_tau(folder: Path, tau: float) -> None:
    """Store the copy threshold in the header of a library.

    Raises:
        BlueprintError: as `read_header`, and if it cannot be written.
    """
    header = replace(read_header(folder), tau=tau)
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{HEADER}.", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(str(header))
        os.chmod(aside, 0o644)
        os.replace(aside, folder / HEADER)
    except OSError as error:
        raise BlueprintError(f"cannot write to {folder}: {error.strerror}") from error


@cache
def _schema() -> "TypeAdapter[Header]":
    from pydantic import TypeAdapter

    return TypeAdapter(Header)
