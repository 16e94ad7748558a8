"""A process that runs commands of ``kgqa``, one after the other: each line of its input is one."""

import json
import sys

from kgqa.cli import main as command


def run(words: list[str]) -> int:
    """Run one command; gives its exit status."""
    sys.argv = ["kgqa", *words]
    try:
        command.main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


if __name__ == "__main__":
    ended = [run(json.loads(line)) for line in sys.stdin.read().splitlines()]
    sys.stderr.write(f"\nended: {json.dumps(ended)}\n")
