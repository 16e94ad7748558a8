"""Measures how the cost of a question grows with the graph: 10^5, 10^6 and 10^7 triples.

    python benchmarks/scale.py [--sizes 100000 1000000] [--stores embedded oxigraph virtuoso] [--folder DIR]

The graphs are made (`_made_graph`): Zipf fan-in, names, types, dates, numbers, unnamed nodes, a hub to
which nine of ten people belong. Forty questions of one to three hops are asked of each, one after
another in a process of its own, by CoR with a simulated model that never errs and with the offline
model. Told are seconds of the processor of that process, queries, and the memory it has come to hold.
What is made is kept in DIR, where it is given, and used again.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import kgqa
from kgqa.benchmarks._made_graph import BASE, MadeGraph, person_name
from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.opening import open_graph
from kgqa.kg.store.directory import build_store, is_store
from kgqa.runtime.record import Ref

SIZES = (100_000, 1_000_000, 10_000_000)
STORES = ("embedded", "oxigraph", "virtuoso")
MODELS = ("perfect", "offline")
EACH = 5
"""Questions of each of the eight kinds."""

MAX_GOLD = 1_000
"""Gold answers that a question lists at most; of the hub's a million, the first."""


def questions(graph: MadeGraph, seed: int = 1) -> Iterator[Question]:
    """Yield the forty questions of a made graph, with their gold paths and answers."""
    draw = np.random.default_rng(seed)
    sizes = graph.sizes
    people = draw.integers(0, sizes.people, 3 * EACH).tolist()
    companies = draw.integers(sizes.companies // 4, sizes.companies, 2 * EACH).tolist()
    for city in draw.integers(0, sizes.cities, EACH).tolist():
        text = f"Which country is City {city} located in?"
        yield _question(text, ("City", city), ["located_in"], "Country", [graph.located_in[city]])
    for person in people[:EACH]:
        text = f"Which company does {person_name(person)} work for?"
        yield _question(text, ("Person", person), ["works_for"], "Company", [graph.works_for[person]])
    for company in companies[:EACH]:
        text, found = f"Who works for Company {company}?", np.flatnonzero(graph.works_for == company)
        yield _question(text, ("Company", company), ["^works_for"], "Person", found)
    for country in range(EACH):
        text, found = f"Who is citizen of Country {country}?", np.flatnonzero(graph.citizen_of == country)
        yield _question(text, ("Country", country), ["^citizen_of"], "Person", found)
    for person in people[EACH : 2 * EACH]:
        text = f"In which city are the headquarters of the company that {person_name(person)} works for?"
        city = graph.seat[graph.works_for[person]]
        yield _question(text, ("Person", person), ["works_for", "headquarters"], "City", [city])
    for company in companies[EACH:]:
        text = f"In which cities were the people born in who work for Company {company}?"
        found = np.unique(graph.born_in[graph.works_for == company])
        yield _question(text, ("Company", company), ["^works_for", "born_in"], "City", found)
    for person in people[2 * EACH :]:
        text = f"In which country are the headquarters of the company that {person_name(person)} works for?"
        country = graph.located_in[graph.seat[graph.works_for[person]]]
        path = ["works_for", "headquarters", "located_in"]
        yield _question(text, ("Person", person), path, "Country", [country])
    for company in companies[:EACH]:
        text = f"Which citizens of Country 0 work for Company {company}?"
        both = np.flatnonzero((graph.works_for == company) & (graph.citizen_of == 0))
        given = _question(text, ("Company", company), ["^works_for"], "Person", both)
        hub = GoldPath(_id("Country", 0), (f"^{BASE}r/citizen_of",))
        topics = (*given.topics, EntityRef(_id("Country", 0), "Country 0"))
        yield replace(given, topics=topics, paths=(*given.paths, hub))


def _question(
    text: str, topic: tuple[str, int], path: Sequence[str], kind: str, answers: Iterable[int]
) -> Question:
    start = EntityRef(_id(*topic), _name(*topic))
    relations = tuple(f"{'^' * hop.startswith('^')}{BASE}r/{hop.lstrip('^')}" for hop in path)
    gold = tuple(EntityRef(_id(kind, each), _name(kind, each)) for each in islice(answers, MAX_GOLD))
    return Question(text, text, (start,), (gold,), (GoldPath(start.id, relations),), hops=len(path))


def _name(kind: str, place: int) -> str:
    return person_name(place) if kind == "Person" else f"{kind} {place}"


def _id(kind: str, place: int) -> str:
    return f"{BASE}e/{kind}{place}"


async def ask(source: str, triples: int, model: str) -> dict[str, Any]:
    """Ask the questions of one graph, and return what each has cost."""
    started = time.process_time()
    graph, opened = open_graph([source]), time.process_time()
    cost: list[dict[str, Any]] = []
    asked = list(questions(MadeGraph(triples)))
    for question in (asked[0], *asked):  # the first warms up and counts as opening
        topics: list[Ref] = [{"id": topic.id, "name": topic.name} for topic in question.topics]
        answers_with = SimulatedModel(question, graph, ErrorRates()) if model == "perfect" else "offline"
        before, wall = time.process_time(), time.perf_counter()
        record = await kgqa.aask(question.text, topics=topics, kg=graph, model=answers_with)
        gold = {each.id for each in question.readings[0]}
        found = {answer["id"] for answer in record["answers"]}
        cost.append(
            {
                "question": question.text,
                "processor": time.process_time() - before,
                "seconds": time.perf_counter() - wall,
                "queries": record["usage"]["kg_queries"],
                "right": found == gold
                if len(gold) < MAX_GOLD
                else bool(found & gold) or len(found) > MAX_GOLD,
            }
        )
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    first = opened - started + cost[0]["processor"]
    return {"first": first, "memory": memory, "questions": cost[1:]}


def measure(source: str, triples: int, model: str) -> dict[str, Any]:
    """Ask in a process of its own."""
    code = (
        "import asyncio, json; from kgqa.benchmarks.scale import ask; "
        f"print(json.dumps(asyncio.run(ask({source!r}, {triples}, {model!r}))))"
    )
    ended = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def served(store: str, file: Path, folder: Path, servers: ExitStack) -> str:
    """Return what a graph is opened by: its store folder, built once, or the address of a server."""
    from kgqa.tests.support.servers import oxigraph, virtuoso

    if store == "embedded":
        place = folder / file.stem
        if not is_store(place):
            build_store([file], place)
        return str(place)
    if store == "oxigraph":
        return servers.enter_context(oxigraph.serving(Path(servers.enter_context(_scratch())), [file]))
    server = servers.enter_context(virtuoso.started(Path(servers.enter_context(_scratch()))))
    return server.load([file], "http://kgqa.test/scale/")


def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="kgqa-scale-", ignore_cleanup_errors=True)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES[:2], help="triples of the graphs")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=["embedded"])
    parser.add_argument("--folder", type=Path, help="where graphs are kept")
    given = parser.parse_args()
    table = Table(
        "triples", "store", "model", "first, s", "median, s", "p95, s", "most, s", "queries", "right", "MB"
    )
    with nullcontext(given.folder) if given.folder else tempfile.TemporaryDirectory() as chosen:
        folder = Path(chosen)
        folder.mkdir(parents=True, exist_ok=True)
        for triples in given.sizes:
            file = folder / f"made-{triples}.nt"
            if not file.exists():
                MadeGraph(triples).write(file)
            for store in given.stores:
                with ExitStack() as servers:
                    source = served(store, file, folder, servers)
                    for model in MODELS:
                        table.add_row(f"{triples:,}", store, model, *_row(measure(source, triples, model)))
    Console(width=140).print(table)


def _row(found: dict[str, Any]) -> list[str]:
    seconds = [each["processor"] for each in found["questions"]]
    queries = [each["queries"] for each in found["questions"]]
    right = sum(each["right"] for each in found["questions"])
    spread = (float(np.median(seconds)), float(np.percentile(seconds, 95)), max(seconds))
    times = [f"{value:.3f}" for value in (found["first"], *spread)]
    return [*times, f"{np.mean(queries):.1f}", f"{right}/{len(seconds)}", f"{found['memory']:.0f}"]


if __name__ == "__main__":
    main()
