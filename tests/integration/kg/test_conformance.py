"""Every operation of a graph gives the same over the embedded store, Oxigraph's server and Virtuoso."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.opening import open_graph
from kgqa.kg.pages import ChainAttributes, ChainResult, Description, Page, Table
from kgqa.kg.proof.query import AnswerQuery, Branch
from kgqa.kg.sparql_graph import SparqlGraph
from kgqa.kg.terms import ANY, Chain, Entity, Hop, Literal, value_node
from kgqa.tests.support.cases import server_missing, tried
from kgqa.tests.support.perfect import DATA
from kgqa.tests.support.walks import NOWHERE, Walk, freebase_gold, walks, wikidata_gold

HERE = Path(__file__).parent

pytestmark = pytest.mark.usefixtures("whole_profiles")

DUMPS = {
    "freebase": DATA / "freebase" / "freebase_grasp_slice.nt.gz",
    "wikidata": DATA / "wikidata" / "wikidata_slice.nt.gz",
}
GRAPHS = ("tricky", "values", *DUMPS)
SERVERS = ("oxigraph_server", "virtuoso")

MANY, FEW = 9_999, 3
"""Row limits: one that no answer is above (and the most that Virtuoso sorts), and one that most are."""

WALKS = 6
"""Walks of each graph; every operation is tried with each. Half as many are tried with few rows."""

NS = "http://x/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

Ask = Callable[[KnowledgeGraph, Walk], Awaitable[Any]]
Open = Callable[[str, str, int], Awaitable[SparqlGraph]]
Sample = Callable[[str], list[Walk]]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files of the graphs by their names."""
    spokes = [f":s{n}" for n in range(40)]
    hub = f":hub :spoke {', '.join(spokes)} . " + " ".join(f"{spoke} :spoke :hub ." for spoke in spokes)
    texts = [f'"{"long " * (length // 5)}"' for length in (2_500, 5_000, 80_000)]
    text = (HERE / "tricky.ttl").read_text(encoding="utf-8")
    tricky = tmp_path_factory.mktemp("conformance") / "tricky.ttl"
    tricky.write_text(f"{text}\n{hub}\n:strings :of {', '.join(texts)} .\n", encoding="utf-8")
    return {"tricky": tricky, "values": HERE / "values.ttl", "lossy": HERE / "lossy.ttl", **DUMPS}


@pytest.fixture(scope="session")
def opened(request: pytest.FixtureRequest, files: dict[str, Path]) -> Open:
    """Open a graph by its name, over ``embedded`` or over a server, with a row limit; each once."""

    graphs: dict[tuple[str, str, int], SparqlGraph] = {}

    async def open_it(store: str, name: str, rows: int) -> SparqlGraph:
        if (key := (store, name, rows)) not in graphs:
            path = files[name]
            source = path if store == "embedded" else request.getfixturevalue(store)([path])
            graphs[key] = await asyncio.to_thread(open_graph, [source], rows=rows)
        return graphs[key]

    return open_it


@pytest.fixture(scope="session")
def sample(files: dict[str, Path]) -> Sample:
    """Return the walks of a graph by its name."""
    given = {
        "tricky": lambda: [
            chain("strings", "of"),
            chain("hub", "spoke", "spoke"),
            chain("ada", "likes", "likes", LABEL),
            Chain(Entity("_:b6"), (Hop(f"{NS}holds"), Hop(f"{NS}wed"), Hop(f"{NS}at"))),
        ],
        "values": lambda: [chain("all", "of"), chain("all", "of", "of"), chain("all", "of", LABEL)],
        "lossy": lambda: [chain(name, "of") for name in ("integers", "doubles", "booleans", "wrong")],
        "freebase": lambda: freebase_gold(DATA / "freebase" / "cwq_grasp_slice.jsonl.gz"),
        "wikidata": lambda: wikidata_gold(DATA / "wikidata" / "qald10_en_grasp_slice.jsonl.gz"),
    }
    return cache(lambda name: walks(files[name], WALKS, given[name]()))


def chain(topic: str, *relations: str) -> Chain:
    return Chain(Entity(urljoin(NS, topic)), tuple(Hop(urljoin(NS, relation)) for relation in relations))


def upto_each(walk: Walk) -> list[Chain]:
    return [walk.chain.upto(depth) for depth in range(walk.chain.depth, -1, -1)]


async def extend(graph: KnowledgeGraph, walk: Walk) -> Any:
    return [await graph.extend_chain(chain) for chain in upto_each(walk)]


async def follow(graph: KnowledgeGraph, walk: Walk) -> Any:
    return [await graph.follow_chain(chain) for chain in upto_each(walk)]


async def visit(graph: KnowledgeGraph, walk: Walk) -> Any:
    return await graph.visit_chains(upto_each(walk))


async def cross(graph: KnowledgeGraph, walk: Walk) -> Any:
    hops = sorted({hop for each in walk.chain.hops for hop in (each, each.inverse)})
    return await graph.cross_mediators([(chain, hops) for chain in upto_each(walk)])


