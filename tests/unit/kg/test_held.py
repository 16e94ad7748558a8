"""Chains held to entities on their way: the terms, and what a graph makes of them."""

from random import Random

import pytest

from kgqa.kg.sparql import chain_queries, patterns
from kgqa.kg.terms import Chain, Entity, Hop, Literal, NodeConstraint

R = Hop("http://x/r")
TWO_WAYS = ":t :r :a, :b . :a :r :c ; :left :c . :b :r :c, :d ; :right :d ."


def x(name):
    return Entity(f"http://x/{name}")


def hops(*names):
    return tuple(Hop(f"http://x/{name.lstrip('^')}", not name.startswith("^")) for name in names)


def held_at_first(*names):
    return Chain(x("t"), (R,)).constrained_to(map(x, names))


async def ends(graph, chain):
    return [found.term for found in await graph.follow_chain(chain)]


# Terms.


def test_entities_are_sorted_and_each_is_there_once():
    chain = Chain(x("t"), (R, R)).constrained_to([x("c"), x("a"), Entity("http://x/c", "C")])
    assert chain.constraints == (NodeConstraint(2, (x("a"), x("c"))),)


def test_names_do_not_count():
    assert held_at_first("a") == Chain(x("t"), (R,)).constrained_to([Entity("http://x/a", "A")])
    assert hash(held_at_first("a")) == hash(Chain(x("t"), (R,)).constrained_to([Entity("http://x/a", "A")]))


def test_what_a_chain_is_held_to_tells_it_from_others():
    assert len({held_at_first("a"), held_at_first("b"), held_at_first("a", "b"), Chain(x("t"), (R,))}) == 4


def test_holding_replaces_what_the_end_was_held_to_and_nothing_before():
    chain = held_at_first("a").then(R).constrained_to([x("c")]).constrained_to([x("d")])
    assert chain.constraints == (NodeConstraint(1, (x("a"),)), NodeConstraint(2, (x("d"),)))


def test_upto_keeps_what_is_held_there():
    chain = held_at_first("a").then(R).then(R).constrained_to([x("d")])
    assert [chain.upto(depth).constraints for depth in range(4)] == [
        (),
        held_at_first("a").constraints,
        held_at_first("a").constraints,
        chain.constraints,
    ]
    assert [chain.upto(depth).depth for depth in (-1, 0, 1, 2, 3, 4)] == [0, 0, 1, 2, 3, 3]


def test_steps_say_what_each_hop_is_held_to():
    assert held_at_first("a").then(R.inverse).steps == ((R, (x("a"),)), (R.inverse, ()))


@pytest.mark.parametrize(
    "entities", [(), (x("b"), x("a")), (x("a"), Entity("http://x/a", "A"))], ids=["none", "order", "twice"]
)
def test_what_is_not_in_order_is_refused(entities):
    with pytest.raises(ValueError, match="not one entity or more, sorted by id, each once"):
        NodeConstraint(1, entities)


@pytest.mark.parametrize("depths", [(2, 1), (1, 1), (3,)])
def test_depths_that_do_not_fit_are_refused(depths):
    with pytest.raises(ValueError, match="not rising depths of at most 2"):
        Chain(x("t"), (R, R), tuple(NodeConstraint(depth, (x("a"),)) for depth in depths))


def test_a_topic_is_not_held():
    with pytest.raises(ValueError, match="not a depth to hold a chain at"):
        Chain(x("t")).constrained_to([x("t")])


def test_the_text_of_a_chain_names_some_of_the_entities():
    chain = held_at_first("a").then(R).constrained_to(map(x, "abcde"))
    assert str(chain) == (
        "http://x/t -r-> (only http://x/a) -r-> (only http://x/a, http://x/b, http://x/c and 2 others)"
    )


# Queries.


@pytest.mark.parametrize(
    "write",
    [
        lambda chain: chain_queries.visit_chains(
            [chain], (), chain_queries.Limits.of(9), ends=True, hops=True
        ),
        lambda chain: chain_queries.trace_chain(chain, [x("c")], ()),
        lambda chain: chain_queries.trace_back(chain, [x("c")], fresh=True),
        lambda chain: chain_queries.reached_ends(chain, [x("c")]),
    ],
)
def test_a_query_holds_a_node_by_a_clause_wherever_it_visits_it(write):
    free = Chain(x("t"), (R, R))
    held = write(held_at_first("a").then(R))
    assert held.replace(" VALUES ?e1 { <http://x/a> }", "") == write(free)
    assert held != write(free)


async def test_a_chain_held_at_its_end_gives_these_ends_only(make_graph):
    graph = make_graph(TWO_WAYS)
    assert await ends(graph, held_at_first("b")) == [x("b")]
    assert await ends(graph, Chain(x("t"), (R, R)).constrained_to([x("d"), x("a")])) == [x("d")]


