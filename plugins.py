"""What a user brings: methods, datasets and metrics that stand in packages or files of their own.

A name is that of an entry point of an installed package (groups ``kgqa.methods``, ``kgqa.datasets``
and ``kgqa.metrics``), or says where the thing is: ``package.module:name``, ``path/to/file.py:name``.

Loading runs their code: only what the user of a command line or of Python names is loaded, never what
a caller of a server says, or a file that others may have written.
"""

import hashlib
import os
import re
import sys
import threading
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any, Literal, NoReturn

Group = Literal["methods", "datasets", "metrics"]

PLACE = re.compile(r"(?P<module>.+\.py|[^\W\d][\w.]*):(?P<name>[^\W\d]\w*)")
"""How a name says where the thing is."""


class PluginError(ValueError):
    """Something of a user's own that cannot be loaded; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A thing of a user's own: what it is called, the thing, and a short hash of the file it stands in."""

    name: str
    thing: Any
    fingerprint: str | None = None


def plugin_names(group: Group) -> tuple[str, ...]:
    """Return the names that installed packages have given things of a group, sorted."""
    return tuple(sorted(_entry_points(group)))


def names_plugin(group: Group, name: str) -> bool:
    """Return whether a name is one of `plugin_names`, or says where a thing is."""
    return bool(PLACE.fullmatch(name)) or name in _entry_points(group)


def load_plugin(group: Group, name: str) -> Plugin:
    """Load a thing of a user's own; raise `PluginError` if there is none, or it cannot be imported."""
    place = PLACE.fullmatch(name)
    if place:
        called, module, path = place["name"], place["module"], place["name"]
    elif entry := _entry_points(group).get(name):
        called, module, path = name, entry.module, entry.attr
    else:
        known = plugin_names(group)
        installed = f"installed are: {', '.join(known)}" if known else "none are installed"
        raise PluginError(f"no {group[:-1]} is called {name!r}; {installed}; or name yours as module:name")
    thing: Any = _import(module)
    file = getattr(thing, "__file__", None)
    for part in path.split("."):
        if not hasattr(thing, part):
            raise PluginError(f"{module} has no {path!r}; name one of its own after the colon")
        thing = getattr(thing, part)
    fingerprint = _fingerprint if module.endswith(".py") else _fingerprint_once  # a module is imported once
    return Plugin(called, thing, fingerprint(file) if file else None)


def _entry_points(group: Group) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"kgqa.{group}")}


def _import(named: str) -> ModuleType:
    """Import a module by its name, or from its file; what stands beside either can be imported from there."""
    try:
        if named.endswith(".py"):
            return _import_file(Path(named).expanduser().resolve())
        _add_to_path(os.getcwd())
        return import_module(named)
    except PluginError:
        raise
    except ModuleNotFoundError as error:
        if error.name and f"{named}.".startswith(f"{error.name}."):
            hint = "install its package, or name its file, as path/to/file.py:name"
            raise PluginError(f"no module is called {named!r}; {hint}") from None
        raise _not_importable(named, error) from None
    except (Exception, SystemExit) as error:  # whatever the user's own code raises
        raise _not_importable(named, error) from None


def _import_file(path: Path) -> ModuleType:
    """Import a file as it is now, under a name that no other module has."""
    if not path.is_file():
        raise PluginError(f"no such file: {path}; name the file of your own code, or a module")
    with _importing:
        return _import_version(path, _fingerprint(str(path)))


class _SourceLoader(SourceFileLoader):
    """Takes no compiled file, which may be of what stood here in the same second."""

    def path_stats(self, path: Any) -> NoReturn:
        raise OSError


_importing = threading.RLock()  # a file runs once, whichever threads name it first; it may name another
os.register_at_fork(
    before=_importing.acquire, after_in_parent=_importing.release, after_in_child=_importing.release
)


@cache
def _import_version(path: Path, fingerprint: str) -> ModuleType:
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = spec_from_file_location(name, path, loader=_SourceLoader(name, str(path)))
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} is no file of Python")
    module = module_from_spec(spec)
    _add_to_path(str(path.parent))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _add_to_path(folder: str) -> None:
    """Let modules of a folder be imported, those of other places first."""
    if folder not in sys.path:
        sys.path.append(folder)


def _not_importable(named: str, error: BaseException) -> PluginError:
    last = [] if isinstance(error, SyntaxError) else extract_tb(error.__traceback__)[-1:]  # that says where
    where = "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in last)
    said = " ".join(str(error).split())
    return PluginError(f"{named} cannot be imported: {type(error).__name__}: {said}{where}; mend it")


def _fingerprint(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


_fingerprint_once = cache(_fingerprint)
