"""Measures how the cost of a question grows with the graph: 10^5, 10^6 and 10^7 triples.

    python benchmarks/scale.py [--sizes 100000 1000000] [--stores embedded oxigraph virtuoso]
        [--askers perfect offline compose] [--folder DIR] [--draw]

The graphs are made (`_made_graph`): Zipf fan-in, names, types, dates, numbers, unnamed nodes, a hub to
which nine of ten people belong. Forty questions of one to three hops are asked of each, one after
another in a process of its own: by CoR and by compose with a simulated model that never errs, and by CoR
with the offline model. Told are seconds of the processor of that process (without what the simulated model
itself takes) and queries, and the memory that another process comes to hold which does nothing else; of the
hop into the hub, the seconds of a page with its names. Of each graph it is told how long `kgqa kg load`
takes, and pyoxigraph's own bulk load of the same file just before.
What is made is kept in DIR, where it is given, and used again. ``--draw`` puts tables and plot into
docs/scale.md.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import kgqa
from kgqa.benchmarks._made_graph import BASE, MadeGraph, person_name
from kgqa.benchmarks._runs import DOCS, drawn, put
from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.runs.event_loop import garbage_frozen
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import PAGE_ROWS, open_graph
from kgqa.kg.store.directory import is_store
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.interface import Completion
from kgqa.models.scripted import OutOfReplies, ScriptedModel
from kgqa.prompts.base import Prompt, R
from kgqa.runtime.record import Ref

SIZES = (100_000, 1_000_000, 10_000_000)
STORES = ("embedded", "oxigraph", "virtuoso")
ASKERS = {"perfect": ("cor", "perfect"), "offline": ("cor", "offline"), "compose": ("compose", "perfect")}
"""Who asks: a method and its model."""
PAGE = DOCS / "scale.md"

COST_HEAD = (
    *("triples", "store", "asked by", "first answer, s", "median, s", "p95, s", "most, s", "hub, s"),
    *("queries mean (max)", "by the model", "right", "MB"),
)
LOAD_HEAD = (
    *("triples", "pyoxigraph, s", "processor, s", "`kgqa kg load`, s", "processor, s"),
    *("ratio", "ratio of the processor"),
)
LINES = {"embedded": "-", "oxigraph": "--", "virtuoso": ":"}
MARKERS = {"perfect": "o", "offline": "s", "compose": "^"}
NAMES = {
    "perfect": "CoR, perfect model",
    "offline": "CoR, offline model",
    "compose": "compose, perfect model",
}
EACH = 5
"""Questions of each of the eight kinds."""

MAX_GOLD = 30_000
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


class PerfectModel(SimulatedModel):
    """Never errs, and knows its replies and the processor seconds that its own thinking has taken."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.own, self.replies = 0.0, list[dict[str, Any]]()

    async def ask(self, prompt: Prompt[R]) -> Completion[R]:
        """Reply as a simulated model does."""
        before = time.process_time()
        try:
            said = await super().ask(prompt)
        finally:
            self.own += time.process_time() - before
        self.replies.append(said.reply.model_dump(mode="json"))
        return said


async def ask(source: str, triples: int, asker: str) -> dict[str, Any]:
    """Ask the questions of one graph, and return what each has cost."""
    started = time.process_time()
    graph, opened = open_graph([source]), time.process_time()
    asked = list(questions(MadeGraph(triples)))
    first = (await cost_of(asked[0], graph, asker))["processor"] + opened - started
    pages: list[float] = []
    with garbage_frozen():  # as in `kgqa eval` and on the server
        costs = [await cost_of(question, graph, asker) for question in asked]
        for _ in range(EACH):
            graph = open_graph([source])  # one that remembers no page
            before = time.process_time()
            await graph.follow_chain(citizens())
            pages.append(time.process_time() - before)
    return {"first": first, "questions": costs, "hub": float(np.median(pages))}


