"""Evaluates a method on a dataset: from questions to ``metrics.json``."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kgqa.api import KG
from kgqa.evaluation.at_home import at_home
from kgqa.evaluation.datasets import Dataset, load
from kgqa.evaluation.metrics import Metrics
from kgqa.evaluation.question import Question
from kgqa.evaluation.runs.errors import RunError
from kgqa.evaluation.runs.folder import Folder
from kgqa.evaluation.runs.header import header
from kgqa.evaluation.runs.loop import settled
from kgqa.evaluation.runs.order import Holding, holding
from kgqa.evaluation.runs.pool import Pool
from kgqa.evaluation.runs.processes import how_many, processes
from kgqa.evaluation.runs.run import Watch, begin
from kgqa.evaluation.runs.subject import Subject, subject
from kgqa.evaluation.runs.tally import Tally
from kgqa.kg.workers import Workers
from kgqa.models.port import Model

CONCURRENCY = 8
"""Questions that are asked at a time unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How a run ended: its folder, its head, its counts, and its metrics where it is complete."""

    out: Path
    head: Mapping[str, Any]
    """The content of ``run.json``."""
    tally: Tally
    metrics: Metrics | None
    """The content of ``metrics.json``; None as long as a question has no record."""


async def evaluate(
    dataset: str | Path | Dataset,
    *,
    out: str | Path,
    method: str = "cor",
    kg: KG | None = None,
    model: str | Model | None = None,
    format: str | None = None,
    split: str = "all",
    limit: int | None = None,
    concurrency: int = CONCURRENCY,
    seed: int = 0,
    retry_failed: bool = False,
    ray: str | None = None,
    stop: asyncio.Event | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> Evaluation:
    """Ask the questions of a dataset and measure the answers; the same call goes on where one ended.

    Args:
        dataset: "sample", a file of questions, or a dataset that is loaded already.
        out: the folder of the run: a new one, or that of a run that asks the same.
        method: one of `kgqa.graphs.METHODS`.
        kg: as `kgqa.aask` takes it.
        model: as `kgqa.aask` takes it, or ``simulated:accuracy=0.9``.
        format: of the file, one of `kgqa.evaluation.datasets.FORMATS`; told from the file where absent.
        split: the part of the dataset to ask.
        limit: questions to ask at most.
        concurrency: questions asked at a time.
        seed: of the simulated model and of the intervals.
        retry_failed: ask again what failed before.
        ray: HOST:PORT of the Ray cluster that asks, or "auto"; this machine is one of its nodes.
        stop: once it is set, no question is begun any more and the running ones end.
        watch: told before the first question and after each one how far the run is.
        options: the method's options.

    Raises:
        ValueError: in one line, for a dataset, folder, cluster or option that cannot be used, for a full
            disk, and where no process that asks questions is left.
        KGError: if the graph cannot be opened.
        ModelError: if the model cannot.
    """
    if concurrency < 1:
        raise RunError(f"questions are asked at least 1 at a time, not {concurrency}")
    if seed < 0:
        raise RunError(f"a seed is 0 or more, not {seed}")
    with ExitStack() as held:
        asked = subject(method, kg, model, options, seed, held)
        folder = held.enter_context(await asyncio.to_thread(Folder, Path(out)))
        part = Workers(1, "questions").submit(partial(_part, dataset, format, split, limit))
        loaded, questions = await asyncio.wrap_future(part)  # no pipe that nobody writes to keeps the process
        graph = await asked.open()
        held_here = await holding(asked, graph)
        head = await asyncio.to_thread(
            header,
            asked.context.config(),
            loaded,
            source=None if isinstance(dataset, Dataset) else str(dataset),
            split=split,
            limit=limit,
            questions=len(questions),
            holding=held_here,
            seed=seed,
        )
        await asyncio.to_thread(folder.check, head)
        left = len(questions) - await asyncio.to_thread(folder.recorded, failures=not retry_failed)
        async with _others(asked, held_here, ray, left, concurrency) as others:
            run = await asyncio.to_thread(
                begin, folder, head, await at_home(questions, graph), retry_failed=retry_failed
            )
            if run.waiting:
                held.enter_context(settled())
                await run.ask(
                    others or asked.asker(graph), concurrency, stop or asyncio.Event(), watch or _nobody
                )
        complete = run.tally.done == run.tally.total
        return Evaluation(folder.path, run.head, run.tally, await run.measure(graph) if complete else None)


def _others(
    asked: Subject, head: Holding, ray: str | None, left: int, concurrency: int
) -> AbstractAsyncContextManager[Pool | None]:
    """Give the workers that ask, where this process does not do so itself."""
    if ray and left > 0:
        from kgqa.evaluation.runs.cluster import cluster

        return cluster(asked, head, ray, left, concurrency)
    size = how_many(asked, left, concurrency)
    return processes(asked, head, size, concurrency) if size else nullcontext()


def _part(
    dataset: str | Path | Dataset, format: str | None, split: str, limit: int | None
) -> tuple[Dataset, Sequence[Question]]:
    loaded = dataset if isinstance(dataset, Dataset) else load(dataset, format)
    questions = loaded.part(split, limit)
    if len({question.id for question in questions}) < len(questions):
        raise RunError(f"{loaded.name} has several questions of one id; give each its own")
    return loaded, questions


def _nobody(tally: Tally) -> None:
    """Watch nothing."""
