"""What the limits of a hop leave out is said, and what is there is right: random graphs, small limits."""

from random import Random

import pytest

from kgqa.kg.meter import metered
from kgqa.kg.sparql import chain_queries
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.tests.unit.kg.test_held import _nodes, random_chain, random_graph, walks
from kgqa.tests.unit.kg.test_sparql import all_queries

HUB = " ".join(f":hub :r :end{i} . :end{i} :s :x ." for i in range(30)) + " :end29 :t :y ."
LIMITS = ("MAX_NODES_BETWEEN", "MAX_ENDS_SCANNED", "MAX_TRIPLES_SCANNED", "MAX_LOOKUPS")


def x(name):
    return Entity(f"http://x/{name}")


def limit_all(monkeypatch, most):
    for name in LIMITS:
        monkeypatch.setattr(chain_queries, name, most)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
async def test_what_is_shown_is_right_and_what_is_not_is_said(make_graph, monkeypatch, seed, most):
    chosen = Random(seed)
    graph = make_graph(random_graph(chosen))
    triples = (await graph.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")).rows
    nodes = sorted({term for s, _, o in triples for term in (s, o) if isinstance(term, Entity)})
    chains = [random_chain(chosen, nodes) for _ in range(20)]
    whole = await graph.visit_chains(chains)
    pages = await graph.list_relations([node.id for node in nodes])
    terms = sorted({term for s, _, o in triples for term in (s, o)}, key=str)
    reached = [await graph.reached_ends(chain, terms) for chain in chains]
    limit_all(monkeypatch, most)
    for chain, all_of, some, ends in zip(
        chains, whole, await graph.visit_chains(chains), reached, strict=True
    ):
        assert some.ends.truncated or some.ends == all_of.ends
        assert some.hops.truncated or some.hops == all_of.hops
        assert set(some.hops) <= set(all_of.hops)
        returning = {found.term: found.returning for found in all_of.ends}
        for found in some.ends:
            assert isinstance(found.term, Literal) or found.returning == returning[found.term]
        assert await graph.reached_ends(chain, terms) == ends
        paths = walks(triples, chain)
        for end, path in zip(terms, await graph.trace_chain(chain, terms), strict=True):
            assert bool(path) == (end in ends)
            assert not path or _nodes(chain, path) in paths
    for id, page in (await graph.list_relations([node.id for node in nodes])).items():
        assert set(page) <= set(pages[id])
        assert page.truncated or page == pages[id]


async def test_relations_of_a_hub_are_looked_up_where_its_triples_are_too_many(make_graph, monkeypatch):
    graph = make_graph(HUB + " :from :u :hub .")
    monkeypatch.setattr(chain_queries, "MAX_TRIPLES_SCANNED", 5)
    page = (await graph.list_relations(["http://x/hub"]))["http://x/hub"]
    assert (set(page), page.truncated) == ({Hop("http://x/r"), Hop("http://x/u", False)}, False)


@pytest.mark.parametrize("seed", range(3))
async def test_of_few_relations_none_is_lost_where_they_are_looked_up(make_graph, monkeypatch, seed):
    chosen = Random(seed)
    facts = random_graph(chosen)
    graph = make_graph(facts)
    rows = (await graph.select("SELECT DISTINCT ?node WHERE { { ?node ?p ?o } UNION { ?s ?p ?node } }")).rows
    nodes = sorted(node for (node,) in rows if isinstance(node, Entity))
    chains = [random_chain(chosen, nodes) for _ in range(20)]
    with metered() as before:
        whole = await graph.visit_chains(chains)
    monkeypatch.setattr(chain_queries, "MAX_TRIPLES_BEFORE_LOOKUPS", 1)
    with metered() as after:
        assert await make_graph(facts).visit_chains(chains) == whole
    assert after.queries > before.queries


@pytest.mark.parametrize("limit", ["MAX_ENDS_SCANNED", "MAX_TRIPLES_SCANNED"])
async def test_relations_beyond_what_is_read_are_said_to_lack(make_graph, monkeypatch, limit):
    graph = make_graph(HUB)
    monkeypatch.setattr(chain_queries, limit, 4)
    monkeypatch.setattr(chain_queries, "MAX_LOOKUPS", 4)
    page = await graph.extend_chain(Chain(x("hub"), (Hop("http://x/r"),)))
    assert page.truncated
    assert set(page) <= {Hop("http://x/r", False), Hop("http://x/s"), Hop("http://x/t")}


async def test_a_page_holds_what_the_limit_of_nodes_between_lets_through(make_graph, monkeypatch):
    graph = make_graph(HUB)
    monkeypatch.setattr(chain_queries, "MAX_NODES_BETWEEN", 4)
    back = Chain(x("hub"), (Hop("http://x/r"), Hop("http://x/r", False), Hop("http://x/r")))
    found = await graph.follow_chain(back)
    assert len(found) == 30
    assert found.truncated
    other = await graph.follow_chain(Chain(x("hub"), (Hop("http://x/r"), Hop("http://x/s"))))
    assert [end.term.id for end in other] == ["http://x/x"]
    assert other.truncated


async def test_an_end_beyond_the_limit_is_reached_and_has_its_path(make_graph, monkeypatch):
    graph = make_graph(HUB)
    limit_all(monkeypatch, 3)
    chain = Chain(x("hub"), (Hop("http://x/r"), Hop("http://x/t")))
    assert await graph.reached_ends(chain, [x("y"), x("x")]) == {x("y")}
    ((first, second),) = await graph.trace_chain(chain, [x("y")])
    assert (first.tail, second.head, second.tail) == (x("end29"), x("end29"), x("y"))


async def test_an_end_whose_other_way_is_beyond_the_limit_does_not_return(make_graph, monkeypatch):
    orders = [(f":t{i}", f":m{i}")[:: 1 if i % 2 else -1] for i in range(10)]
    ways = " ".join(
        f":t{i} :r {one}, {other} ; :s :e{i} . :m{i} :s :e{i} ." for i, (one, other) in enumerate(orders)
    )
    graph = make_graph(ways)
    monkeypatch.setattr(chain_queries, "MAX_NODES_BETWEEN", 1)
    chains = [Chain(x(f"t{i}"), (Hop("http://x/r"), Hop("http://x/s"))) for i in range(10)]
    for i, visit in enumerate(await graph.visit_chains(chains, hops=False)):
        assert visit.ends.truncated
        assert [(end.term, end.returning) for end in visit.ends] == [(x(f"e{i}"), False)]


def test_no_query_sorts():
    topic, held = x("t"), Chain(x("t"), (Hop("http://x/r"), Hop("http://x/s", False)))
    written = all_queries(topic, Literal("a"))
    written += [chain_queries.trace_back(held, [topic], fresh=True)]
    written += [chain_queries.visit_chains([held], [], chain_queries.Limits.of(9), ends=True, hops=True)]
    assert not [query for query in written if "ORDER BY" in query]


@pytest.mark.parametrize("most", [1, 2, 3])
async def test_a_sample_goes_through_so_many_nodes_and_says_what_it_lacks(make_graph, most):
    chosen = Random(most)
    graph = make_graph(random_graph(chosen))
    triples = (await graph.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")).rows
    nodes = sorted({term for s, _, o in triples for term in (s, o) if isinstance(term, Entity)})
    chains = [random_chain(chosen, nodes) for _ in range(20)]
    whole, some = await graph.visit_chains(chains), await graph.visit_chains(chains, sample=most)
    for all_of, sampled in zip(whole, some, strict=True):
        assert len(sampled.ends) <= most
        assert {end.term for end in sampled.ends} <= {end.term for end in all_of.ends}
        assert sampled.ends.truncated or sampled.ends == all_of.ends
        assert set(sampled.hops) <= set(all_of.hops)
        assert sampled.hops.truncated or sampled.hops == all_of.hops


async def test_relations_of_several_hubs_are_looked_up_by_one_query(make_graph, monkeypatch):
    graph = make_graph(HUB + " :from :u :hub . :z :v :x .")
    monkeypatch.setattr(chain_queries, "MAX_TRIPLES_SCANNED", 3)
    with metered() as meter:
        visits = await graph.visit_chains([Chain(x("hub")), Chain(x("x"))], ends=False)
    assert meter.queries == 2
    hops = [{(hop.relation, hop.forward) for hop in visit.hops} for visit in visits]
    assert hops[0] == {("http://x/r", True), ("http://x/u", False)}
    assert hops[1] == {("http://x/s", False), ("http://x/v", False)}
    assert not any(visit.hops.truncated for visit in visits)


async def test_a_sample_looks_up_the_relations_of_topics_alone(make_graph, monkeypatch):
    graph = make_graph(HUB + " :z :v :x .")
    monkeypatch.setattr(chain_queries, "TRIPLES_PER_NODE", 1)
    far = Chain(x("end0"), (Hop("http://x/s"),))
    with metered() as meter:
        visits = await graph.visit_chains([far, Chain(x("x"))], sample=2)
    assert meter.queries == 2
    assert visits[0].hops.truncated
    assert set(visits[1].hops) == {Hop("http://x/s", False), Hop("http://x/v", False)}


async def test_a_sample_that_comes_back_to_its_topic_says_what_it_has_left_out(make_graph):
    """A node that is reached both by way of the topic and without counts twice among those of a sample."""
    for seed in range(12):
        chance = Random(seed)
        facts = {(chance.randrange(8), chance.randrange(8)) for _ in range(24)} | {(0, 0), (0, 1)}
        graph = make_graph(" ".join(f":n{start} :r :n{end} ." for start, end in sorted(facts)))
        chain = Chain(Entity("http://x/n0"), (Hop("http://x/r"),) * 3)
        (whole,) = await graph.visit_chains([chain], hops=False)
        (sampled,) = await graph.visit_chains([chain], hops=False, sample=9)
        assert sampled.ends.truncated or {*sampled.ends} == {*whole.ends}, seed
