"""What is renewed in a process that was forked: its locks, which threads that it does not have may hold."""

import os
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar, overload
from weakref import WeakSet

T = TypeVar("T")


class Renewed(Protocol):
    """What can be made as it was at first."""

    def renew(self) -> None:
        """Make it so."""


_renewed: WeakSet[Renewed] = WeakSet()


def renew_in_child(thing: Renewed) -> None:
    """Have a thing renewed in every process that is forked from this one."""
    _renewed.add(thing)


def _renew_all() -> None:
    for thing in list(_renewed):
        thing.renew()


os.register_at_fork(after_in_child=_renew_all)


class ProcessLock:
    """A lock, free in a process that was forked; what it guards must bear to be left in the middle."""

    def __init__(self) -> None:
        self.renew()
        renew_in_child(self)

    def renew(self) -> None:
        """Be free."""
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        """Wait until it is free, and hold it."""
        self._lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let it go, unless it was renewed meanwhile."""
        if self._lock.locked():
            self._lock.release()


class cached_property(Generic[T]):
    """A property that is computed once, like that of functools, which before Python 3.12 has a lock."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        """Compute it, and leave it where it is found before this is asked again."""
        if instance is None:
            return self
        value = self._compute(instance)
        instance.__dict__[self._name] = value
        return value
