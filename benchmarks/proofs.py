"""Is what is called grounded so? The query of each such record is run by pyoxigraph alone, on the same files.

Questions of all sets are asked of every method, by a simulated model that errs, on three stores. Prints how
many records were grounded, how many of these their query does not give exactly, how many are not all of
the gold answers, and how many have a topic on no chain; those that are wrong in any way go to a file, if one
is named. Needs the question sets of the data folder (KGQA_DATA), an Oxigraph server and Debian's
virtuoso-opensource-7.

    python -m kgqa.benchmarks.proofs 12              # questions of each set, store, accuracy and method
    python -m kgqa.benchmarks.proofs 2 wrong.jsonl embedded
"""

import asyncio
import gzip
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyoxigraph as ox
from rich.console import Console
from rich.table import Table

from kgqa.data import SAMPLE_GRAPH
from kgqa.evaluation.question import Question
from kgqa.evaluation.simulation import ErrorRates
from kgqa.kg.opening import open_graph
from kgqa.runtime.record import Record
from kgqa.tests.support.perfect import DATA
from kgqa.tests.support.servers import oxigraph, virtuoso
from kgqa.tests.unit.evaluation.simulation.public import GRAPHS, answered, questions

METHODS = ("compose", "cor", "cog", "vog", "pog", "pog_egp", "tog", "agent")
ACCURACIES = (1.0, 0.8, 0.6)
STORES = ("embedded", "oxigraph", "virtuoso")
SETS = {
    "sample": ["sample"],
    "freebase": [
        "freebase/webqsp_slice_union",
        "freebase/cwq_slice_union",
        "freebase/grailqa_slice",
    ],
    "grasp": ["freebase/webqsp_grasp_slice", "freebase/cwq_grasp_slice"],
    "metaqa": ["metaqa/metaqa-1hop-test-sample", "metaqa/metaqa-3hop-test-sample"],
    "pq-2h": ["pathquestion/pq-2h"],
    "pql-2h": ["pathquestion/pql-2h"],
    "worldcup": ["worldcup/wc-p1", "worldcup/wc-c"],
    "wikidata": ["wikidata/qald10_en_grasp_slice"],
}
WIKIDATA = "wikidata/wikidata_slice"
FAULTS = ("not given", "not right", "topic left out")
COLUMNS = ("records", "grounded", *FAULTS, "grounded_inference")

Counts = Counter[tuple[str, str, str]]


def files_of(graph: str) -> list[Path]:
    """Return the files of a graph."""
    if graph == "sample":
        return [Path(SAMPLE_GRAPH)]
    return [DATA / f"{file}.nt.gz" for file in ([WIKIDATA] if graph == "wikidata" else GRAPHS[graph])]


def replay_store(graph: str) -> ox.Store:
    """Load the files of a graph into a store of pyoxigraph's own."""
    store = ox.Store()
    for file in files_of(graph):
        text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        kind = ox.RdfFormat.N_TRIPLES if ".nt" in file.name else ox.RdfFormat.TURTLE
        store.bulk_load(text, format=kind)
    return store


def gives(store: ox.Store, record: Record) -> bool:
    """Return whether the query of a record gives exactly its answers."""
    found = store.query(record["query"] or "ASK {}")
    if isinstance(found, ox.QueryBoolean):
        rows = {str(bool(found)).lower()}
    else:
        rows = {row[0].value for row in found if row[0] is not None}  # type: ignore[union-attr]
    return rows == {answer["id"] for answer in record["answers"]}


def leaves_topic_out(record: Record, question: Question) -> bool:
    """Return whether a topic of the question is no part of the query, or not even in the record."""
    ids = [topic["id"] for topic in record["topics"] if topic["id"]]
    given = {topic.id or topic.name for topic in question.topics}
    return len(ids) < len(given) or any(f"<{id}>" not in (record["query"] or "") for id in ids)


async def ask(graph: str, kind: str, address: Sequence[str | Path], most: int) -> tuple[Counts, list[Any]]:
    """Ask questions about a graph by every method and accuracy: count what records claim, and list faults."""
    store, opened = replay_store(graph), open_graph(address)
    counts: Counts = Counter()
    wrong: list[Any] = []
    for name, method, accuracy in product(SETS[graph], METHODS, ACCURACIES):
        asked = questions(name, most)
        found = await answered(asked, opened, ErrorRates(accuracy=accuracy), method=method)
        for question, (record, score) in zip(asked, found, strict=True):
            faults = dict.fromkeys(FAULTS, False)
            if record["outcome"] == "grounded":
                faults = {
                    "not given": not gives(store, record),
                    "not right": score.f1 < 1,
                    "topic left out": leaves_topic_out(record, question),
                }
            said = {"records": True, **faults, record["outcome"]: True}
            counts.update((method, str(accuracy), each) for each, holds in said.items() if holds)
            if any(faults.values()):
                gold = [answer.name or answer.id for answer in question.gold]
                wrong.append(
                    {"set": name, "store": kind, "accuracy": accuracy, **faults, "gold": gold, **record}
                )
    return counts, wrong


def measure(graph: str, kind: str, most: int) -> tuple[Counts, list[Any]]:
    """Serve a graph by one store, and ask about it."""
    with ExitStack() as stack:
        address: list[str] | list[Path] = files_of(graph)
        if kind != "embedded":
            server = oxigraph if kind == "oxigraph" else virtuoso
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            address = [stack.enter_context(server.serving(folder, files_of(graph)))]
        return asyncio.run(ask(graph, kind, address, most))


def main() -> None:
    """Measure on every store, from as many processes as there are cores, and print the table."""
    most, file, *kinds = [*sys.argv[1:], *("12", os.devnull)[len(sys.argv[1:3]) :]]
    console, counts = Console(width=160), Counter[tuple[str, str, str]]()
    with (
        ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool,
        open(file, "w", encoding="utf-8") as faults,
    ):
        runs = {
            pool.submit(measure, graph, kind, int(most)): f"{graph} on {kind}"
            for graph, kind in product(SETS, kinds or STORES)
        }
        for run in as_completed(runs):
            counted, wrong = run.result()
            counts += counted
            faults.writelines(json.dumps(each) + "\n" for each in wrong)
            console.print(
                f"{runs[run]}: {len(wrong)} wrong of {sum(counted[k] for k in counted if k[2] == 'grounded')}"
            )
    table = Table("method", "accuracy", *COLUMNS)
    for method, accuracy in product([*METHODS, "all"], map(str, ACCURACIES)):
        of = METHODS if method == "all" else [method]
        table.add_row(
            method, accuracy, *(str(sum(counts[m, accuracy, each] for m in of)) for each in COLUMNS)
        )
    console.print(table)


if __name__ == "__main__":
    main()
