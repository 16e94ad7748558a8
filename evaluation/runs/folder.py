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
from typing import Any, Self

from filelock import FileLock, Timeout

from kgqa.evaluation.datasets import Dataset
from kgqa.evaluation.paper_analysis.intermediates import INTERMEDIATES_FILE
from kgqa.evaluation.runs.jsonl import (
    AppendLog,
    RunError,
    Writer,
    count_lines,
    open_regular,
    read_line_at,
    read_records,
    read_records_with_offsets,
    repair_tail,
    replace_file,
    writing,
)
from kgqa.evaluation.runs.records import is_failed
from kgqa.files import read_file
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import one_line

RELATIONS_KEY = "relations"
"""The key under which it is told: "listed", or None."""


def relations_listed(graph: KnowledgeGraph) -> str | None:
    """Return whether a graph has listed its relations."""
    return "listed" if graph.relations else None


def listing_difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str | None:
    """Say how two openings of one graph differ where only one of them has the relations; else None."""
    if RELATIONS_KEY not in there or there[RELATIONS_KEY] == here.get(RELATIONS_KEY):
        return None
    return (
        f"its relations were listed {'there and not here' if there[RELATIONS_KEY] else 'here and not there'}"
    )


Json = Mapping[str, Any]

RECORDED_PACKAGES = ("langgraph", "langchain-core", "pydantic", "pyoxigraph", "numpy")
"""Packages whose versions a run names beside Python's."""

SOURCE_KEYS = (RELATIONS_KEY, "graph", "blueprints", "exemplars")
"""What of a holding stands in a head beside the version."""

MAX_VALUE_CHARS = 100
"""Characters of a value that a difference shows at most."""

_CONFIG_HASH = "the config hash"


def make_header(
    config: Json,
    dataset: Dataset,
    *,
    source: str | None,
    split: str,
    limit: int | None,
    questions: int,
    holding: Mapping[str, str | None],
    seed: int,
) -> dict[str, Any]:
    """Make the content of ``run.json`` for a run that begins now.

    ``source`` is the dataset as it was named, None for one that was loaded before.
    ``holding`` tells what answers: the version, the graph, blueprints and exemplars, None without.
    """
    return {
        "kgqa": holding["kgqa"],
        "config": config,
        "dataset": {
            "name": dataset.name,
            "source": source,
            "format": dataset.format,
            "sha256": dataset.digest,
            "split": split,
            "limit": limit,
            "questions": questions,
        },
        **{key: holding[key] for key in SOURCE_KEYS},
        "seed": seed,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in RECORDED_PACKAGES},
        },
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def header_differences(recorded: Json, wanted: Json) -> list[str]:
    """Name what two runs would have to share to go into one folder and do not, each with both values.

    Raises:
        KeyError, TypeError, AttributeError: if ``recorded`` is no head of a run.
    """
    found = list(_iterate_differences("", _run_identity(recorded), _run_identity(wanted)))
    return [one for one in found if not one.startswith(_CONFIG_HASH)] or found


def _run_identity(head: Json) -> dict[str, Any]:
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
        "seed": head["seed"],
    }


def _iterate_differences(group: str, recorded: Json, wanted: Json) -> Iterator[str]:
    for key in dict.fromkeys([*recorded, *wanted]):
        old, new = recorded.get(key), wanted.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _iterate_differences(f"{group}{key}.", old, new)
        elif old != new:
            yield f"{group}{key} is {_format_value(old)} there and {_format_value(new)} here"


def _format_value(value: object) -> str:
    said = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return one_line(said, MAX_VALUE_CHARS)


LOCK_FILE = ".lock"

_log = logging.getLogger(__name__)

_LEFTOVERS = frozenset({LOCK_FILE, "run.json.new"})
"""What a run that was killed before it began may leave."""


class RunFolder:
    """A run's folder, locked from the moment it is made until the end of the ``with`` block.

    The lock is the kernel's: it goes with the process that holds it, however that ends.

    Raises:
        RunError: if another process holds it, it holds something else, or it cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._results = path / "results.jsonl"
        self._claimed = False
        self._lock = FileLock(path / LOCK_FILE, timeout=0, thread_local=False)
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
            there = {file.name for file in path.iterdir()}
            if "run.json" not in there and there - _LEFTOVERS:
                raise RunError(f"{path} holds other things and no run; name a new folder with --out")
            if (path / LOCK_FILE).is_symlink() or (
                (path / LOCK_FILE).exists() and not (path / LOCK_FILE).is_file()
            ):
                raise RunError(f"{path / LOCK_FILE} is no regular file; delete it, or give another --out")
            try:
                self._lock.acquire()
            except Timeout:
                line = f"another process is at work in {path}; wait for it, or give another --out"
                raise RunError(line) from None

    def __enter__(self) -> Self:
        """Return the folder, which is locked already."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Unlock; an empty folder in which no run began is taken away again."""
        if not self._claimed:
            with suppress(OSError):
                self._clear()
        self._lock.release()

    def _clear(self) -> None:
        if [file.name for file in self.path.iterdir()] == [LOCK_FILE]:
            (self.path / LOCK_FILE).unlink()
            self.path.rmdir()

    def recorded(self, *, failures: bool) -> int:
        """The number of records that seem to be there, with those of failed questions or without."""
        if failures:
            return count_lines(self._results) if self._results.is_file() else 0
        with writing(self.path):
            repair_tail(self._results)
            return sum(not is_failed(record) for record, _ in read_records(self._results))

    def check(self, wanted: Json) -> Json | None:
        """Return the head of the run that is here, if there is one; nothing is written.

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
                replace_file(self.path / "run.json", [_pretty_json(head)])
            self._claimed = True
            repair_tail(self._results)
            repair_tail(self.path / "timings.jsonl")
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
            differing = header_differences(recorded, wanted)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise RunError(f"{self.path / 'run.json'} is no head of a run; give another --out") from None
        if differing:
            way_out = "give another --out"
            if how := listing_difference(recorded, wanted):
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
            for record, _ in read_records(self._results):
                yield record

    def drop_failed(self) -> None:
        """Take the records of failed questions out, so that they are asked again."""
        with writing(self.path):
            if any(is_failed(record) for record, _ in read_records(self._results)):
                self._unmeasure()
                replace_file(
                    self._results,
                    (line for record, line in read_records(self._results) if not is_failed(record)),
                )

    def put_in_order(self, ids: Sequence[str]) -> None:
        """Rewrite the records in the order of the dataset, at once."""
        with writing(self.path):
            places = {record["id"]: place for record, place in read_records_with_offsets(self._results)}
            with open_regular(self._results) as file:
                replace_file(self._results, (read_line_at(file, places[id]) for id in ids))

    def write_metrics(self, metrics: Json) -> None:
        """Write ``metrics.json``, at once."""
        with writing(self.path):
            replace_file(self.path / "metrics.json", [_pretty_json(metrics)])

    def write_intermediates(self, counts: Json) -> None:
        """Write ``intermediates.json``, at once."""
        with writing(self.path):
            replace_file(self.path / INTERMEDIATES_FILE, [_pretty_json(counts)])

    def _unmeasure(self) -> None:
        """Take metrics away that are no longer those of the run."""
        (self.path / "metrics.json").unlink(missing_ok=True)

    def writer(self) -> Writer:
        """Open the files for further records."""
        with writing(self.path):
            self._unmeasure()
            return Writer(self.path, [AppendLog(self.path / "timings.jsonl"), AppendLog(self._results)])


def _pretty_json(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2).encode("utf-8", "replace") + b"\n"
