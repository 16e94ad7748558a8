"""What is looked up for one question: chains together, each thing once."""

import pytest

from kgqa.kg.errors import KGTimeout
from kgqa.kg.meter import metered
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.retrieval.lookups import CHAINS_PER_QUERY, SAMPLED_NODES, Lookups

ANN = Entity("http://t/e/ann", "Ann")
P, Q = Hop("http://t/r/p"), Hop("http://t/r/q")


@pytest.fixture
def family(graph):
    return graph("""
    e:ann rdfs:label "Ann" ; r:p e:bob ; r:q _:m .
    _:m r:q e:eve . e:eve rdfs:label "Eve" . e:bob rdfs:label "Bob" ; r:p e:eve .
    """)


async def test_a_chain_is_cut_at_the_nodes_with_names_that_were_looked_up(family) -> None:
    graph = Lookups(family)
    assert graph.moves(Chain(ANN, (Q, Q))) == [(Q,), (Q,)]
    await graph.visit_chains([Chain(ANN, hops) for hops in ((P,), (Q,), (P, P))])
    assert graph.moves(Chain(ANN, (P,))) == [(P,)]
    assert graph.moves(Chain(ANN, (P, P, P))) == [(P,), (P,), (P,)]
    assert graph.moves(Chain(ANN, (Q, Q))) == [(Q, Q)]


async def test_each_thing_is_asked_once(family) -> None:
    graph, chain = Lookups(family), Chain(ANN, (P,))
    with metered() as meter:
        await graph.visit_chains([Chain(ANN, (P,) * depth) for depth in range(CHAINS_PER_QUERY)])
        assert meter.queries == 1
        assert [str(end.term) for end in await graph.follow_chain(chain)] == ["Bob"]
        assert P in (await graph.extend_chain(chain)).items
        assert meter.queries == 1
        first = await graph.follow_relation([(ANN.id, P)])
        assert await graph.follow_relation([(ANN.id, P), (ANN.id, P)]) == first * 2
    assert meter.queries == 2


async def test_a_chain_that_takes_too_long_does_not_hide_the_others(family) -> None:
    class Slow:
        async def visit_chains(self, chains, **what):
            if any(Q in chain.hops for chain in chains):
                raise KGTimeout("too long")
            return await family.visit_chains(chains, **what)

    graph, chains = Lookups(Slow()), [Chain(ANN, hops) for hops in ((P,), (Q,), (P, P))]
    with pytest.raises(KGTimeout):
        await graph.visit_chains(chains)
    assert [graph.known_ends(chain) is not None for chain in chains] == [True, False, True]


async def test_a_sample_is_read_on_where_all_ends_are_wanted(graph) -> None:
    store = graph(" . ".join(f"e:ann r:p e:b{n}" for n in range(SAMPLED_NODES + 1)) + " .")
    lookups, chain = Lookups(store), Chain(ANN, (P,))
    with metered() as meter:
        some = await lookups.follow_chain(chain, whole=False)
        assert (len(some), some.truncated) == (SAMPLED_NODES, True)
        every = await lookups.follow_chain(chain)
        assert (len(every), every.truncated) == (SAMPLED_NODES + 1, False)
        assert await lookups.follow_chain(chain, whole=False) == every
    assert meter.queries == 2
    assert await lookups.reached_ends(chain, [ANN, every.items[0].term]) == {every.items[0].term}


async def test_look_ups_go_on_from_where_they_start(family) -> None:
    start = Chain(ANN, (P,))
    graph = Lookups(family, [start])
    await graph.visit_chains([Chain(ANN), Chain(ANN, (P,))])
    assert [str(end.term) for end in graph.known_ends(Chain(ANN, (P,)))] == ["Eve"]
    assert graph.whole(Chain(ANN, (P,))) == Chain(ANN, (P, P))
    assert P in graph.visited_hops[start] and [*graph.visited_ends] == [start, Chain(ANN, (P, P))]


async def test_what_describes_the_database_leads_on_only_where_nothing_else_does(graph) -> None:
    kind = Hop("http://rdf.freebase.com/ns/type.object.type")
    store = graph(f"e:ann r:p e:bob ; <{kind.relation}> e:person . e:bob <{kind.relation}> e:person .")
    lookups, bob = Lookups(store), Chain(ANN, (P,))
    await lookups.visit_chains([Chain(ANN), bob])
    assert kind not in lookups.known_hops(Chain(ANN)) and P in lookups.known_hops(Chain(ANN))
