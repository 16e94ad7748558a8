"""Benchmarks by name: what of them is here, in ``data`` of `cache_folder`, and how it gets there.

A folder a benchmark holds the files under the names that they are published by, and ``source.json``: where
they are from, the licence, the commit, and the checksum of each, by which a change is told. What is made of
them lies below ``ready``.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from kgqa.builds import new_folder, replace_file
from kgqa.evaluation.datasets.fetching import (
    Listing,
    RemoteFile,
    Watcher,
    checksum,
    fetch,
    list_files,
    writing,
)
from kgqa.evaluation.datasets.format import DatasetError
from kgqa.evaluation.datasets.sources import Part, Source
from kgqa.evaluation.datasets.subgraphs import (
    GRAPHS_FILE,
    QUESTIONS_FILE,
    read_graphs,
    write_facts,
    write_rog,
)
from kgqa.home import build_once, cache_folder

RECORD_FILE = "source.json"
FACTS_FILE = "graph.nt"
_FROM = "from "  # how the revision of files of a folder begins
READY_VERSION = 1  # of what is made of the files

Teller = Callable[[str], None]  # told what people should know, a line each


@dataclass(frozen=True, slots=True)
class Located:
    """A part that is here: its questions, their format, a hash of all files, and its graph or graphs."""

    questions: Path
    format: str | None
    digest: str
    graph: Path | None = None


def folder_of(source: Source) -> Path:
    """Return where a benchmark lies, or would."""
    return cache_folder() / "data" / source.name


def read_record(source: Source) -> dict[str, Any]:
    """Return what is known of the files that are here; nothing where there are none."""
    try:
        found = json.loads((folder_of(source) / RECORD_FILE).read_bytes())
        return found if isinstance(found, dict) and isinstance(found.get("files"), dict) else {}
    except (OSError, ValueError):
        return {}


def files_here(source: Source, name: str) -> dict[str, dict[str, Any]]:
    """Return the files of a part with what is recorded of them; none where the part is not whole."""
    record, folder = read_record(source), folder_of(source)
    listed = record.get("parts", {}).get(name, ())
    found = {path: record["files"][path] for path in listed if path in record["files"]}
    whole = found and len(found) == len(listed) and all((folder / path).is_file() for path in found)
    return found if whole else {}


def get_part(
    source: Source,
    name: str,
    *,
    origin: Path | None = None,
    update: bool = False,
    watch: Watcher = lambda name, bytes, total: None,
    tell: Teller = lambda line: None,
) -> dict[str, dict[str, Any]]:
    """Bring a part here, whole and verified, and return its files with their checksums and sizes.

    What is here already is verified, and fetched anew where it is damaged. One process does so at a time.
    Files come from the folder ``origin`` in place of the publisher, who is asked again for an ``update``.
    ``tell`` is told the licence before anything is fetched, and what has changed.

    Raises:
        DatasetError: if a file cannot be had, or is not what was published.
    """
    part, folder = source.parts[name], folder_of(source)
    with writing(folder, "set KGQA_HOME to another folder"):
        folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        record = read_record(source)
        here = files_here(source, name)
        damaged = [path for path, known in here.items() if not _is_intact(folder / path, known)]
        if here and not damaged and not update:
            tell(f"licence: {record['licence']}")
            return here
        listing = (
            _list_folder(source, part, origin) if origin else _list_published(source, part, record, update)
        )
        stated = listing.licence or source.licence
        tell(f"licence: {stated}")
        record = {
            "name": source.name,
            "published": source.place,
            "citations": list(source.citations),
            "licence": stated,
            "files": {},
            "parts": {},
            **{key: record[key] for key in ("files", "parts") if key in record},
            "revision": listing.revision,
        }
        for remote in listing.files:
            _bring(remote, folder, record, listing, watch, tell)
            _write_record(folder, record)
        record["parts"][name] = [remote.path for remote in listing.files]
        _write_record(folder, record)
    return files_here(source, name)


def _list_published(source: Source, part: Part, record: dict[str, Any], update: bool) -> Listing:
    """Ask for the commit that the other files here are of, if there are any, or else for the newest."""
    if source.host == "hand":
        raise DatasetError(
            f"{source.name} is published as a folder of Google Drive, which only a browser can fetch "
            f"({source.place}); then: kgqa data get {source.name} --from FOLDER"
        )
    known = record.get("revision", "") if record.get("files") and not update else ""
    return list_files(source, part, source.revision if known.startswith(_FROM) else known or source.revision)


def _list_folder(source: Source, part: Part, origin: Path) -> Listing:
    """List the files of a part in a folder that holds them under their published names."""
    names = (*part.files, *([part.graph] if part.graph else []))
    found = []
    for name in names:
        there = sorted(path for path in origin.glob(name) if path.is_file())
        if not there:
            raise DatasetError(f"{origin} has no {name}; name the folder that holds it under this name")
        for path in there:
            known = path.relative_to(origin).as_posix()
            size = path.stat().st_size
            found.append(RemoteFile(known, path, size, source.checksums.get(known)))
    return Listing(tuple(found), f"{_FROM}{origin.absolute()}")


def _bring(
    remote: RemoteFile,
    folder: Path,
    record: dict[str, Any],
    listing: Listing,
    watch: Watcher,
    tell: Teller,
) -> None:
    """Have one file here, and what is known of it in the record."""
    target, known = folder / remote.path, record["files"].get(remote.path)
    if known and remote.checksum in (None, known["checksum"]) and _is_intact(target, known):
        return
    found = fetch(remote, target, listing.headers, watch)
    if known and len(known["checksum"]) == len(found) and known["checksum"] != found:
        tell(f"{remote.path} has changed: it was {known['checksum']}, and is {found} now")
    record["files"][remote.path] = {"checksum": found, "bytes": target.stat().st_size}


def _is_intact(path: Path, known: dict[str, Any]) -> bool:
    try:
        size, wanted = int(known["bytes"]), str(known["checksum"])
        return path.stat().st_size == size and checksum(path, wanted) == wanted
    except OSError:
        return False


def _write_record(folder: Path, record: dict[str, Any]) -> None:
    text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
    with writing(folder):
        replace_file(folder / RECORD_FILE, lambda file: file.write(text.encode()))


def locate(source: Source, name: str, watch: Callable[[int], None] | None = None) -> Located:
    """Return where a part lies, made ready on first use; ``watch`` is told how many questions are.

    Raises:
        DatasetError: if it is not here.
    """
    here, part, folder = files_here(source, name), source.parts[name], folder_of(source)
    called = source.name if part is next(iter(source.parts.values())) else f"{source.name}:{name}"
    if not here:
        size = f"{part.megabytes:g} MB, " if part.megabytes else ""
        raise DatasetError(
            f"{called} is not here yet; fetch it with: kgqa data get {called} "
            f"({size}licence: {source.licence})"
        )
    listed = "".join(f"{path} {known['checksum']}\n" for path, known in sorted(here.items()))
    digest = hashlib.sha256(listed.encode()).hexdigest()
    questions = [path for path in here if path != part.graph]
    if not source.subgraphs and (part.graph is None or part.graph.endswith(".ttl")):
        graph = folder / part.graph if part.graph else None
        return Located(folder / questions[0], source.format, digest, graph)
    ready = folder / "ready" / f"{name}-{digest[:12]}-{READY_VERSION}"

    def make() -> None:
        with new_folder(ready) as made, FileLock(folder / ".lock"):  # nobody fetches others meanwhile
            if files_here(source, name) != here:
                raise DatasetError(f"{called} was fetched anew meanwhile; repeat the command")
            if source.subgraphs:
                write_rog([folder / path for path in questions], made, watch)
            else:
                write_facts(folder / str(part.graph), made / FACTS_FILE)

    with writing(ready):  # other processes wait; it is there whole or not
        build_once(ready, Path.is_dir, make)
    if source.subgraphs:
        return Located(ready / QUESTIONS_FILE, "kgqa", digest, ready / GRAPHS_FILE)
    return Located(folder / questions[0], source.format, digest, ready / FACTS_FILE)


def write_union(graph: Path, target: Path) -> None:
    """Write the graphs of all questions as the triples of one."""
    with target.open("wb") as file:
        for triples in read_graphs(graph):
            file.write(triples)
