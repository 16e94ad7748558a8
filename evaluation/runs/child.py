"""A process that asks questions for a run: a question in, the lines of its record out.

First it says what it answers from, or why it cannot. It ends when nobody gives it
questions any more.
"""

import asyncio
import json
import os
import sys
from contextlib import ExitStack
from typing import Any, BinaryIO

from pydantic import TypeAdapter

from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.asking import Asker
from kgqa.evaluation.runs.loop import run
from kgqa.evaluation.runs.order import carried_out
from kgqa.evaluation.runs.records import line

LONGEST = 1 << 30
"""Bytes of the longest line that goes in or out."""

QUESTION = TypeAdapter(Question)
"""Reads a question."""


def main() -> None:
    """Serve a run; the first line of the input says what to open, and which of the cores to keep to."""
    given = json.loads(_first_line(0))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no record
    run(_serve(given, out), given["place"], tuple(given["cores"]))


def _first_line(file: int) -> bytes:
    """Read a line and nothing after it."""
    line = b""
    while (char := os.read(file, 1)) not in (b"", b"\n"):
        line += char
    return line


async def _serve(given: dict[str, Any], out: BinaryIO) -> None:
    loop, questions = asyncio.get_running_loop(), asyncio.StreamReader(LONGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(questions), sys.stdin.buffer)
    with ExitStack() as held:
        asker, said = await carried_out(given["order"], held)
        _write(line(said), out)
        if asker is None:
            return
        running: set[asyncio.Task[None]] = set()
        while (question := await questions.readline()).endswith(b"\n"):
            task = loop.create_task(_answer(asker, QUESTION.validate_python(json.loads(question)), out))
            running.add(task)
            task.add_done_callback(running.discard)
        for task in running:  # whoever wanted to know is gone
            task.cancel()


async def _answer(asker: Asker, question: Question, out: BinaryIO) -> None:
    asked = await asker.ask(question)
    _write(asked.lines.times + asked.lines.record, out)


def _write(lines: bytes, out: BinaryIO) -> None:
    try:
        out.write(lines)
        out.flush()
    except OSError:
        os._exit(1)


if __name__ == "__main__":
    main()
