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
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from filelock import FileLock, Timeout

from kgqa.builds import SCRATCH_PREFIX, replace_file
from kgqa.evaluation.runs.records import (
    AppendLog,
    AskedRecord,
    RunError,
    disk_errors,
    is_failed,
    open_regular,
    read_records,
    repair_tail,
)
from kgqa.files import read_file
from kgqa.kg.terms import one_line

Json = Mapping[str, Any]

RECORDED_PACKAGES = ("langgraph", "langchain-core", "pydantic", "pyoxigraph", "numpy")  # named with versions
MAX_VALUE_CHARS = 100  # characters of a value that a difference shows at most
LOCK_FILE = ".lock"
_LEFTOVERS = (LOCK_FILE, SCRATCH_PREFIX)
"""How the names begin of what a run may leave that was killed before it began."""

_CONFIG_HASH = "the config hash"

_log = logging.getLogger(__name__)


def make_header(config: Json, dataset: Json, sources: Json, seed: int) -> dict[str, Any]:
    """Make the content of ``run.json`` for a run that begins now: what is asked, and what answers."""
    versions = {name: version(name) for name in RECORDED_PACKAGES}
    return {
        "kgqa": sources["kgqa"],
        "config": config,
        "dataset": dataset,
        **{key: sources[key] for key in ("relations", "graph", "blueprints", "exemplars")},
        **({"method": sources["method"]} if "method" in sources else {}),
        "seed": seed,
        "versions": {"python": platform.python_version(), **versions},
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def listing_difference(there: Json, here: Json) -> str | None:
    """Say how two openings of one graph differ where only one of them has the relations; else None."""
    if "relations" not in there or there["relations"] == here.get("relations"):
        return None
    return f"its relations were listed {'there and not here' if there['relations'] else 'here and not there'}"


def _run_identity(head: Json) -> dict[str, Any]:
    """Return what two runs have to share to go into one folder."""
    config, dataset = dict(head["config"]), head["dataset"]
    return {
        _CONFIG_HASH: config.pop("hash"),
        **config,
        "split": dataset["split"],
        "format": dataset["format"],
        "the dataset's sha256": dataset["sha256"],
        "the graph's fingerprint": head["graph"],
        "the blueprints' fingerprint": head.get("blueprints"),
        "the exemplars' fingerprint": head.get("exemplars"),
        "the method's file": head.get("method"),
        "seed": head["seed"],
    }


def list_differences(group: str, recorded: Json, wanted: Json) -> Iterator[str]:
    """Yield in words what two nested configurations have not in common."""
    for key in dict.fromkeys([*recorded, *wanted]):
        old, new = recorded.get(key), wanted.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from list_differences(f"{group}{key}.", old, new)
        elif old != new:
            values = (", ".join(map(str, v)) if isinstance(v, list | tuple) else str(v) for v in (old, new))
            there, here = (one_line(value, MAX_VALUE_CHARS) for value in values)
            yield f"{group}{key} is {there} there and {here} here"


class RunFolder:
    """A run's folder, locked from the moment it is made until the end of the ``with`` block.

    The lock is the kernel's: it goes with the process that holds it, however that ends.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results, self._timings = path / "results.jsonl", path / "timings.jsonl"
        self._claimed = False
        self._logs: list[AppendLog] = []
        lock = path / LOCK_FILE
        self._lock = FileLock(lock, timeout=0, thread_local=False)
        with disk_errors(path):
            path.mkdir(parents=True, exist_ok=True)
            there = {file.name for file in path.iterdir() if not file.name.startswith(_LEFTOVERS)}
            if there and "run.json" not in there:
                raise RunError(f"{path} holds other things and no run; name a new folder with --out")
            if lock.is_symlink() or (lock.exists() and not lock.is_file()):
                raise RunError(f"{lock} is no regular file; delete it, or give another --out")
            try:
                self._lock.acquire()
            except Timeout:
                said = f"another process is at work in {path}; wait for it, or give another --out"
                raise RunError(said) from None

    def __enter__(self) -> Self:
        """Return the folder, which is locked already."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Close and unlock; an empty folder in which no run began is taken away again."""
        for log in self._logs:
            log.close()
        if not self._claimed:
            with suppress(OSError):
                if [file.name for file in self.path.iterdir()] == [LOCK_FILE]:
                    (self.path / LOCK_FILE).unlink()
                    self.path.rmdir()
        self._lock.release()

    def count_recorded(self, *, failures: bool) -> int:
        """Count the records that seem to be there, with those of failed questions or without."""
        with disk_errors(self.path):
            repair_tail(self._results)
            return sum(failures or not is_failed(record) for record, _ in read_records(self._results))

    def check(self, wanted: Json) -> Json | None:
        """Return the head of the run that is here, if there is one, or refuse another than is wanted."""
        path, now = self.path / "run.json", wanted["dataset"]["questions"]
        with disk_errors(self.path):
            if not path.exists():
                return None
            try:
                recorded: dict[str, Any] = json.loads(read_file(path))
                datetime.fromisoformat(recorded["started"])
                _, before = recorded["kgqa"], recorded["dataset"]["questions"]
                found = list(list_differences("", _run_identity(recorded), _run_identity(wanted)))
                fewer = now < before
            except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
                raise RunError(f"{path} is no head of a run; give another --out") from None
        if found:
            differing = [one for one in found if not one.startswith(_CONFIG_HASH)] or found
            way_out = "give another --out"
            if how := listing_difference(recorded, wanted):
                differing.append(how)
                way_out = f"ask again when the endpoint is quiet, or {way_out}"
            raise RunError(f"{self.path} holds another run: {'; '.join(differing)}; {way_out}")
        if fewer:
            held = f"{self.path} holds a run of {before} questions, not {now}"
            raise RunError(f"{held}; give --limit {before} or more, or another --out")
        return recorded

    def claim(self, wanted: Json) -> dict[str, Any]:
        """Begin a run, or go on with one that asks the same, and return its head.

        More questions of the same split than before are the same run.
        """
        recorded = self.check(wanted)
        head = {**(wanted if recorded is None else recorded), "dataset": wanted["dataset"]}
        if head["kgqa"] != wanted["kgqa"]:
            was, now = head["kgqa"], wanted["kgqa"]
            _log.warning("%s was begun by kgqa %s and goes on with %s", self.path, was, now)
        with disk_errors(self.path):
            if head != recorded:
                self._drop_metrics()
                self.write_json("run.json", head)
            self._claimed = True
            repair_tail(self._results)
            repair_tail(self._timings)
        return head

    def read_records(self) -> Iterator[dict[str, Any]]:
        """Read what is recorded so far, a record at a time."""
        with disk_errors(self.path):
            for record, _ in read_records(self._results):
                yield record

    def drop_failed(self) -> None:
        """Take the records of failed questions out, so that they are asked again."""
        with disk_errors(self.path):
            if any(is_failed(record) for record, _ in read_records(self._results)):
                self._drop_metrics()
                kept = (line for record, line in read_records(self._results) if not is_failed(record))
                replace_file(self._results, lambda file: file.writelines(kept))

    def open_logs(self) -> None:
        """Open the files for further records (blocking)."""
        with disk_errors(self.path):
            self._drop_metrics()
            self._logs = [AppendLog(self._timings), AppendLog(self._results)]

    def add(self, asked: AskedRecord) -> None:
        """Add a record, its times first, so that no record is without them."""
        timings, results = self._logs
        with disk_errors(self.path):
            timings.append(asked.times_line)
            results.append(asked.record_line)

    def put_in_order(self, ids: Sequence[str]) -> None:
        """Rewrite the records in the order of the dataset, at once."""
        with disk_errors(self.path):
            offsets, offset = {}, 0
            for record, line in read_records(self._results):
                offsets[record["id"]] = offset
                offset += len(line)
            with open_regular(self._results) as file:
                lines = (_read_line_at(file, offsets[id]) for id in ids)
                replace_file(self._results, lambda new: new.writelines(lines))

    def write_json(self, name: str, value: Json) -> None:
        """Write a file of JSON, at once."""
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
        with disk_errors(self.path):
            replace_file(self.path / name, lambda file: file.write(text.encode("utf-8", "replace")))

    def _drop_metrics(self) -> None:
        """Take metrics away that are no longer those of the run."""
        (self.path / "metrics.json").unlink(missing_ok=True)


def _read_line_at(file: BinaryIO, offset: int) -> bytes:
    file.seek(offset)
    return file.readline()
