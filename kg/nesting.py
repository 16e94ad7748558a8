"""Sees to it that a file's quoted triples are not nested deeper than a parser's stack.

pyoxigraph follows ``<<( s p <<( s p o )>> )>>`` by recursion, and ends the process where that goes too
deep. A file that has such triples is first read through by a process of its own, in a thread with a
small stack: what passes there is safe here.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

STACK = 1 << 18
"""Bytes; threads have 8 MB, on some systems half of one."""

QUOTED = b"<<"
"""How a quoted triple begins."""


def check_depth(path: Path) -> None:
    """Read a file through in a process of its own.

    Raises:
        SyntaxError: if that overflows the stack.
    """
    ended = subprocess.run(
        (sys.executable, "-P", "-m", "kgqa.kg.nesting"),
        input=os.fsencode(path.absolute()),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        check=False,
    )
    if ended.returncode:
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
