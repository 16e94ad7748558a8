"""Other words for prompts: a folder of files, each in the place of the constant text of one prompt.

The schema of a reply, its check and the case at hand stay as they are.
"""

import hashlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from kgqa import prompts
from kgqa.builds import new_folder
from kgqa.files import read_file
from kgqa.priors.errors import PriorError
from kgqa.prompts.base import Prompt

SUFFIX = ".txt"
MAX_WORDING_BYTES = 100_000  # of one prompt: a model reads them each time
_HINT = "make a folder of them: kgqa prompts export FOLDER"


class WordingError(PriorError):
    """A folder of prompts that cannot be read; one clear line that says what to do."""


@cache
def own_wordings() -> Mapping[str, str]:
    """Return the constant text of every prompt, by the name of the prompt; blocking."""
    for module in pkgutil.iter_modules(prompts.__path__):
        import_module(f"{prompts.__name__}.{module.name}")
    from kgqa.prompts.act import INSTRUCTIONS

    ours = (kind for kind in _subclasses(Prompt) if kind.__module__.startswith(f"{prompts.__name__}."))
    worded = {kind.name: kind.instructions for kind in ours if hasattr(kind, "instructions")}
    return dict(sorted({**worded, "act": INSTRUCTIONS}.items()))


def read_wordings(folder: str | None) -> Mapping[str, str]:
    """Return the texts of a folder, by the prompts that they are for; it is read once (blocking).

    Raises:
        WordingError: if it cannot be read, or a file of it is for no prompt.
    """
    found = _read_once(folder) if folder else {}
    if isinstance(found, str):
        raise WordingError(found)
    return found


def wording_fingerprint(folder: str | None) -> str | None:
    """Return a short hash of the texts of a folder; None without one, or where it cannot be read."""
    found = _read_once(folder) if folder else ""
    return None if isinstance(found, str) else hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]


def write_wordings(folder: Path) -> int:
    """Write our own texts into a new folder, to be changed there, and return how many there are."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WordingError(f"{folder} is there already; name a new folder")
    with new_folder(folder) as made:
        for name, text in own_wordings().items():
            (made / f"{name}{SUFFIX}").write_text(text, encoding="utf-8")
    return len(own_wordings())


@cache
def _read_once(folder: str) -> Mapping[str, str] | str:
    """Read the files of a folder, or say in one line why that cannot be done."""
    try:
        files = sorted(file for file in Path(folder).iterdir() if file.suffix == SUFFIX)
        return {file.stem: _read_wording(file) for file in files} or f"{folder} has no prompts; {_HINT}"
    except OSError as error:
        return f"cannot read the prompts in {error.filename or folder}: {error.strerror}; {_HINT}"
    except ValueError as error:
        return str(error)


def _read_wording(file: Path) -> str:
    known = own_wordings().keys() | {kind.name for kind in _subclasses(Prompt)}  # a user's own among them
    if file.stem not in known:
        raise ValueError(f"{file}: no prompt is called {file.stem!r}; there are: {', '.join(own_wordings())}")
    try:
        text = read_file(file, MAX_WORDING_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{file} is no text; write it as UTF-8") from None
    if not text.strip():
        raise ValueError(f"{file} is empty; leave it out to have our own words")
    return text


def _subclasses(kind: type[Any]) -> Iterator[type[Prompt[Any]]]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)
