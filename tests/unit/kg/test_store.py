"""The executor: deadlines, threads, meters, named graphs."""

import asyncio
import gc
import subprocess
import sys
import threading
import time

import pyoxigraph as ox
import pytest
from blockbuster import blockbuster_ctx

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.meter import metered
from kgqa.kg.opening import open_graph
from kgqa.kg.store.embedded import EmbeddedStore
from kgqa.kg.terms import Chain, Entity, Hop, Literal

JOINED = "WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p }"
SLOW_ROWS, SLOW_ROW = f"SELECT * {JOINED}", f"SELECT (COUNT(*) AS ?n) {JOINED}"

QUADS = 28
"""So few that a count, which nothing stops, is over after 3 s: until then it takes a core from others."""


def quads(count):
    r = ox.NamedNode("http://x/r")
    return [
        ox.Quad(ox.NamedNode(f"http://x/{i}"), r, ox.NamedNode(f"http://x/{i + 1}")) for i in range(count)
    ]


@pytest.fixture
def store():
    filled = ox.Store()
    filled.extend(quads(QUADS))
    return filled


@pytest.mark.parametrize("text", [SLOW_ROWS, SLOW_ROW])
async def test_a_runaway_query_ends_at_its_deadline(store, text):
    start = time.monotonic()
    with pytest.raises(KGTimeout, match=r"no answer within 0\.2 s"):
        await EmbeddedStore(store, deadline=0.2).query(text)
    assert time.monotonic() - start < 5


async def test_a_runaway_foreign_query_holds_up_nobody_else(store):
    executor = EmbeddedStore(store, deadline=1.0, threads=1)
    runaway = asyncio.create_task(executor.query(SLOW_ROW, foreign=True))
    await asyncio.sleep(0.05)
    assert (await executor.query("ASK { ?s ?p ?o }")).rows
    with pytest.raises(KGTimeout):
        await runaway


async def test_a_cancelled_query_frees_its_thread(store):
    executor = EmbeddedStore(store, deadline=20, threads=1)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(executor.query(SLOW_ROWS), 0.1)
    assert (await asyncio.wait_for(executor.query("ASK { ?s ?p ?o }"), 5)).rows


def test_the_process_ends_while_a_query_runs_away(tmp_path):
    (tmp_path / "g.nt").write_text(
        "".join(f"<http://x/{i}> <http://x/r> <http://x/{i}> .\n" for i in range(300))
    )
    code = (
        "import asyncio, sys\nfrom kgqa.kg.opening import open_graph\nfrom kgqa.kg.errors import KGTimeout\n"
        f"graph = open_graph([{str(tmp_path / 'g.nt')!r}], deadline=0.5)\n"
        f"try: asyncio.run(graph.select({SLOW_ROW!r}))\nexcept KGTimeout: sys.exit(7)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 7


async def test_the_loop_runs_on_during_a_query(store):
    ticks = 0
    query = asyncio.create_task(EmbeddedStore(store, deadline=0.3).query(SLOW_ROW))
    while not query.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert isinstance(query.exception(), KGTimeout)
    assert ticks > 10


async def test_every_query_is_counted_even_one_that_fails(store):
    executor = EmbeddedStore(store, deadline=0.1)
    with metered() as outer:
        await executor.query("ASK { ?s ?p ?o }")
        with metered() as inner:
            with pytest.raises(KGTimeout):
                await executor.query(SLOW_ROW)
            with pytest.raises(KGRejected):
                await executor.query("no query")
    assert (outer.queries, inner.queries) == (3, 2)
    assert outer.seconds >= inner.seconds >= 0.1


async def test_meters_of_concurrent_tasks_stay_apart(store):
    executor = EmbeddedStore(store)

    async def ask(count):
        with metered() as meter:
            for _ in range(count):
                await executor.query("ASK { ?s ?p ?o }")
        return meter.queries

    assert await asyncio.gather(*map(ask, range(5))) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("text", ["DELETE WHERE { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }", "", "\ud800"])
async def test_only_queries_are_answered(store, text):
    with pytest.raises(KGRejected):
        await EmbeddedStore(store).query(text)
    assert len(store) == QUADS


async def test_named_graphs_are_one_graph(tmp_path):
    (tmp_path / "g.nq").write_text(
        "<http://x/a> <http://x/r> <http://x/b> <http://x/g1> .\n"
        "<http://x/b> <http://x/r> <http://x/c> <http://x/g2> ."
    )
    chain = Chain(Entity("http://x/a"), (Hop("http://x/r"), Hop("http://x/r")))
    graph = open_graph([tmp_path / "g.nq"])
    assert [found.term.id for found in await graph.follow_chain(chain)] == ["http://x/c"]
    table = await graph.select("SELECT ?g { GRAPH ?g { <http://x/b> ?p ?o } }")
    assert table.rows == ((Entity("http://x/g2"),),)


async def test_no_operation_blocks_the_loop(make_graph):
    graph = make_graph(':a :r :b ; rdfs:label "Tom Hanks" . :b rdfs:label "Bea" .')
    chain = Chain(Entity("http://x/a"), (Hop("http://x/r"),))
    gc.collect()  # what earlier tests have left is removed here, and not in between
    with blockbuster_ctx():
        await graph.extend_chain(chain)
        await graph.follow_chain(chain)
        await graph.trace_chain(chain, [Entity("http://x/b")])
        await graph.find_entities("tom hnks")
        await graph.link("who is Tom Hanks?")
        await graph.describe("http://x/a")
        await graph.select("SELECT * { ?s ?p ?o }")
        await graph.info()


async def test_many_tasks_at_once(make_graph):
    graph = make_graph(':a :r :b ; rdfs:label "Tom Hanks" . :b rdfs:label "Bea" .')
    chain = Chain(Entity("http://x/a"), (Hop("http://x/r"),))
    pages = await asyncio.gather(*(graph.follow_chain(chain) for _ in range(200)))
    mentions = await asyncio.gather(*(graph.link("who is Tom Hanks?") for _ in range(50)))
    assert len(set(pages)) == 1
    assert len({found[0].text for found in mentions}) == 1


def test_one_graph_serves_several_loops(make_graph):
    graph = make_graph(':a :r "b" .')
    chain = Chain(Entity("http://x/a"), (Hop("http://x/r"),))
    pages = []
    threads = [
        threading.Thread(target=lambda: pages.append(asyncio.run(graph.follow_chain(chain))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [page.items[0].term for page in pages] == [Literal("b")] * 4
