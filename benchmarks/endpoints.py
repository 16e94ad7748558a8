"""Every search on Virtuoso: how often it asks there, and how long it takes, beside the public codes.

Then how many questions an endpoint answers that are asked all at once, of 16 that each is asked four times.

The questions are those of `public.py`; the model is simulated and looks into the embedded graph, so that
the endpoint is asked by the method alone. Each question begins with an empty cache. Queries are counted
where they leave for the endpoint. Draws the tables that docs/endpoints.md shows, and prints them. Needs
the question sets of the data folder (KGQA_DATA) and Debian's virtuoso-opensource-7.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console

import kgqa
from kgqa.benchmarks._runs import DOCS, drawn, put
from kgqa.benchmarks.public import GRAPH, SETS, first
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import EntityRef, Question
from kgqa.evaluation.runs.records import topic_refs
from kgqa.evaluation.scoring.scores import score_answers
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.graphs import METHODS, context_of
from kgqa.kg.endpoint.client import Endpoint
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.runtime.search_context import SearchContext
from kgqa.tests.support.perfect import DATA
from kgqa.tests.support.servers import oxigraph, virtuoso
from kgqa.tests.support.servers.proxy import Proxy

ACCURACIES = (1.0, 0.7)

AT_ONCE, DISTINCT = 64, 16  # questions that are asked at the same time, and how many of them differ

SEARCHING = [name for name in METHODS if issubclass(context_of(name), SearchContext)]

PAGE = DOCS / "endpoints.md"

HEAD = (
    "questions, accuracy",
    "",
    "hit %",
    "queries mean (max)",
    "Virtuoso: median / p95 ms",
    "embedded: median / p95 ms",
    "same records",
)

THEIRS: dict[tuple[str, str, float], tuple[float, float, int, int, int]] = {
    ("cor", "WebQSP", 1.0): (100, 7.4, 28, 24, 89),
    ("cor", "WebQSP", 0.7): (71.7, 6.7, 28, 19, 61),
    ("cor", "CWQ", 1.0): (86.7, 6.7, 23, 26, 71),
    ("cor", "CWQ", 0.7): (50.0, 6.0, 23, 19, 49),
    ("pog", "WebQSP", 1.0): (98.3, 13.6, 71, 137, 585),
    ("pog", "WebQSP", 0.7): (78.3, 13.0, 114, 137, 585),
    ("pog", "CWQ", 1.0): (95.0, 25.9, 461, 224, 679),
    ("pog", "CWQ", 0.7): (75.0, 26.9, 536, 224, 679),
    ("cog", "WebQSP", 1.0): (98.3, 13.9, 73, 210, 872),
    ("cog", "WebQSP", 0.7): (96.7, 16.7, 108, 210, 872),
    ("cog", "CWQ", 1.0): (93.3, 26.6, 483, 326, 1057),
    ("cog", "CWQ", 0.7): (93.3, 38.4, 508, 326, 1057),
    ("tog", "WebQSP", 1.0): (91.7, 14.3, 49, 24, 84),
    ("tog", "WebQSP", 0.7): (66.7, 12.2, 70, 24, 84),
    ("tog", "CWQ", 1.0): (48.3, 16.6, 48, 37, 88),
    ("tog", "CWQ", 0.7): (26.7, 14.9, 70, 37, 88),
}
"""What the public codes have reached, measured by us on the same slice and questions: hits in per cent,
queries a question (mean and most), median and 95th percentile of milliseconds. The latter are of both
accuracies together, but for CoR's."""


@dataclass(frozen=True)
class Stores:
    """One graph: in this process, on Virtuoso, and on Virtuoso behind a proxy that counts."""

    embedded: SparqlGraph
    served: SparqlGraph
    counted: SparqlGraph
    proxy: Proxy


@dataclass(frozen=True)
class Asked:
    """One question, asked on every store.

    Attributes:
        hit: whether an answer is right.
        same: whether the records are equal, but for seconds and the name of the graph.
        queries: what came to the endpoint.
        served: seconds on Virtuoso.
        embedded: seconds on the embedded store.
    """

    hit: bool
    same: bool
    queries: int
    served: float
    embedded: float


async def ask(question: Question, method: str, accuracy: float, stores: Stores) -> Asked:
    """Ask one question on every store, one after the other; the model looks into the embedded one."""
    records, seconds = [], []
    before = len(stores.proxy.requests)
    for graph in (stores.counted, stores.served, stores.embedded):
        forget(graph)
        model = SimulatedModel(question, stores.embedded, ErrorRates(accuracy=accuracy))
        given: dict[str, Any] = {
            "topics": topic_refs(question),
            "method": method,
            "model": model,
            "id": question.id,
        }
        started = time.perf_counter()
        record = await kgqa.aask(question.text, method="cor", kg=graph, **given)
        seconds.append(time.perf_counter() - started)
        records.append(told(record))
    answers = [EntityRef(each["id"], each["name"]) for each in records[0]["answers"]]
    found = score_answers(answers, question)
    return Asked(
        hit=found is not None and found.hit_any > 0,
        same=records[0] == records[1] == records[2],
        queries=len(stores.proxy.requests) - before,
        served=seconds[1],
        embedded=seconds[2],
    )


