"""Folders of what training questions teach: a header that says what it is, and files beside it.

A folder is written beside its place and moved there when complete.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kgqa.files import read_file

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


def content_digest(content: bytes) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    return sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class ArtifactStore:
    """A kind of folder.

    Attributes:
        noun: What it is called.
        command: What builds one, up to the folder.
        header: The name of the header's file, JSON with the ``version``.
        version: Of the layout.
        error: What is raised for a folder that is missing, foreign or broken.
    """

    noun: str
    command: str
    header: str
    version: int
    error: type[ValueError]

    def is_one(self, folder: Path) -> bool:
        """Return whether there is a folder with a header, be it broken or not."""
        return (folder / self.header).is_file()

    def damaged(self, folder: Path) -> ValueError:
        """Say that a folder is damaged."""
        return self.error(f"the {self.noun} {folder} is damaged; build it again")

    def check_place(self, folder: Path) -> None:
        """Refuse a place where a new folder would replace something else.

        Raises:
            ValueError: of this kind, if anything but its like or an empty folder is there.
        """
        try:
            foreign = folder.exists() and not self.is_one(folder)
            taken = foreign and (not folder.is_dir() or any(folder.iterdir()))
        except (OSError, ValueError) as error:
            raise self.error(f"cannot write to {folder}: {error}") from error
        if taken:
            raise self.error(f"{folder} exists and is no {self.noun}; choose another folder or empty it")

    def check_encoder(self, folder: Path, built_with: str, encoder: str) -> None:
        """Refuse another encoder than the one that a folder was built with.

        Raises:
            ValueError: of this kind.
        """
        if built_with != encoder:
            raise self.error(
                f"{folder} was built with the encoder {built_with}, not {encoder}; "
                "name that encoder, or build it again with this one"
            )

    def read_header(self, folder: Path, schema: "TypeAdapter[T]") -> T:
        """Read what a folder is.

        Raises:
            ValueError: of this kind, if there is none, or it is damaged or of another version.
        """
        try:
            text = read_file(folder / self.header)
        except (OSError, ValueError):
            made = f"{self.command} {folder}"
            raise self.error(f"{folder} is no {self.noun}; make one: {made}") from None
        try:
            current = json.loads(text)["version"] == self.version
            header = schema.validate_json(text) if current else None
        except (ValueError, LookupError, TypeError, RecursionError):
            raise self.damaged(folder) from None
        if header is None:
            raise self.error(f"{folder} was built by another version of kgqa; build it again")
        return header

    def read(self, folder: Path, digests: Mapping[str, str]) -> list[bytes]:
        """Read the files that are named, each with its SHA-256.

        Raises:
            ValueError: of this kind, if one is missing or another than it was.
        """
        try:
            contents = [read_file(folder / name) for name in digests]
        except OSError as error:
            raise self.error(f"{folder} is not complete ({error.strerror}); build it again") from error
        if [content_digest(content) for content in contents] != [*digests.values()]:
            raise self.damaged(folder)
        return contents

    def write(self, folder: Path, header: str, files: Mapping[str, bytes]) -> None:
        """Write a folder; an earlier one in its place is replaced.

        Raises:
            ValueError: of this kind, if anything else is in its place, or it cannot be written.
        """
        folder = folder.resolve()
        self.check_place(folder)
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
            try:
                for name, content in files.items():
                    (beside / name).write_bytes(content)
                (beside / self.header).write_text(header, encoding="utf-8")
                beside.chmod(0o755)
                self._move(beside, folder)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
        except OSError as error:
            raise self.error(f"cannot write {folder}: {error.strerror}") from error

    def _move(self, beside: Path, folder: Path) -> None:
        """Move a folder into place and what is there out of the way, or leave that if it cannot be done.

        Where another process has just built one in the same place, that one stays.
        """
        old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            with suppress(FileNotFoundError):
                os.replace(folder, old)
            try:
                os.replace(beside, folder)
            except OSError:
                if self.is_one(folder):
                    return
                if any(old.iterdir()):
                    os.replace(old, folder)
                raise
        finally:
            shutil.rmtree(old, ignore_errors=True)
