"""Keeps graphs as store folders: files, read once for their content, and property graphs, until they change.

They lie in ``graphs`` of `cache_folder`, for their user alone. Those `MAX_GRAPHS_KEPT` stay that were opened
last, and all that were opened within a month, for somebody may still read them.
"""

import hashlib
import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pyoxigraph as ox

from kgqa.builds import remove_folder, sweep_builds
from kgqa.home import build_once, cache_folder
from kgqa.kg.errors import KGUnavailable
from kgqa.kg.packing import is_packed
from kgqa.kg.property_graph import PropertyGraphReader
from kgqa.kg.store.directory import FACTS_FILE, STORE_VERSION, build_store, is_store
from kgqa.kg.store.loading import QuadReader, parts_of

MIN_BYTES_KEPT = 1 << 21  # of files; smaller ones are read as fast as a folder is opened
PACKED_RATIO = 8  # bytes of a graph in a byte of its compressed file, or of Parquet, about
MAX_GRAPHS_KEPT = 8
MIN_SECONDS_KEPT = 30 * 86_400.0  # from when a graph was last opened

MIN_SIZE_KEPT = 20_000  # nodes and relationships; fewer are read in a second or two
MAX_SIZE_KEPT = 5_000_000  # of more, a folder is made by `kgqa kg load`: it takes long
STATE_FILE = "state"  # what a property graph was when it was read

_log = logging.getLogger("kgqa.kg")


def store_of_files(files: Sequence[Path]) -> Path | None:
    """Return the folder that files are loaded into, now if they are new; None where they are to be read.

    They are where they are small, cannot be read, or where there is no place for a folder.

    Raises:
        KGMalformed: if a file is not what its suffix promises.
    """
    try:
        if sum(_graph_bytes(part) for file in files for part in parts_of(file)) < MIN_BYTES_KEPT:
            return None
        content = _hash_files(files)
        return _keep(content, is_store, lambda folder: build_store(_UnchangedFiles(files, content), folder))
    except (OSError, ValueError, RuntimeError, KGUnavailable):
        return None


def store_of_property_graph(reader: PropertyGraphReader) -> Path | None:
    """Return the folder that a property graph is kept in, read now if it is new, has changed or is old.

    None where it is to be read: where it is small, is not to be kept, or there is no place for a folder.
    Those who may see different parts of a graph have folders of their own.

    Raises:
        KGUnavailable: if it cannot be asked, or is too large.
    """
    size, at = reader.size(), reader.at
    counted = f"{size:,} nodes and relationships"
    if size > MAX_SIZE_KEPT:
        raise KGUnavailable(
            f"{reader.source} has {counted}; load it once: "
            "kgqa kg load ADDRESS --out FOLDER, then --kg FOLDER"
        )
    if size < MIN_SIZE_KEPT or not at.keep:
        return None
    user = at.auth and at.auth[0]
    identity = hashlib.sha256(repr((at.uri, user, at.database, at.id, at.names)).encode()).hexdigest()[:32]
    state = reader.state()

    def is_current(folder: Path) -> bool:
        try:
            kept = folder / STATE_FILE
            age = time.time() - kept.stat().st_mtime
            return is_store(folder) and kept.read_text("ascii") == state and abs(age) < at.keep * 3_600
        except (OSError, ValueError):
            return False

    def build(folder: Path) -> None:
        _log.warning("%s: reading %s; a copy is kept until they change", reader.source, counted)
        build_store(reader, folder)
        with suppress(OSError):
            (folder / STATE_FILE).write_text(state, "ascii")

    try:
        return _keep(identity, is_current, build)
    except (OSError, RuntimeError):
        return None
    except KGUnavailable as error:
        if not isinstance(error.__cause__, OSError):  # it cannot be asked
            raise
        return None


def _keep(identity: str, is_current: Callable[[Path], bool], build: Callable[[Path], object]) -> Path:
    """Return the folder of what is kept under a name, built now if not current; raise if it has no place."""
    folder = cache_folder() / "graphs" / f"{identity}-{STORE_VERSION}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.parent.chmod(0o700)

    def build_it() -> None:
        _remove_unused(folder.parent)
        build(folder)

    build_once(folder, is_current, build_it)
    os.utime(folder / FACTS_FILE)
    return folder


class _UnchangedFiles(QuadReader):
    """Reads files, and refuses them if they do not have their content any more when they are read."""

    def __init__(self, files: Sequence[Path], content: str) -> None:
        super().__init__(files)
        self._paths, self._content = files, content

    def load(self, store: ox.Store) -> None:
        super().load(store)
        if _hash_files(self._paths) != self._content:
            raise KGUnavailable("a file changed while it was loaded")


def _remove_unused(graphs: Path) -> None:
    """Remove what was not opened for long, and what loads that were broken off have left."""
    for folder in graphs.iterdir():
        if folder.is_dir():
            sweep_builds(folder, FACTS_FILE)
            with suppress(OSError):  # it is not empty
                folder.rmdir()
    opened = sorted((each.stat().st_mtime, each.parent) for each in graphs.glob(f"*/{FACTS_FILE}"))
    for seconds, folder in opened[: 1 - MAX_GRAPHS_KEPT]:
        if time.time() - seconds > MIN_SECONDS_KEPT and remove_folder(folder):
            folder.with_name(f"{folder.name}.lock").unlink(missing_ok=True)


def _graph_bytes(file: Path) -> int:
    """Return about how large a graph is; raise KGUnavailable for what is no file: the reader says so."""
    if not file.is_file():
        raise KGUnavailable(f"{file} is no file")
    return file.stat().st_size * (PACKED_RATIO if is_packed(file) or file.suffix.lower() == ".parquet" else 1)


def _hash_files(files: Sequence[Path]) -> str:
    """Hash names, which relative addresses in a file are made from, and content."""
    digest = hashlib.sha256()
    for path in (part for file in files for part in parts_of(file)):
        with path.open("rb") as file:
            digest.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\0".encode())
    return digest.hexdigest()[:32]
