"""Opens models of sentence-transformers, by folder or by the name that the hub of Hugging Face has."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

SECONDS = 10
"""How long the hub may take to answer at all."""

LIBRARIES = ("huggingface_hub", "transformers", "sentence_transformers")


def opened(kind: Callable[..., T], model: str) -> T:
    """Open a model on the CPU: a folder, or a name, which is fetched once and kept (blocking).

    Where the hub does not answer, only what was fetched before is looked at: its client
    would try for most of a minute, and say so each time.

    Args:
        kind: a class of sentence-transformers.
        model: the folder, or the name.

    Raises:
        OSError: in one line, if it cannot be opened.
    """
    from huggingface_hub.errors import HFValidationError
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    folder = Path(model).is_dir()
    try:
        with _quiet():
            return kind(model, device="cpu", local_files_only=not (folder or _asked(model)))
    except HFValidationError:
        raise OSError("there is no such folder") from None
    except Exception as error:  # whatever the hub, torch and the files' readers raise
        raise OSError((str(error).splitlines() or [type(error).__name__])[0]) from error


def _asked(model: str) -> bool:
    """Ask the hub for a model, and tell whether it answers anything.

    Raises:
        HFValidationError: if no model can have this name.
    """
    from huggingface_hub import get_session, hf_hub_url

    address = hf_hub_url(model, "config.json")
    try:
        get_session().head(address, timeout=SECONDS)
    except Exception:  # no network, a proxy that refuses, offline mode: each raises its own
        return False
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    """Hold back what the libraries warn of: what matters comes as an exception."""
    levels = {logging.getLogger(name): logging.getLogger(name).level for name in LIBRARIES}
    for logger in levels:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
