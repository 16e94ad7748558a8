"""What the environment says about encoders: threads and the folder of caches."""

import os
from pathlib import Path

from kgqa.priors.errors import EncoderError


def threads() -> int:
    """Threads of one matrix product: ``KGQA_THREADS``, or 2, or 1 for a process that has one core.

    Raises:
        EncoderError: the variable is no whole number above 0.
    """
    text = os.environ.get("KGQA_THREADS", str(min(2, _cores())))
    if not text.isdecimal() or int(text) < 1:
        raise EncoderError(f"KGQA_THREADS must be a whole number above 0, not {text!r}")
    return int(text)


def _cores() -> int:
    """Count the cores that this process may use."""
    mine = getattr(os, "sched_getaffinity", None)
    return len(mine(0)) if mine else os.cpu_count() or 1


def home() -> Path:
    """Folder of what kgqa keeps between runs: ``KGQA_HOME``, or the user's cache folder."""
    named = os.environ.get("KGQA_HOME")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("kgqa")
