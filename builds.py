"""Folders that are built again while others read them, and what a process that was killed has left of them.

```
graph/
    kgqa.json                a head of JSON, which names the build
    build-0123456789abcdef/  the files of that build, to which links beside the head lead
        in-use               held by each that writes or reads them; a build that nobody holds may be removed
```

A complete build takes the place of another in one step, on any disk: its head does. Who has opened the other
goes on with it. What nobody holds and no head names goes with the next build.
"""

import errno
import fcntl
import json
import os
import re
import shutil
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, TypeVar

from kgqa.files import read_file

T = TypeVar("T")

BUILD_PREFIX = "build-"
SCRATCH_PREFIX = ".kgqa-"
LOCK_FILE = "in-use"
_TOKEN = re.compile(r"[0-9a-f]{16}")
_LOCK_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class HeldFolder:
    """A folder that nobody removes until it is released, which it is with this object at the latest."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path, self._holder = path, os.getpid()
        self.release = weakref.finalize(self, os.close, lock)
        self.release.atexit = False

    def remove(self) -> None:
        """Remove and release it; a process that was forked leaves it to the one that holds it."""
        if os.getpid() == self._holder:
            shutil.rmtree(self.path, ignore_errors=True)
        self.release()


@contextmanager
def new_build(
    folder: Path, head: str, names: Iterable[str] = (), check: Callable[[], object] = lambda: None
) -> Iterator[Path]:
    """Make a new build of a folder: the block writes its files, and the head among them, which names it.

    The folder has this build from the end of the block on, or the one that it had if the block fails.

    Args:
        folder: what is built; it may be there or not.
        head: the name of the file that says what is in it.
        names: files of the build to which links beside the head lead, for other programs.
        check: called when nobody else changes the head any more; what it raises ends the block.

    Raises:
        OSError: if it cannot be written.
    """
    was_there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sweep_builds(folder, head)
        build = _make_held(folder, BUILD_PREFIX)
        try:
            yield build.path
            build.path.chmod(0o755)
            with _changing(folder):
                check()
                os.replace(build.path / head, folder / head)
            for name in names:
                _link(folder / name, build.path / name)
        finally:
            build.release()
    finally:
        sweep_builds(folder, head)
        if not was_there:
            with suppress(OSError):
                folder.rmdir()


def hold_build(folder: Path, head: Mapping[str, Any]) -> HeldFolder:
    """Return the build that a head names, held.

    Raises:
        OSError: if it is gone; another has taken its place then (`read_head`), or somebody removed it.
        ValueError: if the head names none.
    """
    if not _is_build(name := str(head.get("build"))):
        raise ValueError("the head names no build")
    return HeldFolder(folder / name, _lock(folder / name, fcntl.LOCK_SH, os.O_RDONLY))


def read_head(file: Path, read: Callable[[bytes], T]) -> T:
    """Return what ``read`` makes of a head and its build; again where these were replaced meanwhile.

    Raises:
        OSError: if there is no such file; and whatever ``read`` raises.
    """
    head = read_file(file)
    while True:
        try:
            return read(head)
        except Exception:
            now = head
            with suppress(OSError):
                now = read_file(file)
            if now == head:
                raise
            head = now


def edit_head(file: Path, edit: Callable[[bytes], bytes]) -> None:
    """Put what ``edit`` makes of a head in its place; nobody else changes it meanwhile.

    Raises:
        OSError: if it cannot be written; and whatever ``edit`` raises.
    """
    with _changing(file.parent):
        text = edit(read_file(file))
        replace_file(file, lambda written: written.write(text))


def is_remains(folder: Path) -> bool:
    """Return whether a folder holds nothing but builds that were broken off; an empty one does."""
    return folder.is_dir() and all(_is_build(each.name) for each in folder.iterdir())


def has_build(folder: Path) -> bool:
    """Return whether a folder has a build, complete or not."""
    return any(_is_build(each.name) and each.is_dir() for each in folder.iterdir())


def remove_folder(folder: Path) -> bool:
    """Remove a built folder, unless somebody holds a build of it; return whether it is gone."""
    sweep(folder, BUILD_PREFIX)
    if gone := not has_build(folder):
        shutil.rmtree(folder, ignore_errors=True)
    return gone


def replace_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file aside and move it into place, so that others see all of it or the old one; it keeps modes.

    Raises:
        OSError: if it cannot be written.
    """
    with scratch_folder(path.parent) as scratch:
        with open(scratch / path.name, "wb") as file:
            with suppress(OSError):  # there is no old one, or no modes on this disk
                shutil.copymode(path, scratch / path.name)
            write(file)
            file.flush()
            os.fsync(file.fileno())  # a machine that goes down leaves the old one or the new one, too
        os.replace(scratch / path.name, path)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Make a folder that is there once the block has filled it, and not before.

    Raises:
        OSError: if it cannot be written.
    """
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with scratch_folder(folder.parent) as scratch:
        made = scratch / folder.name
        made.mkdir()
        yield made
        if folder.is_dir():  # somebody may be in it
            for each in made.iterdir():
                os.rename(each, folder / each.name)
        else:
            os.rename(made, folder)


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Make a folder for as long as the block lasts; those of processes that were killed in theirs go, too.

    Raises:
        OSError: if it cannot be made.
    """
    scratch = make_scratch(parent, SCRATCH_PREFIX)
    try:
        yield scratch.path
    finally:
        scratch.remove()


