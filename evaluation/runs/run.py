"""A run that has begun: what is recorded, what is left to ask, and how it is measured."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from kgqa.evaluation import intermediates
from kgqa.evaluation.grounding import check
from kgqa.evaluation.metrics import Metrics, Price as Cost, measure
from kgqa.evaluation.question import Question
from kgqa.evaluation.results import Result, ResultsError, read_results
from kgqa.evaluation.runs.asking import Asker
from kgqa.evaluation.runs.errors import RunError
from kgqa.evaluation.runs.folder import Folder
from kgqa.evaluation.runs.pool import Pool
from kgqa.evaluation.runs.prices import Price, price_of
from kgqa.evaluation.runs.tally import Tally
from kgqa.evaluation.runs.workers import work
from kgqa.evaluation.shapes import Mistake, to_result
from kgqa.evaluation.statistics import spread
from kgqa.kg.errors import KGError
from kgqa.kg.graph import KnowledgeGraph

_log = logging.getLogger(__name__)

Watch = Callable[[Tally], None]
"""Told before the first question and after each one how far a run is."""


@dataclass(frozen=True, slots=True)
class Run:
    """A claimed folder and the questions of the run."""

    folder: Folder
    head: Mapping[str, Any]
    questions: Sequence[Question]
    waiting: Sequence[Question]
    """Those without a record."""
    price: Price | None
    tally: Tally

    async def ask(self, asker: Asker | Pool, concurrency: int, stop: asyncio.Event, watch: Watch) -> None:
        """Ask what is left; see `work`.

        Raises:
            RunError: if the disk is full, or no worker of the pool is left.
        """
        writer = await asyncio.to_thread(self.folder.writer)

        async def one(question: Question) -> None:
            asked = await asker.ask(question)
            writer.add(asked.lines)
            self.tally.count(asked.record)
            watch(self.tally)

        watch(self.tally)
        try:
            await work(self.waiting, one, concurrency=concurrency, stop=stop)
        finally:
            writer.close()

    async def measure(self, graph: KnowledgeGraph) -> Metrics:
        """Put the records of a complete run in order, measure them, and write the metrics.

        Where the graph fails meanwhile, the strict grounded rate is unknown, and what lies
        between topics and answers.

        Raises:
            RunError: in one line, if a file of the run was changed so that it cannot be read.
        """
        results = await asyncio.to_thread(self._ordered)
        grounded: dict[str, bool | None] | None = None
        between: dict[str, int] = {}
        try:
            grounded = await check(results, graph)
            between = await intermediates.count(self.questions, graph)
        except KGError as error:
            _log.warning("the answers were not checked on the graph: %s", error)
        return await asyncio.to_thread(self._measured, results, grounded, between)

    def _ordered(self) -> list[Result]:
        self.folder.put_in_order([question.id for question in self.questions])
        try:
            return read_results(self.folder.path)
        except ResultsError as error:
            raise RunError(f"{error}; delete the line, and repeat the command") from None

    def _measured(
        self,
        results: Sequence[Result],
        grounded: Mapping[str, bool | None] | None,
        between: Mapping[str, int],
    ) -> Metrics:
        questions = intermediates.told(self.questions, between)
        metrics = measure(results, questions, grounded=grounded, seed=self.head["seed"])
        metrics["cost"] = self._cost(results)
        self.folder.write_intermediates(between)
        self.folder.write_metrics(metrics)
        return metrics

    def _cost(self, results: Sequence[Result]) -> Cost | None:
        if self.price is None:
            return None
        known = [cost for result in results if (cost := self.price.of(result.usage)) is not None]
        found = spread(known)
        return cast(Cost, {"total": sum(known), **found._asdict()}) if found else None


def begin(
    folder: Folder, head: Mapping[str, Any], questions: Sequence[Question], *, retry_failed: bool
) -> Run:
    """Claim a folder for a run and see what is left to ask (blocking).

    Raises:
        RunError: in one line, if the folder holds another run, or what it holds cannot be read.
    """
    head = folder.claim(head)
    if retry_failed:
        folder.drop_failed()
    price = price_of(head["config"]["model"], datetime.fromisoformat(head["started"]))
    tally = Tally(len(questions), price)
    left = {question.id: question for question in questions}
    asked = set(left)
    for record in folder.records():
        if record["id"] not in asked:
            raise RunError(
                f"{folder.path} has a record of {record['id']!r}, which is no question of this run"
            )
        if left.pop(record["id"], None) is None:
            continue
        try:
            to_result(record)
            tally.count(record)
        except (Mistake, KeyError, TypeError, AttributeError):
            raise RunError(
                f"{folder.path}: what results.jsonl says of {record['id']!r} is no record; "
                "delete the line, and the question is asked again"
            ) from None
    return Run(folder, head, questions, list(left.values()), price, tally)
