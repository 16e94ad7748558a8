"""``kgqa ask --file``: ask the questions of a file, and write one record a line."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console

from kgqa.cli import output

if TYPE_CHECKING:
    from kgqa.evaluation.question import Question
    from kgqa.evaluation.runs.progress import Tally

STDIN = "-"  # what ``--file`` calls it


def ask_file(
    file: str,
    out: Path | None,
    topics: Sequence[str],
    concurrency: int,
    arguments: Mapping[str, Any],
) -> NoReturn:
    """Ask every question of a file, but for those that ``out`` has already; end with the status of all."""
    from kgqa.evaluation.datasets import DatasetError, load
    from kgqa.evaluation.question import EntityRef
    from kgqa.evaluation.runs.event_loop import run_on_one_core
    from kgqa.evaluation.runs.progress import Tally
    from kgqa.evaluation.runs.records import RunError

    with output.errors_in_one_line(ValueError, DatasetError, RunError), ExitStack() as held:
        questions: Sequence[Question] = load(Path("/dev/stdin" if file == STDIN else file)).questions
        if given := tuple(EntityRef(None, name) for name in topics):
            questions = [replace(question, topics=given) for question in questions]
        tally = Tally(len(questions))
        if out:
            asked = _read_asked(out, questions)
            for record in asked.values():
                tally.count(record)
            questions = [question for question in questions if question.id not in asked]
        take = held.enter_context(_appending(out)) if out else output.print_json
        try:
            run_on_one_core(_ask_with_bar(questions, take, tally, concurrency, arguments))
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


def _read_asked(out: Path, questions: "Sequence[Question]") -> dict[str, dict[str, Any]]:
    """Return the records that a file has of these questions, a torn last line cut off.

    A file of anything else, or without a whole record, is an error, and stays as it is.
    """
    from kgqa.evaluation.runs.records import RunError, disk_errors, read_records, repair_tail

    texts = {question.id: question.text for question in questions}
    with disk_errors(out):
        found = {record["id"]: record for record, _ in read_records(out, skip_torn=True)}
        are_theirs = all(
            "usage" in record and texts.get(id) == record.get("question") for id, record in found.items()
        )
        if not are_theirs or (not found and out.exists() and out.stat().st_size):
            raise RunError(f"{out} holds other things than records of these questions; name another --output")
        repair_tail(out)
    return found


async def _ask_with_bar(
    questions: "Sequence[Question]",
    take: Callable[[Mapping[str, Any]], object],
    tally: "Tally",
    concurrency: int,
    arguments: Mapping[str, Any],
) -> None:
    """Ask questions, several at a time, and hand over each record once those before it are there."""
    from kgqa.evaluation.runs.asking import make_subject
    from kgqa.evaluation.runs.event_loop import for_each, stop_on_signals
    from kgqa.evaluation.runs.processes import count_processes, open_asker
    from kgqa.evaluation.runs.progress import progress_bar
    from kgqa.evaluation.runs.records import RunError

    subject = await asyncio.to_thread(lambda: make_subject(**arguments, seed=0))
    if subject.simulated:
        raise RunError("a simulated model knows the answers of a dataset: kgqa eval asks it")
    console = Console(stderr=True, highlight=False)
    order, found = iter(questions), dict[str, Mapping[str, Any]]()
    after = next(order, None)

    def announce() -> None:
        console.print("kgqa: the running questions end first; Ctrl-C again stops at once", soft_wrap=True)

    with progress_bar(console) as bar, stop_on_signals(announce) as stop:
        bar(tally)
        async with open_asker(
            subject, count_processes(subject, len(questions), concurrency), concurrency
        ) as asker:

            async def ask(question: "Question") -> None:
                nonlocal after
                record = found[question.id] = (await asker.ask(question)).record
                tally.count(record)
                bar(tally)
                while after is not None and after.id in found:
                    take(found.pop(after.id))
                    after = next(order, None)

            await for_each(questions, ask, concurrency, stop)
