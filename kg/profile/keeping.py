"""Keeps profiles of endpoints under the user's home, by what is known of the graph there."""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue

from kgqa.builds import replace_file
from kgqa.files import read_file
from kgqa.home import cache_folder
from kgqa.kg.profile.profile import Profile

MAX_SECONDS_WAITED = 5.0
"""Until which a profile is waited for; then the graph is asked without one, and later calls have it."""

_log = logging.getLogger("kgqa.kg")


def kept_profile(fingerprint: str, make: Callable[[], Profile]) -> Profile:
    """Return the profile of a graph by its fingerprint, made now if it is new; empty where that takes long.

    It is made in a thread of its own, and kept for the next time, whoever still waits for it.
    """
    path = cache_folder() / "profiles" / f"{fingerprint}.json"
    with suppress(OSError, ValueError):
        return Profile.read(read_file(path))
    made: SimpleQueue[Profile] = SimpleQueue()

    def run() -> None:
        try:
            profile = make()
            made.put(profile)
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, lambda file: file.write(profile.write()))
        except Exception as error:  # the endpoint's, the disk's, or of a process that is ending
            made.put(Profile())
            _log.info("no profile of the endpoint: %s", error)

    threading.Thread(target=run, name="kgqa-profile", daemon=True).start()
    try:
        return made.get(timeout=MAX_SECONDS_WAITED)
    except Empty:
        return Profile()
