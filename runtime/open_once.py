"""Opens each thing once, at first use; and the open things that a caller gives."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kgqa.kg.graph import KnowledgeGraph
from kgqa.locks import renew_in_child
from kgqa.models.interface import Model

T = TypeVar("T")

_NOTHING: Any = object()


class OpenOnce:
    """What is open, by its key; each thing is opened under a lock of its own.

    Nothing is in a process that was forked: it has none of the threads that a store needs.
    """

    def __init__(self) -> None:
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Forget what is open."""
        self.things: dict[Hashable, Any] = {}
        self._locks: dict[Hashable, threading.Lock] = {}
        self._guard = threading.Lock()

    def get(self, key: Hashable, open_: Callable[[], T]) -> T:
        """Return what is open under a key; call ``open_`` if nothing is."""
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            thing: T = self.things.get(key, _NOTHING)
            if thing is _NOTHING:
                thing = self.things[key] = open_()
            return thing  # which another thread may have forgotten by now

    def forget(self, outdated: Callable[[object], bool]) -> None:
        """Leave what has an outdated part in its key to those who still use it."""
        with self._guard:
            for key in list(self.things):
                if isinstance(key, tuple) and any(map(outdated, key)):
                    self.things.pop(key, None)
                    self._locks.pop(key, None)


@dataclass(frozen=True)
class GivenObjects:
    """The graph and the model that a Python caller gave open and not by name, and what was made of them."""

    graph: KnowledgeGraph | None = None
    model: Model | None = None
    opened: OpenOnce = field(default_factory=OpenOnce, compare=False)
