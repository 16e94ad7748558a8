"""Is what is called grounded so? The query of each such record is run by pyoxigraph alone, on the same files.

Questions of all sets are asked of every method, by a simulated model that errs, on three stores. Prints how
many records were grounded, how many of these their query does not give exactly, how many are not all of
the gold answers, and how many have a topic on no chain. Needs the question sets of the data folder
(KGQA_DATA), an Oxigraph server and Debian's virtuoso-opensource-7.

    python -m kgqa.benchmarks.proofs 12    # questions of each set, store, accuracy and method
"""

import asyncio
import gzip
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from itertools import product
from pathlib import Path

import pyoxigraph as ox
from rich.console import Console
from rich.table import Table

from kgqa.data import SAMPLE_GRAPH
from kgqa.evaluation.simulation import ErrorRates
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.runtime.record import Record
from kgqa.tests.support.perfect import DATA
from kgqa.tests.support.servers import oxigraph, virtuoso
from kgqa.tests.unit.evaluation.simulation.public import GRAPHS, answered, questions

METHODS = ("cor", "cog", "vog", "pog", "pog_egp", "tog", "agent")
ACCURACIES = (1.0, 0.8, 0.6)
STORES = ("embedded", "oxigraph", "virtuoso")
SETS = (
    ("sample", "sample"),
    ("freebase", "freebase/webqsp_slice_union"),
    ("freebase", "freebase/cwq_slice_union"),
    ("freebase", "freebase/grailqa_slice"),
    ("grasp", "freebase/webqsp_grasp_slice"),
    ("grasp", "freebase/cwq_grasp_slice"),
    ("metaqa", "metaqa/metaqa-1hop-test-sample"),
    ("metaqa", "metaqa/metaqa-3hop-test-sample"),
    ("pq-2h", "pathquestion/pq-2h"),
    ("pql-2h", "pathquestion/pql-2h"),
    ("worldcup", "worldcup/wc-p1"),
    ("worldcup", "worldcup/wc-c"),
    ("wikidata", "wikidata/qald10_en_grasp_slice"),
)
WIKIDATA = "wikidata/wikidata_slice"


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
        store.load(text, format=kind)
    return store


def gives(store: ox.Store, record: Record) -> bool:
    """Return whether the query of a record gives exactly its answers."""
    found = store.query(record["query"] or "ASK {}")
    if isinstance(found, ox.QueryBoolean):
        rows = {str(bool(found)).lower()}
    else:
        rows = {row[0].value for row in found if row[0] is not None}  # type: ignore[union-attr]
    return rows == {answer["id"] for answer in record["answers"]}


def on_no_chain(record: Record) -> bool:
    """Return whether the query leaves a topic out."""
    return any(topic["id"] not in (record["query"] or "") for topic in record["topics"] if topic["id"])


async def measure(
    graph: KnowledgeGraph, store: ox.Store, name: str, most: int, counts: Counter[tuple[str, ...]]
) -> None:
    """Ask questions of a set by every method and accuracy, and count what its records claim."""
    asked = questions(name, most)
    for method, accuracy in product(METHODS, ACCURACIES):
        for record, score in await answered(asked, graph, ErrorRates(accuracy=accuracy), method=method):
            key = (method, str(accuracy))
            counts[*key, "records"] += 1
            counts[*key, "grounded"] += record["outcome"] == "grounded"
            counts[*key, "grounded_inference"] += record["outcome"] == "grounded_inference"
            if record["outcome"] == "grounded":
                counts[*key, "not given"] += not gives(store, record)
                counts[*key, "not right"] += score.f1 < 1
                counts[*key, "topic left out"] += on_no_chain(record)


COLUMNS = ("records", "grounded", "not given", "not right", "topic left out", "grounded_inference")


def main() -> None:
    """Measure on every store, and print the table."""
    most, console = int(sys.argv[1]) if sys.argv[1:] else 12, Console(width=160)
    counts: Counter[tuple[str, ...]] = Counter()
    for (graph, name), kind in product(SETS, STORES):
        with ExitStack() as stack:
            address: list[str] | list[Path] = files_of(graph)
            if kind != "embedded":
                server = oxigraph if kind == "oxigraph" else virtuoso
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                address = [stack.enter_context(server.serving(folder, files_of(graph)))]
            asyncio.run(measure(open_graph(address), replay_store(graph), name, most, counts))
            console.print(f"{name} on {kind}: {counts.total()}")
    table = Table("method", "accuracy", *COLUMNS)
    for method, accuracy in product(METHODS, map(str, ACCURACIES)):
        table.add_row(method, accuracy, *(str(counts[method, accuracy, column]) for column in COLUMNS))
    console.print(table)


if __name__ == "__main__":
    main()
