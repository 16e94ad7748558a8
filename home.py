"""The folder of what kgqa keeps between runs, and how a thing gets there once."""

import atexit
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from kgqa.builds import make_scratch


def cache_folder() -> Path:
    """Return the folder of what kgqa keeps between runs: ``KGQA_HOME``, or the user's cache folder."""
    if named := os.environ.get("KGQA_HOME"):
        return Path(os.path.expanduser(named))  # that of pathlib raises where there is no such user
    from platformdirs import user_cache_path

    return user_cache_path("kgqa")


@cache
def temporary_folder() -> Path:
    """Return a folder that goes with this process, for what cannot be kept; OSError if there is none."""
    folder = make_scratch(Path(tempfile.gettempdir()), "kgqa-")
    atexit.register(folder.remove)
    return folder.path


os.register_at_fork(after_in_child=temporary_folder.cache_clear)


def build_once(folder: Path, is_built: Callable[[Path], bool], build: Callable[[], object]) -> None:
    """Build a folder if it is not there, one process while others wait; OSError if it cannot be written."""
    from filelock import FileLock

    if not is_built(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not is_built(folder):
                build()
