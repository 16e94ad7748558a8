"""Writes to the folder of a run; what the disk refuses is one line."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kgqa.evaluation.runs.errors import RunError
from kgqa.evaluation.runs.log import Log
from kgqa.evaluation.runs.records import Lines


class Writer:
    """Adds records to a run; close it."""

    def __init__(self, path: Path, logs: Sequence[Log]) -> None:
        self._path, self._logs = path, logs

    def add(self, lines: Lines) -> None:
        """Add a record, its times first, so that no record is without them.

        Raises:
            RunError: if there is no room; what is in the files stays whole.
        """
        with writing(self._path):
            for log, line in zip(self._logs, lines, strict=True):
                log.append(line)

    def close(self) -> None:
        """Close the files."""
        for log in self._logs:
            log.close()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the disk refuses into one line.

    Raises:
        RunError: in place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise RunError(
            f"cannot use {error.filename or path}: {error.strerror or error}; what is recorded stays: "
            "make room or give another --out, and repeat the command"
        ) from None
