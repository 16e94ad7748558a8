"""A library on disk: a folder of a header, the records, and the index of their anchors.

``blueprints.json`` says what the library is, ``records.jsonl`` holds the templates and
``index.faiss`` the vectors of their anchors, in their order. A folder is written beside its
place and moved there when complete.
"""

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kgqa.priors.blueprints.errors import BlueprintError
from kgqa.priors.blueprints.header import HEADER, Header, damaged, is_library, read_header

RECORDS = "records.jsonl"
INDEX = "index.faiss"


@dataclass(frozen=True, slots=True)
class Files:
    """The content of a library folder."""

    header: Header
    records: bytes
    index: bytes


def digest(content: bytes) -> str:
    """Give the SHA-256 of a file's content, in hexadecimal."""
    return sha256(content).hexdigest()


def check_place(folder: Path) -> None:
    """Refuse a place where a library would replace something else.

    Raises:
        BlueprintError: if anything but a library or an empty folder is there.
    """
    try:
        taken = folder.exists() and not is_library(folder) and (not folder.is_dir() or any(folder.iterdir()))
    except (OSError, ValueError) as error:
        raise BlueprintError(f"cannot write to {folder}: {error}") from error
    if taken:
        raise BlueprintError(f"{folder} exists and is no library; choose another folder or empty it")


def write(files: Files, folder: Path) -> None:
    """Write a library; an earlier one in its place is replaced.

    Raises:
        BlueprintError: if anything else is in its place, or it cannot be written.
    """
    folder = folder.resolve()
    check_place(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            (beside / RECORDS).write_bytes(files.records)
            (beside / INDEX).write_bytes(files.index)
            (beside / HEADER).write_text(str(files.header), encoding="utf-8")
            beside.chmod(0o755)
            _move(beside, folder)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise BlueprintError(f"cannot write {folder}: {error.strerror}") from error


def read(folder: Path) -> Files:
    """Read a library.

    Raises:
        BlueprintError: if it is missing, foreign, damaged, or of another version.
    """
    header = read_header(folder)
    try:
        records, index = (folder / RECORDS).read_bytes(), (folder / INDEX).read_bytes()
    except OSError as error:
        raise BlueprintError(f"{folder} is not complete ({error.strerror}); build it again") from error
    if (digest(records), digest(index)) != (header.records, header.index):
        raise damaged(folder)
    return Files(header, records, index)


def _move(beside: Path, folder: Path) -> None:
    """Move a folder into place and what is there out of the way, or leave that if it cannot be done.

    Where another process has just built a library in the same place, that one stays.
    """
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        with suppress(FileNotFoundError):
            os.replace(folder, old)
        try:
            os.replace(beside, folder)
        except OSError:
            if is_library(folder):
                return
            if any(old.iterdir()):
                os.replace(old, folder)
            raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