def make_scratch(parent: Path, prefix: str) -> HeldFolder:
    """Make a folder, held, and remove those that begin so and are not held; raise OSError too."""
    sweep(parent, prefix)
    return _make_held(parent, prefix)


def sweep(parent: Path, prefix: str, is_kept: Callable[[str], bool] = lambda name: False) -> None:
    """Remove the folders that begin so and that nobody holds, but for those whose name ``is_kept``."""
    made = [each for each in parent.iterdir() if _is_made(each.name, prefix) and not each.is_symlink()]
    for folder in made:
        try:
            lock = _lock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB, os.O_RDWR | os.O_CREAT)
        except OSError:  # it is held, or nobody's of this user
            continue
        try:  # held by nobody, it is not about to be named by a head
            if not is_kept(folder.name):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def sweep_builds(folder: Path, head: str) -> None:
    """Remove the builds of a folder that its head does not name and nobody holds."""

    def is_kept(name: str) -> bool:
        try:
            found = json.loads(read_file(folder / head))
            return isinstance(found, dict) and found.get("build") == name
        except (FileNotFoundError, ValueError, RecursionError):  # a damaged one names none
            return False
        except OSError:
            return True

    with suppress(OSError):
        sweep(folder, BUILD_PREFIX, is_kept)
        sweep(folder, SCRATCH_PREFIX)  # of `edit_head`


def _make_held(parent: Path, prefix: str) -> HeldFolder:
    while True:
        folder = parent / f"{prefix}{token_hex(8)}"
        folder.mkdir(mode=0o700)
        try:
            return HeldFolder(folder, _lock(folder, fcntl.LOCK_SH, os.O_RDWR | os.O_CREAT))
        except FileNotFoundError:  # somebody sweeps: it was held by nobody for a moment
            continue
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _lock(folder: Path, how: int, flags: int) -> int:
    """Lock a folder that is there, for as long as the file that is returned is open.

    Who shares it waits for those who sweep: they hold it for a moment, or until it is gone.

    Raises:
        OSError: if it is gone, or others hold what is wanted alone; that fails where a disk knows no locks.
    """
    lock = os.open(folder / LOCK_FILE, flags | _LOCK_FLAGS, 0o644)
    try:
        try:
            fcntl.flock(lock, how)
        except OSError:
            if how != fcntl.LOCK_SH:
                raise
        if not os.path.samestat(os.fstat(lock), os.stat(folder / LOCK_FILE)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
    except BaseException:
        os.close(lock)
        raise
    return lock


@contextmanager
def _changing(folder: Path) -> Iterator[None]:
    """Let nobody else change the head of a folder meanwhile, where a disk knows locks."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _is_build(name: str) -> bool:
    return _is_made(name, BUILD_PREFIX)


def _is_made(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and _TOKEN.fullmatch(name, len(prefix)) is not None


def _link(link: Path, file: Path) -> None:
    """Have a link lead to a file of a build; what former versions of kgqa have laid in its place goes."""
    new = file.with_name(f"{file.name}.link")
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link, ignore_errors=True)
    with suppress(OSError):  # a disk without links
        os.symlink(Path(file.parent.name, file.name), new)
        os.replace(new, link)
