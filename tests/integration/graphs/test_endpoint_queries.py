"""How often a method asks an endpoint: counted there, however many entities are on the way.

A topic is linked by one query, which tells what leads on from it as well. What else a step may ask is in
`STEPS`, and what proves the answer: it is the same for one entity and for hundreds.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice, product
from math import inf
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import kgqa
from kgqa.evaluation.datasets import load
from kgqa.evaluation.question import EntityRef, GoldPath, Question
from kgqa.evaluation.runs.records import topic_refs
from kgqa.evaluation.simulation import ErrorRates, SimulatedModel
from kgqa.graphs import METHODS, context_of
from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import PAGE_ROWS, open_graph
from kgqa.kg.sparql import queries
from kgqa.priors.encoder import Vectors
from kgqa.runtime.node import NodeRuntime
from kgqa.runtime.record import FROM_GRAPH
from kgqa.runtime.search_context import SearchContext
from kgqa.tests.conftest import PREFIXES
from kgqa.tests.support.cases import EVERY_QUESTION, NO_DATA, tried
from kgqa.tests.support.perfect import DATA
from kgqa.tests.support.query_log import rows_together
from kgqa.tests.support.servers.proxy import Proxy

pytestmark = pytest.mark.usefixtures("whole_profiles")

FANS = (1, 50, 400)

HOPS = ("first", "second", "third")

ENDS = 3
"""Entities that the last hop leads to at most, from however many."""

SEARCHING = [name for name in METHODS if issubclass(context_of(name), SearchContext)]
"""CoR and the searches over entities; an agent asks what it likes, a model's SPARQL is one query."""

STEPS = {
    "retrieve_relations": 3,  # what leads on, where there, and what leads on from what has no name
    "smart_lookahead": 3,
    "expand": 2,  # the ends; where these have no names, what leads on
    "filter": 5,  # what the question names, how often, the attributes there are, their values, what these are
    "refine": 5,
    "retrieve": 6,  # chains in three rounds; names in the question; relations, attributes
    "compute": 2,  # the query, or why it gives nothing
}
"""Queries of a step at most."""

PROOF = 4
"""Queries that prove an answer: its query, twice without what holds it, and the facts behind it."""

COMPOSED = 8
"""Queries of a question that compose answers by one call: the topics, three rounds of chains, names in the
question, attributes, the query, and the facts behind its answers."""

each_method = pytest.mark.parametrize("method", SEARCHING)

STORE = "oxigraph_server"
"""One server is enough to count: the one that answers soonest. What is asked of Virtuoso is as much, as
`test_on_endpoints` shows."""


def fan(size: int) -> str:
    """Lead from a root to ``size`` entities, from each to another, from these to few; and elsewhere."""
    lines = ['e:root rdfs:label "Root"@en .', 'e:sign rdfs:label "Sign"@en .']
    for place in range(size):
        nodes = ["e:root", f"e:first{place}", f"e:second{place}", f"e:third{place % ENDS}"]
        for hop, start, end in zip(HOPS, nodes[:-1], nodes[1:], strict=True):
            lines.append(f"{start} r:{hop} {end} ; r:{hop}_sign e:sign .")
            lines.append(f'{end} rdfs:label "{end[2:].capitalize()}"@en ; r:beside e:root .')
    return "\n".join(lines)


def asked_of(size: int) -> Question:
    answers = tuple(
        EntityRef(f"http://t/e/third{place}", f"Third{place}") for place in range(min(size, ENDS))
    )
    root = EntityRef("http://t/e/root", "Root")
    return Question(
        "fan", "Which third are they?", topics=(root,), readings=(answers,), paths=(GoldPath(root.id, HOPS),)
    )


Serve = Callable[[Path], Proxy]


@pytest.fixture(scope="module")
def serve(request: pytest.FixtureRequest) -> Iterator[Serve]:
    """Put a proxy before a server of a file."""
    proxies: list[Proxy] = []

    @cache
    def serving(path: Path) -> Proxy:
        proxies.append(Proxy(request.getfixturevalue(STORE)([path])).__enter__())
        return proxies[-1]

    yield serving
    for proxy in proxies:
        proxy.__exit__(None, None, None)