async def test_a_node_held_on_the_way_restricts_ends_extensions_and_traces(make_graph):
    graph = make_graph(TWO_WAYS)
    assert await ends(graph, held_at_first("a").then(R)) == [x("c")]
    assert list(await graph.extend_chain(held_at_first("a"))) == list(hops("left", "r", "^r"))
    assert list(await graph.extend_chain(held_at_first("a").then(R))) == list(hops("^left", "^r"))
    to_c, to_d = await graph.trace_chain(held_at_first("b").then(R), [x("c"), x("d")])
    assert to_c[0].tail == to_d[0].tail == x("b")
    assert await graph.trace_chain(held_at_first("a").then(R), [x("d")]) == [()]


@pytest.mark.parametrize("name", ["c", "t", "unknown"])
async def test_what_the_chain_does_not_reach_leads_nowhere(make_graph, name):
    graph, chain = make_graph(TWO_WAYS), held_at_first(name)
    for held in (chain, chain.then(R)):
        assert await ends(graph, held) == []
        assert len(await graph.extend_chain(held)) == 0
        assert await graph.trace_chain(held, [x("c"), x(name)]) == [(), ()]


async def test_a_chain_held_to_a_way_through_the_topic_returns(make_graph):
    graph = make_graph(":t :r :t, :a . :a :r :b . :t :r :b .")
    (free,) = [c for c in await graph.follow_chain(Chain(x("t"), (R, R))) if c.term == x("b")]
    (held,) = [c for c in await graph.follow_chain(held_at_first("t").then(R)) if c.term == x("b")]
    assert (free.returning, held.returning) == (False, True)


async def test_a_chain_is_held_to_a_blank_node(make_graph):
    graph = make_graph(":t :r [ :of :a ; :r :b ], [ :of :c ; :r :d ] .")
    first, second = await ends(graph, Chain(x("t"), (R,)))
    assert {first.id[:2], second.id[:2]} == {"_:"}
    for blank in (first, second):
        held = Chain(x("t"), (R,)).constrained_to([blank])
        assert await ends(graph, held) == [blank]
        (end,) = await ends(graph, held.then(R))
        (path,) = await graph.trace_chain(held.then(R), [end])
        assert (path[0].tail, path[1].head) == (blank, blank)


# Against plain Python: all paths of the chain, without those that it is not held to.


def random_graph(chosen):
    nodes = [":a", ":b", ":c", ":d", "_:e", "_:f"]
    triples = [(chosen.choice(nodes), chosen.choice([":r", ":s"]), chosen.choice([*nodes, "5"]))]
    triples += [(chosen.choice(nodes), chosen.choice([":r", ":s"]), chosen.choice(nodes)) for _ in range(11)]
    return " ".join(f"{head} {relation} {tail} ." for head, relation, tail in triples)


def random_chain(chosen, nodes):
    chain = Chain(chosen.choice(nodes))
    for _ in range(chosen.randint(1, 3)):
        chain = chain.then(chosen.choice(hops("r", "s", "^r", "^s")))
        if chosen.random() < 0.6:
            chain = chain.constrained_to(chosen.sample([*nodes, x("unknown")], chosen.randint(1, 4)))
    return chain


def walks(triples, chain):
    """All paths of nodes along a chain as if it were not held."""
    paths = [(chain.topic,)]
    for hop in chain.hops:
        steps = [(s, o) if hop.forward else (o, s) for s, p, o in triples if p.id == hop.relation]
        paths = [(*path, after) for path in paths for before, after in steps if before == path[-1]]
    return paths


def key(chain):
    """What a trace prefers: no second visit to the topic, then the least ids."""

    def order(path):
        return (chain.topic in path[1:], *(patterns.write_iri(node.id)[1:-1] for node in path[1:-1]))

    return order


@pytest.mark.parametrize("seed", range(25))
async def test_a_held_chain_has_the_paths_through_what_it_is_held_to(make_graph, seed):
    chosen = Random(seed)
    graph = make_graph(random_graph(chosen))
    triples = (await graph.select("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")).rows
    nodes = sorted({term for s, _, o in triples for term in (s, o) if isinstance(term, Entity)})
    terms = {term for s, _, o in triples for term in (s, o)}
    for _ in range(20):
        chain = random_chain(chosen, nodes)
        paths = [
            p for p in walks(triples, chain) if all(p[at.depth] in at.entities for at in chain.constraints)
        ]
        last = {path[-1] for path in paths}
        found = {c.term: c.returning for c in await graph.follow_chain(chain)}
        assert found == {
            end: all(chain.topic in path[1:] for path in paths if path[-1] == end) for end in last
        }
        leading = {Hop(p.id) for s, p, _ in triples if s in last}
        leading |= {Hop(p.id, False) for _, p, o in triples if o in last and not isinstance(o, Literal)}
        assert set(await graph.extend_chain(chain)) == leading
        wanted = sorted(terms, key=str)
        for end, path in zip(wanted, await graph.trace_chain(chain, wanted), strict=True):
            best = min((p for p in paths if p[-1] == end), key=key(chain), default=())
            assert _nodes(chain, path) == best


def _nodes(chain, path):
    if not path:
        return ()
    ends = [step.tail if hop.forward else step.head for hop, step in zip(chain.hops, path, strict=True)]
    return (chain.topic, *ends)
