"""Evaluates a method on a dataset: from questions to ``metrics.json``."""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from kgqa.api import KG, AnyModel
from kgqa.evaluation.datasets import Dataset, load
from kgqa.evaluation.datasets.sources import find_part
from kgqa.evaluation.paper_analysis import intermediates
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.result import Result, ResultsError
from kgqa.evaluation.result_files import InvalidRecord, parse_result, read_results
from kgqa.evaluation.runs.asking import OWN, Asker, QuestionGraphs, Subject, make_subject
from kgqa.evaluation.runs.event_loop import for_each, garbage_frozen
from kgqa.evaluation.runs.folder import RunFolder, make_header
from kgqa.evaluation.runs.processes import count_processes, open_processes
from kgqa.evaluation.runs.progress import Tally, find_price
from kgqa.evaluation.runs.records import RunError
from kgqa.evaluation.runs.worker_pool import Sources, WorkerPool, read_sources
from kgqa.evaluation.scoring.grounding import MAX_CONCURRENT_RESULTS, check_grounding, result_key
from kgqa.evaluation.scoring.own import MetricFunction, OwnMetric, load_metrics
from kgqa.evaluation.scoring.run_metrics import Metrics, measure_results
from kgqa.evaluation.scoring.statistics import summarise_total
from kgqa.evaluation.scoring.tables import TABLES_FILE, AnswerTables, read_tables, with_given, with_gold
from kgqa.kg.dialects import is_foreign
from kgqa.kg.errors import KGError
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.store.embedded import DaemonThreads
from kgqa.runtime.graph_builder import MethodGraph

MAX_CONCURRENT_TOPICS = 8  # topics that are looked up at a time


async def align_topics(questions: Sequence[Question], graph: KnowledgeGraph) -> list[Question]:
    """Return the questions with topics that the graph knows by their ids.

    Where the file has the topics by ids of this kind of graph, they are taken, and no others:
    what nobody has mapped is lost, as in the papers. A topic that has an id of another kind of
    graph only is looked up by it, for many entities of Wikidata say which of Freebase they are; if
    nothing is found, its name is left. On a graph of no known kind all topics are as in the file.
    """
    chosen = [replace(question, topics=_native_topics(question, graph.dialect)) for question in questions]
    topics = (topic for question in chosen for topic in question.topics)
    foreign = dict.fromkeys(topic.id for topic in topics if topic.id and is_foreign(topic.id, graph.dialect))
    found: dict[str, str | None] = {}

    async def find(id: str) -> None:
        matches = await graph.find_entities(id, 1)
        found[id] = matches[0].entity.id if matches and matches[0].how == "id" else None

    await for_each(foreign, find, MAX_CONCURRENT_TOPICS)
    return [
        replace(question, topics=_mapped_topics(question.topics, found), other_topics=())
        for question in chosen
    ]


def _native_topics(question: Question, dialect: str) -> tuple[EntityRef, ...]:
    """Return the first choice without an id of another kind of graph; the file's own where there is none."""
    for topics in filter(None, (question.topics, *question.other_topics)):
        if not any(topic.id and is_foreign(topic.id, dialect) for topic in topics):
            return topics
    return question.topics


def _mapped_topics(topics: Sequence[EntityRef], found: Mapping[str, str | None]) -> tuple[EntityRef, ...]:
    known = (replace(topic, id=found.get(topic.id or "", topic.id)) for topic in topics)
    return tuple(topic for topic in known if topic.id or topic.name)


_log = logging.getLogger(__name__)

ProgressWatcher = Callable[[Tally], None]
"""Told before the first question and after each one how far a run is."""


