"""The folder of a run, held by one process at a time.

```
run.json       what was asked of whom; written first
results.jsonl  one record a question, without the times; reproducible to the byte
timings.jsonl  the times of each record, by id
metrics.json   when every question has a record
```
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout

from kgqa.evaluation.intermediates import FILE
from kgqa.evaluation.runs.errors import RunError
from kgqa.evaluation.runs.header import differences
from kgqa.evaluation.runs.listing import unlike
from kgqa.evaluation.runs.log import Log, ends, line_at, opened, placed, read, recover, replace
from kgqa.evaluation.runs.records import failed
from kgqa.evaluation.runs.writer import Writer, writing
from kgqa.kg.files import read_file

Json = Mapping[str, Any]

LOCK = ".lock"

_log = logging.getLogger(__name__)

_BEFORE = frozenset({LOCK, "run.json.new"})
"""What a run that was killed before it began may leave."""


class Folder:
    """A run's folder, locked from the moment it is made until the end of the ``with`` block.

    The lock is the kernel's: it goes with the process that holds it, however that ends.

    Raises:
        RunError: if another process holds it, it holds something else, or it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results = path / "results.jsonl"
        self._claimed = False
        self._lock = FileLock(path / LOCK, timeout=0, thread_local=False)
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
            there = {file.name for file in path.iterdir()}
            if "run.json" not in there and there - _BEFORE:
                raise RunError(f"{path} holds other things and no run; name a new folder with --out")
            if (path / LOCK).is_symlink() or ((path / LOCK).exists() and not (path / LOCK).is_file()):
                raise RunError(f"{path / LOCK} is no regular file; delete it, or give another --out")
            try:
                self._lock.acquire()
            except Timeout:
                line = f"another process is at work in {path}; wait for it, or give another --out"
                raise RunError(line) from None

    def __enter__(self) -> Self:
        """Give the folder, which is locked already."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Unlock; an empty folder in which no run began is taken away again."""
        if not self._claimed:
            with suppress(OSError):
                self._clear()
        self._lock.release()

    def _clear(self) -> None:
        if [file.name for file in self.path.iterdir()] == [LOCK]:
            (self.path / LOCK).unlink()
            self.path.rmdir()

    def recorded(self, *, failures: bool) -> int:
        """The number of records that seem to be there, with those of failed questions or without."""
        if failures:
            return ends(self._results) if self._results.is_file() else 0
        with writing(self.path):
            recover(self._results)
            return sum(not failed(record) for record, _ in read(self._results))

    def check(self, wanted: Json) -> Json | None:
        """Give the head of the run that is here, if there is one; nothing is written.

        Raises:
            RunError: in one line, if it is another run than the one that is wanted.
        """
        with writing(self.path):
            recorded = self._head()
            if recorded is not None:
                self._compare(recorded, wanted)
            return recorded

    def claim(self, wanted: Json) -> dict[str, Any]:
        """Begin a run, or go on with one that asks the same, and give its head.

        More questions of the same split than before are the same run.

        Raises:
            RunError: in one line, if the folder holds another run.
        """
        with writing(self.path):
            recorded = self.check(wanted)
            head = {**(wanted if recorded is None else recorded), "dataset": wanted["dataset"]}
            if head["kgqa"] != wanted["kgqa"]:
                was, now = head["kgqa"], wanted["kgqa"]
                _log.warning("%s was begun by kgqa %s and goes on with %s", self.path, was, now)
            if head != recorded:
                self._unmeasure()
                replace(self.path / "run.json", [_pretty(head)])
            self._claimed = True
            recover(self._results)
            recover(self.path / "timings.jsonl")
            return head

    def _head(self) -> dict[str, Any] | None:
        path = self.path / "run.json"
        if path.exists():
            try:
                found = json.loads(read_file(path))
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, dict):
                return found
            raise RunError(f"{path} is no head of a run; give another --out")
        return None

    def _compare(self, recorded: Json, wanted: Json) -> None:
        try:
            datetime.fromisoformat(recorded["started"])
            _, before = recorded["kgqa"], recorded["dataset"]["questions"]
            differing = differences(recorded, wanted)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise RunError(f"{self.path / 'run.json'} is no head of a run; give another --out") from None
        if differing:
            way_out = "give another --out"
            if how := unlike(recorded, wanted):
                differing.append(how)
                way_out = f"ask again when the endpoint is quiet, or {way_out}"
            raise RunError(f"{self.path} holds another run: {'; '.join(differing)}; {way_out}")
        now = wanted["dataset"]["questions"]
        if now < before:
            raise RunError(
                f"{self.path} holds a run of {before} questions, not {now}; "
                f"give --limit {before} or more, or another --out"
            )

    def records(self) -> Iterator[dict[str, Any]]:
        """Read what is recorded so far, a record at a time.

        Raises:
            RunError: naming a line that is no record.
        """
        with writing(self.path):
            for record, _ in read(self._results):
                yield record

    def drop_failed(self) -> None:
        """Take the records of failed questions out, so that they are asked again."""
        with writing(self.path):
            if any(failed(record) for record, _ in read(self._results)):
                self._unmeasure()
                replace(self._results, (line for record, line in read(self._results) if not failed(record)))

    def put_in_order(self, ids: Sequence[str]) -> None:
        """Rewrite the records in the order of the dataset, at once."""
        with writing(self.path):
            places = {record["id"]: place for record, place in placed(self._results)}
            with opened(self._results) as file:
                replace(self._results, (line_at(file, places[id]) for id in ids))

    def write_metrics(self, metrics: Json) -> None:
        """Write ``metrics.json``, at once."""
        with writing(self.path):
            replace(self.path / "metrics.json", [_pretty(metrics)])

    def write_intermediates(self, counts: Json) -> None:
        """Write ``intermediates.json``, at once."""
        with writing(self.path):
            replace(self.path / FILE, [_pretty(counts)])

    def _unmeasure(self) -> None:
        """Take metrics away that are no longer those of the run."""
        (self.path / "metrics.json").unlink(missing_ok=True)

    def writer(self) -> Writer:
        """Open the files for further records."""
        with writing(self.path):
            self._unmeasure()
            return Writer(self.path, [Log(self.path / "timings.jsonl"), Log(self._results)])


def _pretty(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2).encode("utf-8", "replace") + b"\n"
