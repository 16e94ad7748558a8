"""A library on disk: a folder of a header, the records, and the index of their anchors.

``blueprints.json`` says what the library is, ``records.jsonl`` holds the templates and
``index.faiss`` the vectors of their anchors, in their order.
"""

from dataclasses import dataclass
from pathlib import Path

from kgqa.priors.blueprints.header import KIND, Header, read_header

RECORDS = "records.jsonl"
INDEX = "index.faiss"


@dataclass(frozen=True, slots=True)
class Files:
    """The content of a library folder."""

    header: Header
    records: bytes
    index: bytes


def write(files: Files, folder: Path) -> None:
    """Write a library; an earlier one in its place is replaced.

    Raises:
        BlueprintError: if anything else is in its place, or it cannot be written.
    """
    KIND.write(folder, str(files.header), {RECORDS: files.records, INDEX: files.index})


def read(folder: Path) -> Files:
    """Read a library.

    Raises:
        BlueprintError: if it is missing, foreign, damaged, or of another version.
    """
    header = read_header(folder)
    return Files(header, *KIND.read(folder, {RECORDS: header.records, INDEX: header.index}))