async def hold(source: str, asker: str, asked: Sequence[Mapping[str, Any]]) -> float:
    """Return the memory in MB that a process has come to hold in which nothing but asking is done.

    The model replies what a perfect one has replied elsewhere: this looks up more than it is asked for. A
    search that a server's time limit led elsewhere ends with the replies.
    """
    method, model = ASKERS[asker]
    graph = open_graph([source])
    with garbage_frozen():
        for each in asked:
            replies = ScriptedModel(each["replies"]) if model == "perfect" else model
            with suppress(OutOfReplies):
                await kgqa.aask(
                    each["question"], topics=each["topics"], method=method, kg=graph, model=replies
                )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def cost_of(question: Question, graph: KnowledgeGraph, asker: str) -> dict[str, Any]:
    """Ask one question, and return what it has cost, each node of it, and whether the answers were right."""
    method, model = ASKERS[asker]
    topics: list[Ref] = [{"id": topic.id, "name": topic.name} for topic in question.topics]
    perfect = PerfectModel(question, graph, ErrorRates())
    model_asked = perfect if model == "perfect" else "offline"
    start, nodes, record = time.process_time(), dict[str, float](), dict[str, Any]()
    steps = kgqa.astream(question.text, topics=topics, method=method, kg=graph, model=model_asked)
    async for record in steps:  # last of all the record, which is of no node
        node, spent = record.get("node", "record"), time.process_time() - start - perfect.own
        nodes[node] = nodes.get(node, 0.0) + spent - sum(nodes.values())
    return {
        "question": question.text,
        "topics": topics,
        "replies": perfect.replies,
        "processor": sum(nodes.values()),
        "nodes": nodes,
        "queries": record["usage"]["kg_queries"],
        "asked by the model": record["usage"]["model_queries"],
        "right": await is_right(question, {answer["id"] for answer in record["answers"]}, graph),
    }


async def is_right(question: Question, found: set[str], graph: KnowledgeGraph) -> bool:
    """Return whether these are the answers; where a page cannot hold them, whether all are among them."""
    gold = {each.id for each in question.readings[0]}
    if len(gold) <= PAGE_ROWS:
        return found == gold
    (chain,), ends = gold_chains(question), [*map(Entity, found)]
    return bool(ends) and await graph.reached_ends(chain, ends) == {*ends}


def gold_chains(question: Question) -> list[Chain]:
    """Return the gold paths of a question as chains of the graph."""
    hops = [
        tuple(Hop(each.removeprefix("^"), not each.startswith("^")) for each in path.relations)
        for path in question.paths
    ]
    return [Chain(Entity(str(path.topic)), each) for path, each in zip(question.paths, hops, strict=True)]


def citizens() -> Chain:
    """Return the chain into the hub."""
    return Chain(Entity(_id("Country", 0)), (Hop(f"{BASE}r/citizen_of", forward=False),))


def in_process(code: str) -> Any:
    """Run code in a process of its own, and return what it prints last."""
    command = [sys.executable, "-P", "-c", f"import json, resource, time; {code}"]
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(ended.stdout.splitlines()[-1])


def measure(source: str, triples: int, asker: str) -> dict[str, Any]:
    """Ask in a process of its own, and once more in another for its memory."""
    called = "import asyncio; from kgqa.benchmarks.scale import ask, hold; print(json.dumps(asyncio.run({})))"
    found: dict[str, Any] = in_process(called.format(f"ask({source!r}, {triples}, {asker!r})"))
    with tempfile.NamedTemporaryFile("w+", suffix=".json") as file:
        json.dump(found["questions"], file)
        file.flush()
        asked = f"json.load(open({file.name!r}))"
        return found | {"memory": in_process(called.format(f"hold({source!r}, {asker!r}, {asked})"))}


def loaded(file: Path, folder: Path) -> list[tuple[float, float]]:
    """Load a graph with pyoxigraph alone and with kgqa; return seconds and processor seconds of each."""
    bulk, ours = folder / f"{file.stem}-bulk", folder / file.stem
    writers = {
        bulk: "import pyoxigraph as ox; "
        f"ox.Store({str(bulk)!r}).bulk_load(path={str(file)!r}, format=ox.RdfFormat.N_TRIPLES)",
        ours: "from pathlib import Path; from kgqa.kg.store.directory import build_store; "
        f"build_store([Path({str(file)!r})], Path({str(ours)!r}))",
    }
    taken = []
    for place, work in writers.items():
        shutil.rmtree(place, ignore_errors=True)
        used = "sum(resource.getrusage(resource.RUSAGE_SELF)[:2])"
        wall, processor = in_process(
            f"start = time.perf_counter(); {work}; print(json.dumps([time.perf_counter() - start, {used}]))"
        )
        taken.append((wall, processor))
    shutil.rmtree(bulk)
    return taken


