"""Asks many questions at once from Python: as a run does, in its processes where that pays; no folder."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from kgqa.api import KG, AnyModel, make_context, make_input
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.runs.asking import Asker, subject_of
from kgqa.evaluation.runs.event_loop import for_each
from kgqa.evaluation.runs.processes import (
    CONCURRENCY_PER_PROCESS,
    MAX_PROCESSES,
    count_processes,
    open_asker,
)
from kgqa.evaluation.runs.records import TIME_FIELDS, AskedRecord, RunError, failed_record
from kgqa.evaluation.runs.worker_pool import WorkerPool
from kgqa.kg.errors import KGError
from kgqa.kg.triples import Frame
from kgqa.models.errors import ModelError
from kgqa.models.registry import is_offline
from kgqa.priors.errors import EncoderError, PriorError
from kgqa.runtime.graph_builder import MethodGraph
from kgqa.runtime.record import Record
from kgqa.runtime.record_text import Answered
from kgqa.runtime.state import Input, question_id
from kgqa.sync import run_sync


async def abatch(
    questions: Iterable[str | Input],
    *,
    method: str | MethodGraph = "compose",
    kg: KG | None = None,
    model: AnyModel | None = None,
    concurrency: int = CONCURRENCY_PER_PROCESS,
    **options: Any,
) -> list[Record]:
    """Answer many questions, and return their records in the order of the questions.

    Each has one, whatever fails: a question that cannot be asked, too, and one whose process was lost; what
    an exception said is under ``error``. Where the model is offline and they are many, processes ask them.

    Args:
        questions: texts, or with their topics and ids as ``{"question": ..., "topics": [...], "id": ...}``.
        method: as of `kgqa.aask`, like kg, model and options.
        kg: the graph; one that is open stays in this process.
        model: who answers prompts; one that is open stays in this process.
        concurrency: questions asked at a time, by each process.
        options: the method's options.

    Raises:
        ValueError: for an unknown method, an option that is not taken, a concurrency below 1.
    """
    if concurrency < 1:
        raise RunError(f"questions are asked at least 1 at a time, not {concurrency}")
    if isinstance(questions, str | Mapping):
        raise RunError("questions come in a list; for one alone there is ask")
    if isinstance(questions, Frame):
        raise RunError('questions come in a list; of a data frame: frame.to_dict("records")')
    subject = subject_of(await asyncio.to_thread(make_context, method, options, kg, model))
    config = subject.context.config()
    records: dict[str, Record] = {}
    waiting: dict[str, tuple[Question, str]] = {}  # by their place, which is their id meanwhile

    def keep(asked: AskedRecord) -> None:
        place = asked.record["id"]
        records[place] = _read_record(asked, waiting.pop(place)[1])

    for place, given in enumerate(questions):
        about = given if isinstance(given, Mapping) else {"question": given}
        question = Question(str(place), str(about.get("question")))
        waiting[str(place)] = question, question_id(question.text)
        try:
            waiting[str(place)] = _read_question(question, about)
        except ValueError as error:
            keep(failed_record(question, config, error))

    async def ask_all(asker: Asker | WorkerPool, at_once: int) -> None:
        async def ask_one(question: Question) -> None:
            keep(await asker.ask(question))

        await for_each([question for question, _ in waiting.values()], ask_one, at_once)

    try:
        size = 0
        if is_offline(subject.context.model):
            size = count_processes(subject, len(waiting), CONCURRENCY_PER_PROCESS * MAX_PROCESSES)
        if size:
            async with open_asker(subject, size, size * concurrency) as asker:
                await ask_all(asker, size * concurrency)
    except (KGError, ModelError, EncoderError, PriorError, OSError):
        pass  # the record of each question tells it
    except RunError as error:  # processes are lost whatever they are asked
        for question, _ in list(waiting.values()):
            keep(failed_record(question, config, error))
    await ask_all(Asker(subject), concurrency)
    return [records[str(place)] for place in range(len(records))]


def batch(questions: Iterable[str | Input], **arguments: Any) -> list[Record]:
    """Answer many questions from a script, a notebook or a thread; see `abatch` for the arguments."""
    return run_sync(abatch(questions, **arguments))


def _read_question(question: Question, about: Mapping[str, Any]) -> tuple[Question, str]:
    """Return a question as the processes of a run take it, with its topics, and the id it has for the caller.

    Raises:
        ValueError: if it cannot be asked.
    """
    if "question" not in about:
        raise ValueError(f"a question is given as 'question', and not by {', '.join(map(str, about))}")
    given = make_input(about["question"], about.get("topics") or (), about.get("id"))
    topics = (
        EntityRef(None, each) if isinstance(each, str) else EntityRef(each["id"], each["name"])
        for each in given.get("topics", ())
    )
    taken = replace(question, text=given["question"], topics=tuple(topics))
    return taken, given.get("id") or question_id(taken.text)


def _read_record(asked: AskedRecord, id: str) -> Record:
    """Return the record of a question with its times, under the id that it has for the caller."""
    times = json.loads(asked.times_line)
    usage = {**asked.record["usage"], **{key: times[key] for key in TIME_FIELDS}}
    return cast(Record, Answered(asked.record, id=id, usage=usage))
