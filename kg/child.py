"""Begins modules of kgqa as processes of their own, and exchanges messages with them."""

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any

LOOK = 0.05
"""Seconds between two looks whether anyone still waits for a message."""

_OWN = ("PYTHON", "LD_", "DYLD_")
"""What of the environment Python needs; keys and addresses are not for the process."""


def begin(module: str, handles: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    """Run ``python -m module``, with pipes for what it reads and what it says.

    Args:
        module: its full name.
        handles: files that it has open, too.

    Raises:
        OSError: if no process can be begun.
    """
    own = {name: value for name, value in os.environ.items() if name.startswith(_OWN)}
    return subprocess.Popen(  # noqa: S603  # Python itself, and a module that kgqa names
        (sys.executable, "-P", "-m", module),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**own, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        pass_fds=handles,
        start_new_session=True,  # Ctrl-C is for kgqa
    )


class Lost(Exception):
    """The process has ended."""


class Child:
    """A process, and its messages: lines of JSON, with so many ``bytes`` behind each that it sends.

    Args:
        module: its full name.
        handles: files that it has open, too.

    Raises:
        OSError: if no process can be begun.
    """

    def __init__(self, module: str, handles: Sequence[int] = ()) -> None:
        self._popen = begin(module, handles)

    def send(self, said: dict[str, Any]) -> None:
        """Send a message.

        Raises:
            Lost: if the process has ended.
        """
        try:
            _pipe(self._popen.stdin).write(json.dumps(said).encode() + b"\n")
            _pipe(self._popen.stdin).flush()
        except BrokenPipeError:
            raise Lost from None

    def receive(self, stop: Callable[[], None]) -> tuple[dict[str, Any], bytes]:
        """Wait for a message, and give it with what is behind it.

        Raises:
            Lost: if the process has ended.
        """
        line = b""
        while b"\n" not in line:
            line += self._more(stop)
        head, _, rest = line.partition(b"\n")
        said, blocks, size = json.loads(head), [rest], len(rest)
        while size < said["bytes"]:
            blocks.append(self._more(stop))
            size += len(blocks[-1])
        return said, b"".join(blocks)

    def _more(self, stop: Callable[[], None]) -> bytes:
        file = _pipe(self._popen.stdout).fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(file, selectors.EVENT_READ)
            while not selector.select(LOOK):
                stop()
        if block := os.read(file, 1 << 20):
            return block
        raise Lost

    def end(self) -> None:
        """End the process, whatever it is at."""
        self._popen.kill()
        for pipe in (self._popen.stdin, self._popen.stdout):
            with suppress(OSError):
                _pipe(pipe).close()
        self._popen.wait()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError("the process has no such pipe")
    return pipe