async def at_once(name: str, stores: Stores, questions: Sequence[Question]) -> list[str]:
    """Ask CoR questions at the same time; a row of how many a second, and of queries made and sent."""

    async def one(question: Question, graph: SparqlGraph) -> Any:
        model = SimulatedModel(question, stores.embedded, ErrorRates())
        return await kgqa.aask(
            question.text, method="cor", kg=graph, topics=topic_refs(question), model=model
        )

    for graph in (stores.counted, stores.served):
        await one(questions[-1], graph)  # opens what the method needs
        forget(graph)
        before, started = len(stores.proxy.requests), time.perf_counter()
        records = await asyncio.gather(*(one(question, graph) for question in questions))
        seconds = time.perf_counter() - started
        if graph is stores.counted:
            sent = len(stores.proxy.requests) - before
    made = sum(record["usage"]["kg_queries"] for record in records)
    return [name, f"{len(questions) / seconds:.0f}", str(made), str(sent)]


def forget(graph: SparqlGraph) -> None:
    """Empty what an endpoint keeps for the next time."""
    if isinstance(graph._executor, Endpoint):
        graph._executor._cache.clear()


def told(record: Any) -> dict[str, Any]:
    """Leave out of a record its seconds and the name of the graph."""
    usage = {key: value for key, value in record["usage"].items() if not key.startswith("seconds")}
    return {**record, "usage": usage, "config": None}


async def runs(folder: Path, stores: Stores) -> dict[tuple[str, str, float], list[Asked]]:
    """Ask all questions by all methods; by method, set and accuracy."""
    asked = {name: load(first(file, folder)).questions for name, file in SETS.items()}
    found = {}
    for method, name, accuracy in product(SEARCHING, SETS, ACCURACIES):
        await ask(asked[name][0], method, accuracy, stores)  # opens what the method needs
        found[method, name, accuracy] = [
            await ask(question, method, accuracy, stores) for question in asked[name]
        ]
    return found


def rows(found: dict[tuple[str, str, float], list[Asked]], method: str) -> Iterator[list[str]]:
    """Return the rows of one method: theirs, where there is a public code, and ours."""
    for name, accuracy in product(SETS, ACCURACIES):
        head = f"{name}, {accuracy:g}"
        if theirs := THEIRS.get((method, name, accuracy)):
            hits, mean, most, median, late = theirs
            yield [head, "public code", f"{hits:.1f}", f"{mean:.1f} ({most})", f"{median} / {late}", "–", "–"]
            head = ""
        yield [head, "kgqa", *shown(found[method, name, accuracy])]


def shown(asked: Sequence[Asked]) -> Iterator[str]:
    """Show what a run has reached and taken."""
    queries = [each.queries for each in asked]
    yield f"{100 * statistics.fmean(each.hit for each in asked):.1f}"
    yield f"{statistics.fmean(queries):.1f} ({max(queries)})"
    yield milliseconds([each.served for each in asked])
    yield milliseconds([each.embedded for each in asked])
    yield f"{sum(each.same for each in asked)} of {len(asked)}"


@contextmanager
def serving(folder: Path, server: ModuleType) -> Iterator[Stores]:
    """Serve the graph at an endpoint of its own."""
    with (
        tempfile.TemporaryDirectory(dir=folder) as database,
        server.serving(Path(database), [GRAPH]) as url,
        Proxy(url) as proxy,
    ):
        yield Stores(open_graph([GRAPH]), open_graph([url]), open_graph([proxy.url]), proxy)


def shared(folder: Path) -> str:
    """Draw what endpoints do that many ask at once."""
    several = load(first(SETS["WebQSP"], folder)).questions[:DISTINCT] * (AT_ONCE // DISTINCT)
    lines = []
    for name, server in {"Virtuoso": virtuoso, "Oxigraph": oxigraph}.items():
        if not server.missing():
            with serving(folder, server) as stores:
                lines.append(asyncio.run(at_once(name, stores, several)))
    return drawn((f"{AT_ONCE} questions at once", "a second", "queries made", "queries sent"), lines)


def milliseconds(seconds: Sequence[float]) -> str:
    """Show the median and the 95th percentile."""
    late = statistics.quantiles(seconds, n=20)[-1]
    return f"{1000 * statistics.median(seconds):.0f} / {1000 * late:.0f}"


def main() -> None:
    """Measure in one run and write the tables."""
    console = Console(width=160, highlight=False)
    if not GRAPH.is_file():
        console.print(f"no question sets in {DATA}; set KGQA_DATA")
        return
    if reason := virtuoso.missing():
        console.print(reason)
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with serving(folder, virtuoso) as stores:
            found = asyncio.run(runs(folder, stores))
        blocks = {f"queries {method}": drawn(HEAD, rows(found, method)) for method in SEARCHING}
        blocks["at once"] = shared(folder)
    for name, block in blocks.items():
        console.print(f"\n{name}\n{block}", markup=False)
    put(PAGE, blocks)


if __name__ == "__main__":
    main()
