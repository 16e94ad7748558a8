"""Folders of what training questions teach: a header that says what one is, and a build (`kgqa.builds`)."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from kgqa.builds import HeldFolder, edit_head, hold_build, is_remains, new_build, read_head
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
    build: str = ""
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
class OpenArtifact(Generic[H]):
    """What a folder held when it was opened; its files stay so, whatever takes their place."""

    header: H
    store: "ArtifactStore[H]"
    folder: Path
    build: HeldFolder

    def read(self, name: str) -> bytes:
        """Read a file by its field; refuse one that is another than it was."""
        try:
            content = read_file(self.build.path / self.store.files[name])
        except OSError as error:
            raise self.store.error(
                f"{self.folder} is not complete ({error.strerror}); build it again"
            ) from error
        if content_digest(content) != getattr(self.header, name):
            raise self.damaged
        return content

    @property
    def damaged(self) -> PriorError:
        """The error of a damaged folder."""
        return self.store.damaged(self.folder)


@dataclass(frozen=True, slots=True)
class ArtifactStore(Generic[H]):
    """A kind of folder: what it is called, what builds one, and what is in it.

    ``files`` are the names of the files of a build, by the field that has the SHA-256 of each.
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
            taken = folder.exists() and not self.exists(folder) and not is_remains(folder)
        except (OSError, ValueError) as error:
            raise self.error(f"cannot write to {folder}: {error}") from error
        if taken:
            raise self.error(f"{folder} exists and is no {self.noun}; choose another folder or empty it")

    def read_header(self, folder: Path) -> H:
        """Read what a folder is; refuse another version."""
        try:
            text = read_file(folder / self.header_file)
        except (OSError, ValueError):
            raise self._missing(folder) from None
        return self._parse_header(folder, text)

    def open(self, folder: Path, encoder: str) -> OpenArtifact[H]:
        """Open a folder that was built with an encoder."""

        def open_build(text: bytes) -> OpenArtifact[H]:
            header = self._parse_header(folder, text)
            if header.encoder != encoder:
                raise self.error(
                    f"{folder} was built with the encoder {header.encoder}, not {encoder}; "
                    "name that encoder, or build it again with this one"
                )
            try:
                return OpenArtifact(header, self, folder, hold_build(folder, {"build": header.build}))
            except ValueError:
                raise self.damaged(folder) from None
            except OSError as error:
                raise self.error(f"{folder} is not complete ({error.strerror}); build it again") from error

        try:
            return read_head(folder / self.header_file, open_build)
        except PriorError:
            raise
        except (OSError, ValueError):
            raise self._missing(folder) from None

    def write(
        self,
        folder: Path,
        header: H,
        files: Mapping[str, bytes],
        old: H | None = None,
        *,
        begins: bool = False,
    ) -> H:
        """Write a folder in place of an earlier one; refuse it if that is not the ``old`` one it was made of.

        One that ``begins`` a folder is refused where there is one meanwhile. The header is given without
        version, build and digests.
        """
        digests: dict[str, Any] = {name: content_digest(content) for name, content in files.items()}
        self.check_place(folder)

        def check() -> None:
            if begins and self.exists(folder):
                raise self.error(f"{folder} was begun by another process meanwhile; repeat")
            if old is not None:
                self._check_unchanged(folder, old, read_file(folder / self.header_file))

        try:
            with new_build(folder, self.header_file, self.files.values(), check) as build:
                for name, content in files.items():
                    (build / self.files[name]).write_bytes(content)
                header = replace(header, version=self.version, build=build.name, **digests)
                (build / self.header_file).write_text(str(header), encoding="utf-8")
        except OSError as error:
            raise self.error(f"cannot write {folder}: {error.strerror}") from error
        return header

    def rewrite_header(self, folder: Path, old: H, new: H) -> None:
        """Replace the header of a folder; refuse it if the old one is not there any more."""

        def edit(text: bytes) -> bytes:
            self._check_unchanged(folder, old, text)
            return str(new).encode()

        try:
            edit_head(folder / self.header_file, edit)
        except OSError as error:
            raise self.error(f"cannot write to {folder}: {error.strerror}") from error

    def _parse_header(self, folder: Path, text: bytes) -> H:
        try:
            if json.loads(text)["version"] == self.version:
                header: H = _json_schema(self.header_type).validate_json(text)
                return header
        except (ValueError, LookupError, TypeError, RecursionError):
            raise self.damaged(folder) from None
        raise self.error(f"{folder} was built by another version of kgqa; build it again")

    def _check_unchanged(self, folder: Path, old: H, text: bytes) -> None:
        if self._parse_header(folder, text) != old:
            raise self.error(f"{folder} was built anew meanwhile; repeat the command")

    def _missing(self, folder: Path) -> PriorError:
        return self.error(f"{folder} is no {self.noun}; make one: {self.command} {folder}")


def content_digest(content: bytes) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    return sha256(content).hexdigest()


def write_lines(items: Iterable[Any], kind: Any) -> bytes:
    """Write items of a type as JSON, one a line."""
    return b"".join(_json_schema(kind).dump_json(each) + b"\n" for each in items)


def read_lines(content: bytes, kind: Any) -> tuple[Any, ...]:
    """Read what `write_lines` wrote; a ValueError if it is anything else."""
    return tuple(map(_json_schema(kind).validate_json, content.splitlines()))


_json_schema: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)
