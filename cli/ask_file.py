"""``kgqa ask --file``: ask the questions of a file, and write one record a line."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console

from kgqa.cli import output

if TYPE_CHECKING:
    from kgqa.evaluation.question import Question
    from kgqa.evaluation.runs.asking import Subject
    from kgqa.evaluation.runs.progress import Tally

STDIN = "-"  # what ``--file`` calls it


def ask_file(
    file: str,
    out: Path | None,
    topics: Sequence[str],
    concurrency: int,
    arguments: Mapping[str, Any],
) -> NoReturn:
    """Ask every question of a file, but for those that ``out`` has answered; end with the status of all."""
    from kgqa.evaluation.datasets import DatasetError, load
    from kgqa.evaluation.question import EntityRef
    from kgqa.evaluation.runs.asking import make_subject
    from kgqa.evaluation.runs.event_loop import run_on_one_core
    from kgqa.evaluation.runs.progress import Tally
    from kgqa.evaluation.runs.records import RunError

    with output.errors_in_one_line(ValueError, DatasetError, RunError), ExitStack() as held:
        questions: Sequence[Question] = load(Path("/dev/stdin" if file == STDIN else file)).questions
        if given := tuple(EntityRef(None, name) for name in topics):
            questions = [replace(question, topics=given) for question in questions]
        subject = make_subject(**arguments, seed=0)
        if subject.simulated:
            raise RunError("a simulated model knows the answers of a dataset: kgqa eval asks it")
        tally = Tally(len(questions))
        if out:
            asked = _read_asked(out, questions, subject.context.config())
            for record in asked.values():
                tally.count(record)
            questions = [question for question in questions if question.id not in asked]
        take = held.enter_context(_appending(out) if out else _printing_in_order(questions))
        try:
            run_on_one_core(_ask_with_bar(questions, take, tally, concurrency, subject))
        except asyncio.CancelledError:
            kept = f"what is in {out}" if out else "what was printed"
            output.fail(f"stopped at once; {kept} stays", output.ExitCode.INTERRUPTED)
    if tally.done < tally.total:
        output.fail(tally.stop + ("; the same command goes on" if out else ""), output.ExitCode.INTERRUPTED)
    if tally.failed:
        output.fail(tally.failures, output.ExitCode.NO_ANSWER)
    raise SystemExit(int(output.ExitCode.ANSWERED))


@contextmanager
def _appending(out: Path) -> Iterator[Callable[[Mapping[str, Any]], object]]:
    """Hold a file open; return what adds a record to its end."""
    from kgqa.evaluation.runs.records import AppendLog, disk_errors, json_line

    with disk_errors(out):
        log = AppendLog(out)
        try:
            yield lambda record: log.append(json_line(record))
        finally:
            log.close()


@contextmanager
def _printing_in_order(questions: "Sequence[Question]") -> Iterator[Callable[[Mapping[str, Any]], object]]:
    """Return what prints records in the order of their questions; at the end, what waits for others."""
    waiting, found = deque(question.id for question in questions), dict[str, Mapping[str, Any]]()

    def take(record: Mapping[str, Any]) -> None:
        found[record["id"]] = record
        while waiting and waiting[0] in found:
            output.print_json(found.pop(waiting.popleft()))

    try:
        yield take
    finally:
        for id in filter(found.__contains__, waiting):
            output.print_json(found[id])


def _read_asked(
    out: Path, questions: "Sequence[Question]", config: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the records that a file has of these questions; what failed and a torn last line are cut off.

    A file of anything else, of another configuration or without a whole record is an error, and stays.
    """
    from kgqa.builds import replace_file
    from kgqa.evaluation.runs.folder import list_differences
    from kgqa.evaluation.runs.records import RunError, disk_errors, is_failed, read_records, repair_tail

    texts = {question.id: question.text for question in questions}
    with disk_errors(out):
        lines = {record["id"]: (record, line) for record, line in read_records(out, skip_torn=True)}
        found = {id: record for id, (record, _) in lines.items()}
        are_theirs = all(
            "usage" in record and texts.get(id) == record.get("question") for id, record in found.items()
        )
        if not are_theirs or (not found and out.exists() and out.stat().st_size):
            raise RunError(f"{out} holds other things than records of these questions; name another --output")
        for record in found.values():
            if other := next(list_differences("", record.get("config") or {}, config), None):
                raise RunError(f"{out} has records of other settings ({other}); name another --output")
        repair_tail(out)
        kept = {id: record for id, record in found.items() if not is_failed(record)}
        if len(kept) < len(found):
            replace_file(out, lambda file: file.writelines(lines[id][1] for id in kept))
    return kept


async def _ask_with_bar(
    questions: "Sequence[Question]",
    take: Callable[[Mapping[str, Any]], object],
    tally: "Tally",
    concurrency: int,
    subject: "Subject",
) -> None:
    """Ask questions, several at a time, and hand over each record as it is there."""
    from kgqa.evaluation.runs.event_loop import for_each, stop_on_signals
    from kgqa.evaluation.runs.processes import count_processes, open_asker
    from kgqa.evaluation.runs.progress import progress_bar

    console = Console(stderr=True, highlight=False)

    def announce() -> None:
        console.print("kgqa: the running questions end first; Ctrl-C again stops at once", soft_wrap=True)

    with progress_bar(console) as bar, stop_on_signals(announce) as stop:
        bar(tally)
        async with open_asker(
            subject, count_processes(subject, len(questions), concurrency), concurrency
        ) as asker:

            async def ask(question: "Question") -> None:
                record = (await asker.ask(question)).record
                take(record)
                tally.count(record)
                bar(tally)

            await for_each(questions, ask, concurrency, stop)
