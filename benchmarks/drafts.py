"""What becomes of drafts with one error each: which check catches them, and what those say that none does.

A simulated model drafts the gold query of a question with an error in it by which the graph gives other rows,
and the gold query where it is told that something is wrong. Left out are questions whose gold query does not
give their gold: it cannot be run, or cuts between equals. Prints a table, and the wrong answers that are
`grounded`; writes docs/draft.md. Needs the question sets of the data folder (KGQA_DATA).

    python -m kgqa.benchmarks.drafts 250       # drafts of each graph
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import count, islice
from typing import Any

from rich.console import Console

import kgqa
from kgqa.benchmarks._runs import DOCS, drawn, put
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import Question, Rows
from kgqa.evaluation.scoring.tables import is_exact
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.evaluation.simulation.draft_errors import wrong_queries
from kgqa.kg.drafts.schema import Schema
from kgqa.kg.errors import KGRejected
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.runtime.record import Record
from kgqa.tests.support.perfect import DATA
from kgqa.tools.drafts import DraftChecker

SETS = {
    "text2sparql/prod-inst.ttl.gz": ["text2sparql/ck_odd"],
    "worldcup/wc2014.nt.gz": ["worldcup/wc-p1", "worldcup/wc-p2", "worldcup/wc-c"],
}
QUESTIONS = 40  # of a set at least, evenly spread
WRONG = ("wrong, not grounded", "wrong, grounded")
HEAD = ("error", "drafts", "told before", "told after", "still right", *WRONG)

Fates = Counter[tuple[str, str]]
"""How often what came of an error's kind, of a check, or of a right draft."""

Makers = Mapping[str, Callable[[], list[str]]]
"""What makes queries with an error, by its kind."""


async def ask(question: Question, graph: KnowledgeGraph, errors: ErrorRates) -> Record:
    """Ask one question by draft."""
    given: dict[str, Any] = {"kg": graph, "model": SimulatedModel(question, graph, errors), "claims": False}
    if question.topics:
        given["topics"] = [{"id": topic.id, "name": topic.name} for topic in question.topics]
    return await kgqa.aask(question.text, method="draft", allow_parametric=False, **given)


def first_draft(record: Record) -> str:
    """Return the query that was drafted first."""
    return next(str(each["query"]) for each in record["trace"] if each["node"] == "draft")


def rows_of(record: Record) -> Rows:
    """Return the rows of a record, by their ids."""
    table = record["table"]
    rows = table["rows"] if table else [[answer] for answer in record["answers"]]
    return [[cell and cell["id"] for cell in row] for row in rows]


def is_right(record: Record, question: Question) -> bool:
    """Return whether the rows of a record are the gold ones."""
    gold = [[answer.id or answer.name] for answer in question.gold]
    return is_exact(
        rows_of(record), gold if question.rows is None else question.rows, ordered=question.ordered
    )


def kind_of(query: str, wrong: Makers) -> str:
    """Return the kind of the error that a query has."""
    return next((kind for kind, make in wrong.items() if query in make()), "none")


async def told_by(record: Record, graph: KnowledgeGraph) -> tuple[str, str] | None:
    """Return when a first draft was told to be wrong, and by which check; None where it was not."""
    told = [(each["node"], each["objections"][0]) for each in record["trace"] if each.get("objections")]
    if not told:
        return None
    node, text = told[0]
    if node == "run":
        return "told after", "words" if text.startswith("it does not say") else "rows"
    try:
        found = (await DraftChecker(graph).check(first_draft(record))).findings
    except KGRejected:
        found = []
    return "told before", next((each.check for each in found if each.text == text), "grammar")


async def measure(file: str, names: Sequence[str], most: int, console: Console) -> Fates:
    """Ask the questions of a graph until there are so many wrong drafts."""
    graph, counts = open_graph([DATA / file]), Fates()
    schema = Schema(await graph.profile(), graph.relations)
    every = [load(DATA / f"{name}.jsonl.gz").questions for name in names]
    asked: list[tuple[Question, Makers]] = []
    for question in (each for some in every for each in some[:: max(1, len(some) // QUESTIONS)]):
        gold = await ask(question, graph, ErrorRates())
        if gold["query"] and is_right(gold, question):
            counts[str(gold["outcome"]), "right"] += 1
            makers = wrong_queries(first_draft(gold), schema)
            asked.append((question, {kind: cache(make) for kind, make in makers.items()}))
    for seed, (question, wrong) in islice(((seed, each) for seed in count() for each in asked), most):
        record = await ask(question, graph, ErrorRates(draft=0, seed=seed))
        kind = kind_of(first_draft(record), wrong)
        told, right = await told_by(record, graph), is_right(record, question)
        stays = "still right" if right else WRONG[record["outcome"] == "grounded"]
        fate = stays if told is None or stays == WRONG[True] else told[0]
        counts.update([(kind, "drafts"), (kind, fate), *([(told[1], "check")] if told else [])])
        if fate == WRONG[True]:
            console.print(f"{question.id} {kind}: {question.text}\n{record['query']}", markup=False)
    return counts


async def main() -> None:
    """Measure, print, and write the table."""
    console, most = Console(width=160, highlight=False), int([*sys.argv, "250"][1])
    if not DATA.is_dir():
        console.print(f"no question sets in {DATA}; set KGQA_DATA")
        return
    counts = sum([await measure(f, names, most, console) for f, names in SETS.items()], Fates())
    kinds = sorted({kind for kind, what in counts if what == "drafts"})
    rows = [[kind, *(str(counts[kind, what]) for what in HEAD[1:])] for kind in kinds]
    rows.append(["all", *(str(sum(counts[kind, what] for kind in kinds)) for what in HEAD[1:])])
    checks = sorted((-n, check) for (check, what), n in counts.items() if what == "check")
    right = {outcome: n for (outcome, what), n in counts.items() if what == "right"}
    table = f"{drawn(HEAD, rows)}\n\nTold by: {', '.join(f'`{check}` {-n}' for n, check in checks)}."
    table += f"\n\nOf {sum(right.values())} right drafts {right.get('grounded', 0)} are grounded."
    put(DOCS / "draft.md", {"drafts": table})
    console.print(table, markup=False)


if __name__ == "__main__":
    asyncio.run(main())
