"""Sees to it that a file's quoted triples are not nested deeper than a parser's stack.

pyoxigraph follows ``<<( s p <<( s p o )>> )>>`` by recursion, and ends the process where that goes too
deep. A file that may go deep is first read through by a process of its own, in a thread with a small
stack: what passes there is safe here.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

from kgqa.kg.child import begin

STACK = 1 << 18
"""Bytes; threads have 8 MB, on some systems half of one."""

QUOTED = b"<<("
"""How a triple within a triple begins; ``<<`` alone names one, and nests nothing."""

DEEP = 100
"""Triples within each other that are safe anywhere: `STACK` bears some 500."""

LEAST, SLOWEST = 60, 100_000
"""Seconds that a file may be read through, and the bytes of it, packed or not, for which it has one more."""


class Depth:
    """Follows a text, a block at a time: how deep its triples may be nested at most.

    Nothing is understood of the text: what is written in a string or a comment counts as well, and
    nothing closes what was opened but, where they have a meaning, the ends of lines.

    Args:
        lines: whether a triple ends with its line.
    """

    def __init__(self, *, lines: bool) -> None:
        self._lines = lines
        self._open, self._last = 0, b""

    def most(self, block: bytes) -> int:
        """Give the depth that may be reached in this block."""
        text = self._last + block
        self._last = text[1 - len(QUOTED) :]
        if QUOTED not in text:
            self._open = 0 if self._lines and b"\n" in block else self._open
            return self._open
        first, *others = text.split(b"\n") if self._lines else (text,)
        depths = [self._open + first.count(QUOTED), *(line.count(QUOTED) for line in others)]
        self._open = depths[-1]
        return max(depths)


def check_depth(path: Path) -> None:
    """Read a file through in a process of its own.

    Raises:
        SyntaxError: if that overflows the stack, or does not end.
        OSError: if the file is gone, or no process can be begun.
    """
    seconds = LEAST + path.stat().st_size / SLOWEST
    with begin("kgqa.kg.nesting") as process:
        try:
            process.communicate(os.fsencode(path.absolute()), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise SyntaxError(
                "triples are quoted within each other and take too long to look through"
            ) from None
        finally:
            process.kill()
    if process.returncode:
        raise SyntaxError("triples are quoted within each other too deeply")


def _read_through() -> None:
    from kgqa.kg.loading import parsed_only

    path = Path(os.fsdecode(sys.stdin.buffer.read()))
    threading.stack_size(STACK)
    thread = threading.Thread(target=parsed_only, args=(path,))
    thread.start()
    thread.join()


if __name__ == "__main__":
    _read_through()