@dataclass(frozen=True, slots=True)
class EvaluationRun:
    """A claimed folder and the questions of the run."""

    folder: RunFolder
    head: Mapping[str, Any]
    questions: Sequence[Question]
    waiting: Sequence[Question]  # those without a record
    tally: Tally

    async def ask(
        self, asker: Asker | WorkerPool, concurrency: int, stop: asyncio.Event, watch: ProgressWatcher
    ) -> None:
        """Ask what is left."""
        await asyncio.to_thread(self.folder.open_logs)

        async def ask_one(question: Question) -> None:
            asked = await asker.ask(question)
            self.folder.add(asked)
            self.tally.count(asked.record)
            watch(self.tally)

        watch(self.tally)
        await for_each(self.waiting, ask_one, concurrency, stop)

    async def measure(
        self, graph: KnowledgeGraph, own: Sequence[OwnMetric], graphs: QuestionGraphs | None = None
    ) -> Metrics:
        """Put the records of a complete run in order, measure them, and write the metrics.

        Where the graph fails meanwhile, the strict grounded rate is unknown, and what lies
        between topics and answers.
        """
        results = await asyncio.to_thread(self._ordered)
        grounded: dict[str, bool | None] | None = None
        between: dict[str, int] = {}
        tables: AnswerTables = {"gold": {}, "given": {}}
        try:
            if graphs:
                grounded = await _check_on_own_graphs(results, graph, graphs)
            else:
                tables = await read_tables(self.questions, results, graph)
                grounded = await check_grounding(results, graph)
                between = await intermediates.count_intermediates(self.questions, graph)
        except KGError as error:
            _log.warning("the answers were not checked on the graph: %s", error)
        return await asyncio.to_thread(self._measured, results, grounded, between, tables, own)

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
        tables: AnswerTables,
        own: Sequence[OwnMetric],
    ) -> Metrics:
        questions = with_gold(intermediates.with_intermediates(self.questions, between), tables["gold"])
        results = with_given(results, questions, tables["given"])
        metrics = measure_results(results, questions, grounded=grounded, seed=self.head["seed"], own=own)
        if (price := self.tally.price) is not None:
            known = [cost for result in results if (cost := price.of(result.usage)) is not None]
            metrics["cost"] = summarise_total(known)
        self.folder.write_json(intermediates.INTERMEDIATES_FILE, between)
        if tables["gold"]:
            self.folder.write_json(TABLES_FILE, tables)
        self.folder.write_json("metrics.json", metrics)
        return metrics


def begin_run(
    folder: RunFolder, head: Mapping[str, Any], questions: Sequence[Question], *, retry_failed: bool
) -> EvaluationRun:
    """Claim a folder for a run and see what is left to ask (blocking)."""
    head = folder.claim(head)
    if retry_failed:
        folder.drop_failed()
    price = find_price(head["config"]["model"], datetime.fromisoformat(head["started"]))
    tally = Tally(len(questions), price)
    left = {question.id: question for question in questions}
    asked = set(left)
    for record in folder.read_records():
        id = record["id"]
        if id not in asked:
            raise RunError(f"{folder.path} has a record of {id!r}, which is no question of this run")
        if left.pop(id, None) is None:
            continue
        try:
            parse_result(record)
            tally.count(record)
        except (InvalidRecord, KeyError, TypeError, AttributeError):
            said = f"{folder.path}: what results.jsonl says of {id!r} is no record"
            raise RunError(f"{said}; delete the line, and the question is asked again") from None
    return EvaluationRun(folder, head, questions, list(left.values()), tally)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How a run ended: its folder, its head, its counts, and its metrics where it is complete."""

    out: Path
    head: Mapping[str, Any]  # the content of ``run.json``
    tally: Tally
    metrics: Metrics | None  # the content of ``metrics.json``; None as long as a question has no record


async def evaluate(
    dataset: str | Path | Dataset,
    *,
    out: str | Path,
    method: str | MethodGraph = "compose",
    kg: KG | None = None,
    model: AnyModel | None = None,
    format: str | None = None,
    split: str = "all",
    limit: int | None = None,
    concurrency: int = 8,
    seed: int = 0,
    retry_failed: bool = False,
    ray: str | None = None,
    metrics: Sequence[str | MetricFunction] = (),
    stop: asyncio.Event | None = None,
    watch: ProgressWatcher | None = None,
    **options: Any,
) -> Evaluation:
    """Ask the questions of a dataset and measure the answers; the same call goes on where one ended.

    Args:
        dataset: "sample", a benchmark by name (``kgqa data list``), a file of questions, a reader of your own
            by its name, or a loaded dataset.
        out: the folder of the run: a new one, or that of a run that asks the same.
        method: as `kgqa.aask` takes it.
        kg: as `kgqa.aask` takes it; "own", as where a benchmark by name is asked and none is given, for the
            graph that the dataset is published with, which may be one for each question.
        model: as `kgqa.aask` takes it, or ``simulated:accuracy=0.9``.
        format: of the file, one of `kgqa.evaluation.datasets.FORMATS`; told from the file where absent.
        split: the part of the dataset to ask.
        limit: questions to ask at most.
        concurrency: questions asked at a time.
        seed: of the simulated model and of the intervals.
        retry_failed: ask again what failed before.
        ray: HOST:PORT of the Ray cluster that asks, or "auto"; this machine is one of its nodes.
        metrics: further ones, your own: functions of a record and its question that give a number, by the
            names that their packages have given them, as ``module:name``, or themselves.
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
        own = load_metrics(metrics)
        kg = _choose_graph(dataset, kg)
        asked = await asyncio.to_thread(make_subject, method, kg, model, options, seed)
        folder = held.enter_context(await asyncio.to_thread(RunFolder, Path(out)))
        part = DaemonThreads(1, "questions").submit(partial(_load_questions, dataset, format, split, limit))
        loaded, questions = await asyncio.wrap_future(part)  # no pipe that nobody writes to keeps the process
        if isinstance(kg, str) and kg == OWN:
            graphs = _own_graph(loaded)
            each = graphs.suffix == ".sqlite"  # one for each question
            given = (OWN, model, options, seed, graphs) if each else (graphs, model, options, seed)
            asked = await asyncio.to_thread(make_subject, method, *given)
        graph = await asked.open()
        sources = await read_sources(asked, graph)
        about = {
            "name": loaded.name,
            "source": None if isinstance(dataset, Dataset) else str(dataset),
            "format": loaded.format,
            "sha256": loaded.digest,
            "split": split,
            "limit": limit,
            "questions": len(questions),
        }
        head = await asyncio.to_thread(make_header, asked.context.config(), about, sources, seed)
        await asyncio.to_thread(folder.check, head)
        left = len(questions) - await asyncio.to_thread(folder.count_recorded, failures=not retry_failed)
        async with _open_workers(asked, sources, ray, left, concurrency) as others:
            aligned = questions if asked.graphs else await align_topics(questions, graph)
            run = await asyncio.to_thread(begin_run, folder, head, aligned, retry_failed=retry_failed)
            if run.waiting:
                held.enter_context(garbage_frozen())
                asker = others or Asker(asked, graph)
                await run.ask(asker, concurrency, stop or asyncio.Event(), watch or (lambda tally: None))
        complete = run.tally.done == run.tally.total
        measured = await run.measure(graph, own, asked.graphs) if complete else None
        return Evaluation(folder.path, run.head, run.tally, measured)