async def trace(graph: KnowledgeGraph, walk: Walk) -> Any:
    return await graph.trace_chain(walk.chain, [*walk.ends, NOWHERE, Literal("nowhere")])


async def attributes(graph: KnowledgeGraph, walk: Walk) -> Any:
    near = [*walk.ends[:3], walk.entity, Literal("1961"), Literal("abc")]
    wanted = {
        chain: {
            depth: (await graph.extend_chain(chain.upto(depth))).items[:9]
            for depth in range(1, chain.depth + 1)
        }
        for chain in upto_each(walk)
    }
    return list((await graph.chain_attributes(wanted, near)).items())


async def list_relations(graph: KnowledgeGraph, walk: Walk) -> Any:
    found = await graph.list_relations([walk.chain.topic.id, walk.entity.id, NOWHERE.id])
    return list(found.items())


async def follow_relation(graph: KnowledgeGraph, walk: Walk) -> Any:
    hops = {hop for each in walk.chain.hops for hop in (each, each.inverse)}
    ids = [walk.chain.topic.id, walk.entity.id, NOWHERE.id]
    return await graph.follow_relation([(id, hop) for hop in sorted(hops) for id in ids])


async def follow_many(graph: KnowledgeGraph, walk: Walk) -> Any:
    hops = sorted({hop for each in walk.chain.hops for hop in (each, each.inverse)})
    ids = [walk.chain.topic.id, walk.entity.id, *(f"{NOWHERE.id}{n}" for n in range(9))]
    ids += [end.id for end in walk.ends if isinstance(end, Entity)]
    return await graph.follow_relation([(id, hop) for hop in hops for id in ids])


async def names(graph: KnowledgeGraph, walk: Walk) -> Any:
    ends = [end.id for end in walk.ends if isinstance(end, Entity)]
    return await graph.names([walk.chain.topic.id, NOWHERE.id, *ends])


async def find_by_id(graph: KnowledgeGraph, walk: Walk) -> Any:
    ids = (walk.chain.topic.id, f"<{walk.entity.id}>", NOWHERE.id)
    return [await graph.find_entities(id) for id in ids]


async def find_by_name(graph: KnowledgeGraph, walk: Walk) -> Any:
    """By names that are in English or in no language: an endpoint is asked for no others."""
    listed = await graph.select(
        f"SELECT ?name {{ VALUES ?node {{ <{walk.chain.topic.id}> <{walk.entity.id}> }} "
        f"?node <{LABEL}> ?name FILTER(LANG(?name) IN ('', 'en')) }}"
        if not walk.chain.topic.id.startswith("_:") and not walk.entity.id.startswith("_:")
        else "SELECT ?name { VALUES ?name { 'Ada' 'Bob' } }"
    )
    found = [await graph.find_entities(str(name)) for (name,) in sorted(set(listed.rows), key=str)]
    return [[match for match in matches if match.how == "exact"] for matches in found]


async def describe(graph: KnowledgeGraph, walk: Walk) -> Any:
    return [await graph.describe(id, 9_000) for id in (walk.chain.topic.id, walk.entity.id)]


async def select(graph: KnowledgeGraph, walk: Walk) -> Any:
    topic = f"<{walk.chain.topic.id.replace('_:', 'urn:kgqa:blank:')}>"
    queries = (
        f"SELECT ?r ?end {{ {topic} ?r ?end }} ORDER BY STR(?r) STR(?end) LANG(?end) STR(DATATYPE(?end))",
        f"SELECT (COUNT(*) AS ?n) {{ {{ {topic} ?r ?x }} UNION {{ ?x ?r {topic} }} }}",
        f"ASK {{ {topic} ?r ?x }}",
    )
    return [await graph.select(query) for query in queries]


OPERATIONS: dict[str, Ask] = {
    operation.__name__: operation
    for operation in (
        extend,
        follow,
        visit,
        cross,
        trace,
        attributes,
        list_relations,
        follow_relation,
        follow_many,
        names,
        find_by_id,
        find_by_name,
        describe,
        select,
    )
}


def untried(store: str, name: str = "tricky", *_: object) -> str | None:
    """Return why a graph cannot be tried on a store."""
    absent = name in DUMPS and not DUMPS[name].exists()
    return server_missing(store) or (f"needs {DUMPS[name].name} of the data folder" if absent else None)


each_operation = pytest.mark.parametrize(
    ("store", "name", "operation"), tried(product(SERVERS, GRAPHS, OPERATIONS), untried)
)


@each_operation
async def test_answers_are_equal(opened, sample, store, name, operation):
    embedded, served = await opened("embedded", name, MANY), await opened(store, name, MANY)
    for walk in sample(name):
        ask = OPERATIONS[operation]
        assert await ask(served, walk) == await ask(embedded, walk), walk