def served(store: str, file: Path, folder: Path, servers: ExitStack) -> str:
    """Return what a graph is opened by: its store folder, or the address of a server."""
    from kgqa.tests.support.servers import oxigraph, virtuoso

    if store == "embedded":
        return str(folder / file.stem)
    if store == "oxigraph":
        return servers.enter_context(oxigraph.serving(Path(servers.enter_context(_scratch())), [file]))
    server = servers.enter_context(virtuoso.started(Path(servers.enter_context(_scratch()))))
    return server.load([file], "http://kgqa.test/scale/")


def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="kgqa-scale-", ignore_cleanup_errors=True)


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES[:2], help="triples of the graphs")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=["embedded"])
    parser.add_argument("--askers", nargs="+", choices=ASKERS, default=[*ASKERS], help="who asks")
    parser.add_argument("--folder", type=Path, help="where graphs are kept")
    parser.add_argument("--draw", action="store_true", help="put tables and plot into docs/scale.md")
    given = parser.parse_args()
    costs, loads = [], []
    found: dict[tuple[str, str], dict[int, float]] = {}
    with nullcontext(given.folder) if given.folder else tempfile.TemporaryDirectory() as chosen:
        folder = Path(chosen)
        folder.mkdir(parents=True, exist_ok=True)
        for triples in given.sizes:
            file = folder / f"made-{triples}.nt"
            if not file.exists():
                MadeGraph(triples).write(file)
            if not is_store(folder / file.stem):
                loads.append(_load_row(triples, *loaded(file, folder)))
            for store in given.stores:
                with ExitStack() as servers:
                    source = served(store, file, folder, servers)
                    for asker in given.askers:
                        measured = measure(source, triples, asker)
                        costs.append((f"{triples:,}", store, NAMES[asker], *_row(measured)))
                        print(*costs[-1], sep="  ", file=sys.stderr)
                        found.setdefault((store, asker), {})[triples] = _median(measured)
    tables = {"cost": drawn(COST_HEAD, costs)} | ({"load": drawn(LOAD_HEAD, loads)} if loads else {})
    print(*tables.values(), sep="\n\n")
    if given.draw:
        put(PAGE, tables)
        plot(found, PAGE.with_suffix(".svg"))


def plot(found: Mapping[tuple[str, str], Mapping[int, float]], path: Path) -> None:
    """Draw processor seconds of the median question over the triples of the graph."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kgqa", "font.size": 11}):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.add_subplot(
            xscale="log", yscale="log", xlabel="triples", ylabel="processor seconds of the median question"
        )
        for (store, asker), medians in found.items():
            sizes, label = list(medians), f"{NAMES[asker]}, {store}"
            axes.plot(sizes, list(medians.values()), LINES[store], marker=MARKERS[asker], label=label)
        axes.grid(alpha=0.4)
        figure.legend(loc="outside right upper", fontsize=9)
        figure.savefig(path, metadata={"Date": None})


def _median(found: Mapping[str, Any]) -> float:
    return float(np.median([each["processor"] for each in found["questions"]]))


def _row(found: Mapping[str, Any]) -> list[str]:
    seconds = [each["processor"] for each in found["questions"]]
    queries, asked = ([each[key] for each in found["questions"]] for key in ("queries", "asked by the model"))
    right = sum(each["right"] for each in found["questions"])
    times = (found["first"], _median(found), float(np.percentile(seconds, 95)), max(seconds), found["hub"])
    counted = [f"{np.mean(numbers):.1f} ({max(numbers)})" for numbers in (queries, asked)]
    shown = [f"{value:.3f}" for value in times]
    return [*shown, *counted, f"{right}/{len(seconds)}", f"{found['memory']:.0f}"]


def _load_row(triples: int, bulk: tuple[float, float], ours: tuple[float, float]) -> list[str]:
    ratios = [f"{own / theirs:.2f}" for own, theirs in zip(ours, bulk, strict=True)]
    return [f"{triples:,}", *(f"{value:.1f}" for value in (*bulk, *ours)), *ratios]


if __name__ == "__main__":
    main()
