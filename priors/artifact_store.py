"""Folders of what training questions teach: a header that says what one is, and files beside it.

A folder is written beside its place and moved there when complete.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Generic, TypeVar

from pydantic import TypeAdapter

from kgqa.files import read_file
from kgqa.priors.errors import PriorError


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A question file: its name, the SHA-256 of its bytes, and how many of its questions were read."""

    name: str
    sha256: str
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a folder is: by which encoder, from which files and how many questions.

    ``without`` counts by reason the questions that gave nothing; ``records`` and ``index`` are the
    SHA-256 of files.
    """

    version: int = 0
    encoder: str
    dimensions: int
    sources: tuple[SourceFile, ...]
    questions: int
    without: Mapping[str, int] = field(default_factory=dict)
    templates: int
    records: str = ""
    index: str = ""

    def __str__(self) -> str:
        """Write it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


H = TypeVar("H", bound=Header)


@dataclass(frozen=True, slots=True)
class ArtifactStore(Generic[H]):
    """A kind of folder: what it is called, what builds one, and what is in it.

    ``files`` are the names of the files beside the header, by the field that has the SHA-256 of each.
    Whatever is wrong with a folder is raised as ``error``, in one line that says what to do.
    """

    noun: str
    command: str
    header_file: str
    header_type: type[H]
    version: int
    files: Mapping[str, str]
    error: type[PriorError]

    def exists(self, folder: Path) -> bool:
        """Return whether there is a folder with a header, be it broken or not."""
        return (folder / self.header_file).is_file()

    def damaged(self, folder: Path) -> PriorError:
        """Return the error of a damaged folder."""
        return self.error(f"the {self.noun} {folder} is damaged; build it again")

    def check_place(self, folder: Path) -> None:
        """Refuse a place where a new folder would replace anything but its like."""
        try:
            foreign = folder.exists() and not self.exists(folder)
            taken = foreign and (not folder.is_dir() or any(folder.iterdir()))
        except (OSError, ValueError) as error:
            raise self.error(f"cannot write to {folder}: {error}") from error
        if taken:
            raise self.error(f"{folder} exists and is no {self.noun}; choose another folder or empty it")

    def read_header(self, folder: Path) -> H:
        """Read what a folder is; refuse another version."""
        try:
            text = read_file(folder / self.header_file)
        except (OSError, ValueError):
            raise self.error(f"{folder} is no {self.noun}; make one: {self.command} {folder}") from None
        try:
            if json.loads(text)["version"] == self.version:
                header: H = _json_schema(self.header_type).validate_json(text)
                return header
        except (ValueError, LookupError, TypeError, RecursionError):
            raise self.damaged(folder) from None
        raise self.error(f"{folder} was built by another version of kgqa; build it again")

    def open(self, folder: Path, encoder: str, *fields: str) -> tuple[H, list[bytes]]:
        """Read the header of a folder that was built with an encoder, and files by their fields."""
        header = self.read_header(folder)
        if header.encoder != encoder:
            raise self.error(
                f"{folder} was built with the encoder {header.encoder}, not {encoder}; "
                "name that encoder, or build it again with this one"
            )
        return header, [self.read(folder, header, name) for name in fields]

    def read(self, folder: Path, header: H, name: str) -> bytes:
        """Read a file by its field; refuse one that is another than it was."""
        try:
            content = read_file(folder / self.files[name])
        except OSError as error:
            raise self.error(f"{folder} is not complete ({error.strerror}); build it again") from error
        if content_digest(content) != getattr(header, name):
            raise self.damaged(folder)
        return content

    def write(self, folder: Path, header: H, files: Mapping[str, bytes]) -> H:
        """Write a folder in place of an earlier one; the header is given without version and digests."""
        digests: dict[str, Any] = {name: content_digest(content) for name, content in files.items()}
        header = replace(header, version=self.version, **digests)
        folder = folder.resolve()
        self.check_place(folder)
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with _scratch_folder(folder) as scratch:
                beside, old = scratch / "new", scratch / "old"
                beside.mkdir()
                for name, content in files.items():
                    (beside / self.files[name]).write_bytes(content)
                (beside / self.header_file).write_text(str(header), encoding="utf-8")
                self._move(beside, folder, old)
        except OSError as error:
            raise self.error(f"cannot write {folder}: {error.strerror}") from error
        return header

    def rewrite_header(self, folder: Path, header: H) -> None:
        """Replace the header of a folder."""
        try:
            replace_file(folder / self.header_file, lambda file: file.write(str(header).encode()))
        except OSError as error:
            raise self.error(f"cannot write to {folder}: {error.strerror}") from error

    def _move(self, beside: Path, folder: Path, old: Path) -> None:
        """Move a folder into place and what is there out of the way, or leave that if it cannot be done.

        Where another process has just built one in the same place, that one stays.
        """
        with suppress(FileNotFoundError):
            os.replace(folder, old)
        try:
            os.replace(beside, folder)
        except OSError:
            if not self.exists(folder):
                if old.exists():
                    os.replace(old, folder)
                raise


def content_digest(content: bytes) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    return sha256(content).hexdigest()


def replace_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file aside and move it into place, so that other processes see all of it or the old one."""
    with _scratch_folder(path) as scratch:
        with open(scratch / path.name, "wb") as file:
            write(file)
        os.replace(scratch / path.name, path)


@contextmanager
def _scratch_folder(beside: Path) -> Iterator[Path]:
    """Make a folder beside a place, on the same disk, for as long as the block lasts."""
    with TemporaryDirectory(prefix=f".{beside.name}.", dir=beside.parent, ignore_cleanup_errors=True) as made:
        yield Path(made)


def write_lines(items: Iterable[Any], kind: Any) -> bytes:
    """Write items of a type as JSON, one a line."""
    return b"".join(_json_schema(kind).dump_json(each) + b"\n" for each in items)


def read_lines(content: bytes, kind: Any) -> tuple[Any, ...]:
    """Read what `write_lines` wrote; a ValueError if it is anything else."""
    return tuple(map(_json_schema(kind).validate_json, content.splitlines()))


_json_schema: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
