"""What a run learns for itself: blueprints of grounded answers, beside a library that stays as it is.

An overlay is a folder with one file of JSON lines, appended to by as many processes as
there are; a line is one write, and a line that is torn counts for nothing.
"""

import json
import logging
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import TypedDict

from kgqa.kg.files import read_file
from kgqa.priors.blueprints.errors import BlueprintError
from kgqa.priors.blueprints.records import plain
from kgqa.priors.blueprints.slots import Blueprint

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LEARNED = "learned.jsonl"

_log = logging.getLogger(__name__)


class Learned(NamedTuple):
    """A masked question and the blueprint of its grounded answer."""

    question: str
    blueprint: Blueprint


class _Line(TypedDict):
    question: str
    branches: list[list[str]]


class Overlay:
    """The overlay in a folder, which is made at the first addition.

    Raises:
        BlueprintError: if something other than a folder is there.
    """

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise BlueprintError(f"{folder} is a file; an overlay of blueprints is a folder")
        self._path = folder / LEARNED

    def read(self) -> list[Learned]:
        """Read what was added until now, by any process.

        Raises:
            BlueprintError: if the file cannot be read.
        """
        try:
            lines = read_file(self._path).splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BlueprintError(f"cannot read {self._path}: {error.strerror}") from error
        learned = [found for line in lines if line and (found := _learned(line))]
        if len(learned) < len([line for line in lines if line]):
            _log.warning("%s has lines that are no blueprints; they are passed over", self._path)
        return learned

    def append(self, learned: Learned) -> None:
        """Add one line.

        Raises:
            BlueprintError: if it cannot be written.
        """
        line = json.dumps({"question": learned.question, "branches": plain(learned.blueprint)})
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(handle, f"{'' if _is_whole(handle) else chr(10)}{line}\n".encode())
            finally:
                os.close(handle)
        except OSError as error:
            raise BlueprintError(f"cannot write to {self._path}: {error.strerror}") from error


def _is_whole(handle: int) -> bool:
    """Tell whether a file ends with a line break, so that a torn line spoils no other."""
    size = os.fstat(handle).st_size
    return size == 0 or os.pread(handle, 1, size - 1) == b"\n"


def _learned(line: bytes) -> Learned | None:
    try:
        found = _schema().validate_json(line)
        return Learned(found["question"], Blueprint.parse(found["branches"]))
    except ValueError:
        return None


@cache
def _schema() -> "TypeAdapter[_Line]":
    from pydantic import TypeAdapter

    return TypeAdapter(_Line)
