"""Compares kgqa's embedded store with rdflib on one graph, in one run, side by side.

    python benchmarks/stores.py [--entities 100] [--seed 1]

The graph is MetaQA where its files are at hand (KGQA_DATA, or ../shared/data),
else the sample that comes with kgqa. Both stores answer the same questions about
the same entities. kgqa goes its whole way: event loop, thread, typed terms with
names, sorting (for the out- and in-relations: event loop, thread, typed terms).
rdflib runs the shortest SPARQL for the same answer and stops where it has rows.
Entities whose two-hop chain has more than 2,000 ends are left out, because rdflib
takes too long for them.
"""

import argparse
import asyncio
import os
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from rdflib import Graph, URIRef
from rich.console import Console
from rich.table import Table

from kgqa.data import SAMPLE_GRAPH
from kgqa.kg.opening import open_graph
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.store import directory
from kgqa.kg.store.embedded import EmbeddedStore
from kgqa.kg.terms import Chain, Entity, Hop

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
MOST_ENDS = 2_000
Seconds = list[float]
T = TypeVar("T")


def main() -> None:
    """Run the comparison and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--entities", type=int, default=100, help="entities to ask about")
    parser.add_argument("--seed", type=int, default=1, help="seed of their choice")
    arguments = parser.parse_args()
    source = graph_file()
    (store, _), load_ours = timed(lambda: directory.load_files([source]))
    ours, executor = open_graph([source]), EmbeddedStore(store)
    theirs, load_theirs = timed(lambda: read(source))
    chains = asyncio.run(choose(ours, arguments.entities, arguments.seed))
    rows = [("load", [load_ours], [load_theirs]), *asyncio.run(compare(ours, executor, theirs, chains))]
    show(source.name, len(theirs), len(chains), rows)


def graph_file() -> Path:
    """Return the MetaQA graph if it is there, else the sample."""
    folder = Path(os.environ.get("KGQA_DATA") or Path(__file__).parents[1].parent / "shared" / "data")
    metaqa = folder / "metaqa" / "metaqa.nt.gz"
    return metaqa if metaqa.is_file() else SAMPLE_GRAPH


def read(source: Path) -> Graph:
    """Read a gzipped N-Triples file with rdflib."""
    import gzip

    graph = Graph()
    with gzip.open(source) as file:
        graph.parse(file, format="nt")
    return graph


def timed(run: Callable[[], T]) -> tuple[T, float]:
    """Run once and give the result and the seconds."""
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


async def choose(graph: SparqlGraph, count: int, seed: int) -> list[Chain]:
    """Choose entities and for each a chain of two hops, forward or back, from what the graph offers."""
    table = await graph.select("SELECT DISTINCT ?s { ?s ?p ?o FILTER(isIRI(?o)) } ORDER BY ?s")
    entities = sorted(row[0].id for row in table.rows if isinstance(row[0], Entity))
    chosen, chance = [], random.Random(seed)
    for id in chance.sample(entities, len(entities)):
        chain = Chain(Entity(id))
        for _ in range(2):
            hops = await graph.extend_chain(chain)
            chain = chain.then(chance.choice(hops.items)) if hops.items else chain
        if chain.depth == 2 and len(await graph.follow_chain(chain)) <= MOST_ENDS:
            chosen.append(chain)
        if len(chosen) == count:
            break
    return chosen


async def compare(
    ours: SparqlGraph, executor: EmbeddedStore, theirs: Graph, chains: Sequence[Chain]
) -> list[tuple[str, Seconds, Seconds]]:
    """Ask both stores the same; give the seconds of each answer."""
    ids = [chain.topic.id for chain in chains]
    return [
        (
            "relations, both directions",
            [await seconds(ours.list_relations([id])) for id in ids],
            [
                timed(lambda id=id: list(theirs.query(out_text(id))) + list(theirs.query(in_text(id))))[1]
                for id in ids
            ],
        ),
        (
            "out-relations",
            [await seconds(executor.query(out_text(id))) for id in ids],
            [timed(lambda id=id: list(theirs.query(out_text(id))))[1] for id in ids],
        ),
        (
            "in-relations",
            [await seconds(executor.query(in_text(id))) for id in ids],
            [timed(lambda id=id: list(theirs.query(in_text(id))))[1] for id in ids],
        ),
        (
            "chain of 2 hops, names",
            [await seconds(ours.follow_chain(chain)) for chain in chains],
            [timed(lambda chain=chain: list(theirs.query(chain_text(chain))))[1] for chain in chains],
        ),
    ]


async def seconds(answer: Awaitable[object]) -> float:
    """Await an answer and give the seconds it took."""
    start = time.perf_counter()
    await answer
    return time.perf_counter() - start


def out_text(id: str) -> str:
    """Ask for the relations of which an entity is the subject."""
    return f"SELECT DISTINCT ?r {{ {URIRef(id).n3()} ?r ?o }}"


def in_text(id: str) -> str:
    """Ask for the relations of which an entity is the object."""
    return f"SELECT DISTINCT ?r {{ ?s ?r {URIRef(id).n3()} }}"


def chain_text(chain: Chain) -> str:
    """Ask for the ends of a chain of two hops with their names."""
    first, second = chain.hops
    steps = f"{step(URIRef(chain.topic.id).n3(), first, '?a')} {step('?a', second, '?b')}"
    return f"SELECT DISTINCT ?b ?n {{ {steps} OPTIONAL {{ ?b <{LABEL}> ?n }} }}"


def step(start: str, hop: Hop, end: str) -> str:
    """Write one hop as a triple pattern."""
    relation = URIRef(hop.relation).n3()
    return f"{start} {relation} {end} ." if hop.forward else f"{end} {relation} {start} ."


def show(name: str, triples: int, entities: int, rows: Sequence[tuple[str, Seconds, Seconds]]) -> None:
    """Print medians and 95th percentiles in milliseconds, and the ratio of the medians."""
    table = Table(
        "", "kgqa p50 ms", "p95", "rdflib p50 ms", "p95", "ratio", title=f"{name}: {triples:,} triples"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for what, ours, theirs in rows:
        mine, other = statistics.median(ours), statistics.median(theirs)
        cells = [mine, late(ours), other, late(theirs)]
        table.add_row(what, *(f"{1000 * cell:,.2f}" for cell in cells), f"{other / mine:,.1f}x")
    console = Console(width=110)
    console.print(table)
    console.print(f"{entities} entities, each asked once; load is one run")


def late(values: Seconds) -> float:
    """Return the 95th percentile."""
    return sorted(values)[int(0.95 * (len(values) - 1))]


if __name__ == "__main__":
    main()