@pytest.fixture(scope="module")
def fans(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("fans")
    paths = {size: folder / f"fan{size}.ttl" for size in FANS}
    for size, path in paths.items():
        path.write_text(PREFIXES + fan(size), encoding="utf-8")
    return paths


@pytest.fixture
def any_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare names in no time, by chance."""

    async def encode(runtime: NodeRuntime, texts: Sequence[str], encoder: str | None = None) -> Vectors:
        rows = [np.random.default_rng(crc32(text.encode())).standard_normal(16) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float32).reshape(-1, 16)

    monkeypatch.setattr(NodeRuntime, "encode", encode)


async def counted(
    question: Question, method: str, proxy: Proxy, embedded: KnowledgeGraph, **errors: Any
) -> tuple[int, Any]:
    """Ask an endpoint that was just opened; give the queries that came there, and the record."""
    served = await asyncio.to_thread(open_graph, [proxy.url])
    model = SimulatedModel(question, embedded, ErrorRates(**errors))
    before = len(proxy.requests)
    record = await kgqa.aask(
        question.text, topics=topic_refs(question), method=method, kg=served, model=model, retry_search=False
    )
    return len(proxy.requests) - before, record


def visits(record: Any, *nodes: str) -> int:
    return sum(entry["node"] in nodes for entry in record["trace"])


def most(record: Any) -> int:
    """The queries that a run may take, by what its trace tells.

    Where the trace has an error, a topic's id was looked up by itself as well. Once for a graph, it is asked
    which relations are said from both ends.
    """
    linked = 2 + ("error" in record["trace"][0])
    steps = sum(STEPS.get(entry["node"], 0) for entry in record["trace"])
    return linked + steps + PROOF + len(record["paths"])


@each_method
@pytest.mark.usefixtures("any_encoder")
async def test_the_number_of_queries_does_not_grow_with_the_entities(serve, fans, method) -> None:
    found = {}
    for size, path in fans.items():
        proxy, embedded = await asyncio.to_thread(serve, path), open_graph([path])
        count, record = await counted(asked_of(size), method, proxy, embedded)
        assert record["outcome"] in FROM_GRAPH
        assert visits(record, "expand") == len(HOPS) or visits(record, "compute")
        found[size] = count, visits(record, "compose")
        assert count <= most(record)
    (few, _), *many = found.values()
    again = {
        asked for _, asked in many
    }  # which ends are read first is chance: compose may have to look again
    assert few <= many[0][0] and len(set(many)) == len(again), found  # the only way there is needs no proof


def test_a_query_that_groups_or_sorts_the_graph_is_seen() -> None:
    assert rows_together(queries.predicates()) == inf
    assert rows_together("SELECT ?s { ?s ?p ?o } ORDER BY ?s LIMIT 5") == inf
    assert (
        rows_together("SELECT ?s { { SELECT ?s { ?s ?p ?o } LIMIT 5 } VALUES ?t { 1 2 } } ORDER BY ?s") == 10
    )


@pytest.mark.parametrize("offline", [False, True], ids=["simulated", "offline"])
@each_method
@pytest.mark.usefixtures("any_encoder")
async def test_no_query_sorts_or_groups_more_than_a_page(serve, fans, method, offline) -> None:
    question, proxy = asked_of(50), await asyncio.to_thread(serve, fans[50])
    served = await asyncio.to_thread(open_graph, [proxy.url])
    model = "offline" if offline else SimulatedModel(question, open_graph([fans[50]]), ErrorRates())
    before = len(proxy.requests)
    await kgqa.aask(question.text, topics=topic_refs(question), method=method, kg=served, model=model)
    asked = {request.query for request in proxy.requests[before:]}
    asked.discard(queries.both_ways())  # of the graph as a whole, once in a process, up to a million triples
    assert max(map(rows_together, asked)) <= PAGE_ROWS


@pytest.mark.parametrize(
    ("method", "name"),
    tried(
        product(SEARCHING, ["webqsp_grasp_slice", "cwq_grasp_slice"]),
        lambda *_: None if DATA.is_dir() else NO_DATA,
    ),
)
async def test_public_questions_stay_within_the_limit(serve, method, name) -> None:
    path = DATA / "freebase" / "freebase_grasp_slice.nt.gz"
    proxy, embedded = await asyncio.to_thread(serve, path), await asyncio.to_thread(_embedded, path)
    every = load(DATA / "freebase" / f"{name}.jsonl.gz").questions
    for question in islice(every, 0, 60, 30):
        count, record = await counted(question, method, proxy, embedded, accuracy=0.7, seed=1)
        assert 0 < count <= most(record), question.id


@pytest.mark.parametrize(
    "name",
    tried(
        [(name,) for name in ("webqsp_grasp_slice", "cwq_grasp_slice")],
        lambda *_: None if DATA.is_dir() else NO_DATA,
    ),
)
async def test_a_question_that_one_call_answers_takes_eight_queries(serve, name) -> None:
    path = DATA / "freebase" / "freebase_grasp_slice.nt.gz"
    proxy, embedded = await asyncio.to_thread(serve, path), await asyncio.to_thread(_embedded, path)
    every, counts = load(DATA / "freebase" / f"{name}.jsonl.gz").questions, []
    for question in islice(every, 0, 150, 10 if EVERY_QUESTION else 25):
        _, record = await counted(question, "compose", proxy, embedded)
        if visits(record, "compose", "claims", "retrieve_relations") == 1:
            unknown_topic = "error" in record["trace"][0]  # its id was looked up by itself
            counts.append(record["usage"]["kg_queries"] - unknown_topic)
    assert len(counts) >= 2 and max(counts) <= COMPOSED, counts


@cache
def _embedded(path: Path) -> KnowledgeGraph:
    return open_graph([path])