def _choose_graph(dataset: str | Path | Dataset, kg: KG | None) -> KG | None:
    """Return the graph of a run; a benchmark by name is asked over what it is published with."""
    if kg is not None:
        return kg[0] if isinstance(kg, list | tuple) and list(kg) == [OWN] else kg
    if isinstance(dataset, Dataset):
        return OWN if dataset.graph else None
    named = find_part(dataset) if isinstance(dataset, str) else None
    if named is None:
        return None
    source, part = named
    if source.subgraphs or source.parts[part].graph:
        return OWN
    if os.environ.get("KGQA_KG", "sample") == "sample":
        raise RunError(f"{source.name} comes without a graph ({source.about}); name one with --kg")
    return None


def _own_graph(dataset: Dataset) -> Path:
    if dataset.graph is None:
        raise RunError(f"{dataset.name} comes without a graph; name one with --kg")
    return dataset.graph


async def _check_on_own_graphs(
    results: Sequence[Result], graph: KnowledgeGraph, graphs: QuestionGraphs
) -> dict[str, bool | None]:
    """Check each result on the graph of its question; any ``graph`` will do where no query is run."""
    found: dict[str, bool | None] = {}

    async def check(result: Result) -> None:
        own = await graphs.open(result_key(result)) if result.outcome == "grounded" else graph
        found.update(await check_grounding([result], own))

    await for_each(results, check, MAX_CONCURRENT_RESULTS)
    return found


def _open_workers(
    asked: Subject, head: Sources, ray: str | None, left: int, concurrency: int
) -> AbstractAsyncContextManager[WorkerPool | None]:
    """Return the workers that ask, where this process does not do so itself."""
    if ray and left > 0:
        from kgqa.evaluation.runs.ray_cluster import open_cluster

        return open_cluster(asked, head, ray, left, concurrency)
    size = count_processes(asked, left, concurrency)
    return open_processes(asked, head, size, concurrency) if size else nullcontext()


def _load_questions(
    dataset: str | Path | Dataset, format: str | None, split: str, limit: int | None
) -> tuple[Dataset, Sequence[Question]]:
    loaded = dataset if isinstance(dataset, Dataset) else load(dataset, format, own=True)
    if loaded.format == "list":
        raise RunError(
            f"{loaded.name} has questions and no answers, so nothing can be scored; kgqa ask --file asks them"
        )
    questions = loaded.select(split, limit)
    if len({question.id for question in questions}) < len(questions):
        raise RunError(f"{loaded.name} has several questions of one id; give each its own")
    return loaded, questions