@each_operation
async def test_an_answer_that_is_cut_is_some_of_the_whole_and_says_so(opened, sample, store, name, operation):
    """Which part of it a store gives is its own affair; what is not cut is equal."""
    embedded, served = await opened("embedded", name, MANY), await opened(store, name, FEW)
    for walk in sample(name)[: WALKS // 2]:
        ask = OPERATIONS[operation]
        for whole, found in zip(
            pages(await ask(embedded, walk)), pages(await ask(served, walk)), strict=True
        ):
            assert not isinstance(found, Page) or found.truncated >= whole.truncated
            if not isinstance(found, Page) or not found.truncated:
                assert found == whole, walk
                continue
            # of many steps, those of one hop share a page; some of what is cut of attributes is not shown
            if not operation.startswith(("follow_", "attributes")):
                assert len(set(found)) == len(found) == FEW < len(whole), walk
            assert set(found) <= set(whole), walk
            if operation != "attributes":  # they come by how many nodes have them
                assert [each for each in whole if each in set(found)] == list(found), walk


FROM_ANYTHING = [
    Chain(ANY, tuple(Hop(urljoin(NS, each.removeprefix("^")), not each.startswith("^")) for each in hops))
    for hops in (("likes",), ("^likes",), ("^of",), ("^likes", "knows", "^likes"), ("holds", "^has"), ("no",))
]


@pytest.mark.parametrize("store", tried([(store,) for store in SERVERS], untried))
async def test_chains_from_anything_are_equal(opened, store):
    """But for where a path to an end sets out from."""
    embedded, served = await opened("embedded", "tricky", MANY), await opened(store, "tricky", MANY)
    for chain in FROM_ANYTHING:
        ends = tuple(end.term for end in await embedded.follow_chain(chain))
        for ask in (extend, follow, visit, cross, attributes):
            walk = Walk(chain, ends[:9])
            assert await ask(served, walk) == await ask(embedded, walk), (ask, chain)
        for graph in (embedded, served):
            assert await graph.reached_ends(chain, [*ends, NOWHERE]) == {*ends}
            paths = await graph.trace_chain(chain, [*ends, NOWHERE])
            assert [[fact.relation for fact in path] for path in paths] == [
                *([hop.relation for hop in chain.hops] for _ in ends),
                [],
            ]


def pages(answer: Any) -> list[Any]:
    """Return the pages of an answer one after another, and what is no page as it is."""
    if isinstance(answer, list | tuple):
        return [page for each in answer for page in pages(each)]
    if isinstance(answer, ChainResult):
        return [answer.ends, answer.hops]
    if isinstance(answer, ChainAttributes):
        return [answer.values, answer.types]
    if isinstance(answer, Description):  # its facts are cut at a limit of its own
        return [answer.entity, answer.aliases, answer.types]
    if isinstance(answer, Table):
        return [Page(answer.rows, answer.truncated)]
    return [answer]


@pytest.mark.parametrize(("store", "name"), tried(product(SERVERS, GRAPHS), untried))
async def test_counts_are_equal(opened, store, name):
    wanted = await (await opened("embedded", name, MANY)).info()
    found = await (await opened(store, name, MANY)).info()
    assert (found.triples, found.entities, found.named) == (wanted.triples, wanted.entities, wanted.named)
    assert (found.dialect, found.relation_counts) == (wanted.dialect, wanted.relation_counts)


@pytest.mark.parametrize(
    ("store", "index"), tried(product(SERVERS, range(WALKS)), lambda store, _: server_missing(store))
)
async def test_values_that_a_store_changes_fail_no_operation(opened, sample, store, index):
    """And what the store gives for such a value leads back to where it came from."""
    served, walk = await opened(store, "lossy", MANY), sample("lossy")[index]
    for ask in OPERATIONS.values():
        await ask(served, walk)
    found = [candidate.term for candidate in await served.follow_chain(walk.chain)]
    assert found
    assert all(await served.trace_chain(walk.chain, found)) or not walk.chain.hops


@pytest.mark.parametrize("store", tried([(store,) for store in SERVERS], untried))
async def test_chains_from_a_value_are_equal(opened, store):
    label = Hop(LABEL, forward=False)
    answers = []
    for each in ("embedded", store):
        graph = await opened(each, "tricky", MANY)
        found = []
        for topic in (
            value_node(Literal("Ada Lovelace", language="en")),
            value_node(Literal("no such value")),
        ):
            chains = [Chain(topic), Chain(topic, (label,)), Chain(topic, (label, Hop(f"{NS}likes")))]
            visits = await graph.visit_chains(chains)
            ends = [end.term for end in visits[2].ends]
            query = AnswerQuery((Branch(chains[2], (1, 2), fresh=True),), 2)
            found += [visits, await graph.trace_chain(chains[2], ends), (await graph.prove(query)).answers]
            found.append(await graph.describe(topic.id))
        answers.append(found)
    assert answers[0] == answers[1]
