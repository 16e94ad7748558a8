"""Asks a list of questions and hands over their records, in the order of the list."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from kgqa.api import KG
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.asking import Asker, make_subject
from kgqa.evaluation.runs.event_loop import for_each
from kgqa.evaluation.runs.processes import count_processes, open_processes
from kgqa.evaluation.runs.records import RunError
from kgqa.evaluation.runs.worker_pool import read_sources
from kgqa.models.interface import Model

Record = Mapping[str, Any]


async def ask_many(
    questions: Sequence[Question],
    take: Callable[[Record], object],
    *,
    method: str,
    kg: KG | None,
    model: str | Model | None,
    options: Mapping[str, Any],
    concurrency: int,
    stop: asyncio.Event | None = None,
    watch: Callable[[Record], object] = lambda record: None,
) -> None:
    """Ask questions, several at a time, and hand each record to ``take`` once those before it are there.

    Many questions are asked from several processes (`processes`). Once ``stop`` is set none is begun.

    Args:
        questions: What to ask.
        take: Given each record, in the order of the questions.
        method: one of `kgqa.graphs.METHODS`.
        kg: as `kgqa.aask` takes it.
        model: as `kgqa.aask` takes it.
        options: the method's options.
        concurrency: questions asked at a time.
        stop: ends the run once it is set.
        watch: given each record as soon as it is there.

    Raises:
        ValueError: in one line, for an option that is not taken.
        KGError: if the graph cannot be opened.
        ModelError: if the model cannot.
    """
    subject = make_subject(method, kg, model, options, 0)
    if subject.simulated:
        raise RunError("a simulated model knows the answers of a dataset: kgqa eval asks it")
    graph = await subject.open()
    size = count_processes(subject, len(questions), concurrency)
    head = await read_sources(subject, graph) if size else {}
    places = {question.id: place for place, question in enumerate(questions)}
    waiting: dict[int, Record] = {}
    first = 0

    async with open_processes(subject, head, size, concurrency) if size else nullcontext() as pool:
        asker = pool or Asker(subject, graph)

        async def ask(question: Question) -> None:
            nonlocal first
            record = (await asker.ask(question)).record
            waiting[places[question.id]] = record
            watch(record)
            while first in waiting:
                take(waiting.pop(first))
                first += 1

        await for_each(questions, ask, concurrency, stop)
