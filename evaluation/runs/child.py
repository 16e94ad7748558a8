"""A process that asks questions for a run: a question in, the lines of its record out.

It ends when nobody gives it questions any more.
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
from kgqa.evaluation.runs.loop import run, settled
from kgqa.evaluation.runs.subject import subject
from kgqa.kg.errors import KGError
from kgqa.models.errors import ModelError

LONGEST = 1 << 30
"""Bytes of the longest line that goes in or out."""

_QUESTION = TypeAdapter(Question)


def main() -> None:
    """Serve a run; the first line of the input says what to open, and which of the cores to keep to."""
    order = json.loads(_first_line(0))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no record
    try:
        run(_serve(order, out), order["place"], tuple(order["cores"]))
    except (ValueError, KGError, ModelError) as error:
        sys.exit(f"kgqa: {error}")


def _first_line(file: int) -> bytes:
    """Read a line and nothing after it."""
    line = b""
    while (char := os.read(file, 1)) not in (b"", b"\n"):
        line += char
    return line


async def _serve(order: dict[str, Any], out: BinaryIO) -> None:
    loop, questions = asyncio.get_running_loop(), asyncio.StreamReader(LONGEST)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(questions), sys.stdin.buffer)
    with ExitStack() as held:
        asked = subject(order["method"], None, order["model"], order["options"], 0, held)
        asker = asked.asker(await asked.open())
        held.enter_context(settled())
        running: set[asyncio.Task[None]] = set()
        while (line := await questions.readline()).endswith(b"\n"):
            question = _QUESTION.validate_python(json.loads(line))
            task = loop.create_task(_answer(asker, question, out))
            running.add(task)
            task.add_done_callback(running.discard)
        for task in running:  # whoever wanted to know is gone
            task.cancel()


async def _answer(asker: Asker, question: Question, out: BinaryIO) -> None:
    asked = await asker.ask(question)
    try:
        out.write(asked.lines.times + asked.lines.record)
        out.flush()
    except OSError:
        os._exit(1)


if __name__ == "__main__":
    main()
