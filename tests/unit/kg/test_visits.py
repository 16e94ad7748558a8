"""visit_chains: what follow_chain and extend_chain give, of several chains by one query."""

from random import Random

import pytest

from kgqa.kg.errors import KGUnavailable
from kgqa.kg.meter import QueryBudgetExhausted, QueryMemo, metered
from kgqa.kg.pages import Candidate, ChainResult, Page
from kgqa.kg.terms import Chain, Entity, Hop

NOTHING = ChainResult(Page(()), Page(()))

FILMS = """
:f1 :stars :ann, :bob ; rdfs:label "F1"@en .
:f2 :stars :ann, :cy ; rdfs:label "F2"@en .
:ann rdfs:label "Ann"@en ; rdfs:label "Anna"@de . :bob rdfs:label "Bob"@en .
"""


def x(name):
    return Entity(f"http://x/{name}")


def chain(topic, *hops):
    return Chain(x(topic), tuple(Hop(f"http://x/{hop.lstrip('^')}", not hop.startswith("^")) for hop in hops))


async def one_by_one(graph, each):
    return ChainResult(await graph.follow_chain(each), await graph.extend_chain(each))


async def test_a_visit_is_one_query(make_graph):
    graph = make_graph(FILMS)
    chains = [chain("f1", "stars"), chain("ann", "^stars", "stars"), chain("f2")]
    with metered() as meter:
        visits = await graph.visit_chains(chains)
    assert meter.queries == 1
    assert visits == [await one_by_one(graph, each) for each in chains]


async def test_what_was_visited_is_not_asked_of_a_store_again_and_counts_again(make_graph, monkeypatch):
    graph = make_graph(FILMS)
    first = await graph.visit_chains([chain("f1", "stars"), chain("f2")])
    monkeypatch.setattr("kgqa.kg.store.embedded.run_query", None)
    with metered(1) as meter:
        assert await graph.visit_chains([chain("f1", "stars"), chain("f2")]) == first
        with pytest.raises(QueryBudgetExhausted):
            await graph.visit_chains([chain("f1", "stars"), chain("f2")])
    assert meter.queries == 1
    with pytest.raises(KGUnavailable):
        await graph.visit_chains([chain("f1", "stars")])


async def test_a_failed_visit_is_made_again(make_graph, monkeypatch):
    graph = make_graph(FILMS)
    with monkeypatch.context() as broken, pytest.raises(KGUnavailable):
        broken.setattr("kgqa.kg.store.embedded.run_query", None)
        await graph.visit_chains([chain("f2")])
    assert await graph.visit_chains([chain("f2")]) == await make_graph(FILMS).visit_chains([chain("f2")])


async def test_no_more_is_remembered_than_so_much():
    memo, asked = QueryMemo[list[int]](10, len), []

    async def find(size):
        asked.append(size)
        return [0] * size

    for size in (11, 11, 4, 4, 5, 4, 3, 4, 5):  # the 3 takes the place of the 5, which was not used since
        assert len(await memo.recall(size, lambda size=size: find(size))) == size
    assert asked == [11, 11, 4, 5, 3, 5]


async def test_a_chain_without_hops_gives_its_topic_by_name(make_graph):
    (visit,) = await make_graph(FILMS).visit_chains([chain("ann")])
    assert [(end.term.name, end.returning) for end in visit.ends] == [("Ann", False)]
    assert [str(hop) for hop in visit.hops] == ["<-stars-"]


async def test_a_topic_that_the_graph_does_not_know_is_not_there(make_graph):
    graph = make_graph(FILMS)
    assert await graph.visit_chains([chain("nobody"), chain("nobody", "stars")]) == [NOTHING, NOTHING]


async def test_what_is_not_asked_for_is_empty(make_graph):
    graph = make_graph(FILMS)
    both = await graph.visit_chains([chain("f1", "stars"), chain("f1")])
    only_ends = await graph.visit_chains([chain("f1", "stars"), chain("f1")], hops=False)
    only_hops = await graph.visit_chains([chain("f1", "stars"), chain("f1")], ends=False)
    assert only_ends == [ChainResult(each.ends, Page(())) for each in both]
    assert only_hops == [ChainResult(Page(()), each.hops) for each in both]


@pytest.mark.parametrize(("chains", "asked"), [((), True), ((chain("f1"),), False)])
async def test_nothing_asked_is_no_query(make_graph, chains, asked):
    graph = make_graph(FILMS)
    with metered() as meter:
        assert await graph.visit_chains(chains, ends=asked, hops=asked) == [NOTHING for _ in chains]
    assert meter.queries == 0


async def test_a_chain_that_is_named_twice_is_visited_once_and_given_twice(make_graph):
    graph = make_graph(FILMS)
    first, second = await graph.visit_chains([chain("f1", "stars"), chain("f1", "stars")])
    assert first == second == await one_by_one(graph, chain("f1", "stars"))


async def test_the_row_limit_cuts_each_chain_for_itself(make_graph):
    graph = make_graph(":a :r :b, :c, :d ; :q :b . :e :r :b .", rows=2)
    chains = [chain("a", "r"), chain("e", "r"), chain("a")]
    visits = await graph.visit_chains(chains)
    assert [(len(each.ends), each.ends.truncated) for each in visits] == [(2, True), (1, False), (1, False)]
    assert visits == [await one_by_one(graph, each) for each in chains]


async def test_ends_that_come_back_to_the_topic_are_marked(make_graph):
    (visit,) = await make_graph(":a :r :b . :b :r :a, :c .").visit_chains([chain("a", "r", "r")])
    assert list(visit.ends) == [Candidate(x("a"), returning=True), Candidate(x("c"))]


def random_graph(chosen):
    nodes, languages = [":a", ":b", ":c", ":d", "_:e", '"5"'], ["en", "de"]
    facts = [
        (chosen.choice(nodes[:-1]), chosen.choice([":r", ":s"]), chosen.choice(nodes)) for _ in range(12)
    ]
    names = [
        (node, "rdfs:label", f'"{chosen.choice("XYZ")}"@{chosen.choice(languages)}') for node in nodes[:3]
    ]
    return " ".join(f"{head} {relation} {tail} ." for head, relation, tail in [*facts, *names])


def random_chain(chosen):
    drawn = Chain(chosen.choice([*map(x, "abcd")]))
    for _ in range(chosen.randint(0, 3)):
        drawn = drawn.then(Hop(f"http://x/{chosen.choice('rs')}", chosen.random() < 0.5))
        if chosen.random() < 0.3:
            drawn = drawn.constrained_to(chosen.sample([*map(x, "abcd")], chosen.randint(1, 3)))
    return drawn


@pytest.mark.parametrize("seed", range(20))
async def test_several_chains_are_visited_as_one_by_one(make_graph, seed):
    chosen = Random(seed)
    graph = make_graph(random_graph(chosen), rows=chosen.choice([2, 3, 1_000]))
    known = {name for name in "abcd" if await graph.find_entities(x(name).id)}
    for _ in range(10):
        chains = [random_chain(chosen) for _ in range(chosen.randint(1, 4))]
        chains = [each for each in chains if each.hops or each.topic.id[-1] in known]
        visits = await graph.visit_chains(chains)
        assert visits == [await one_by_one(graph, each) for each in chains]
        names = [[end.term.name for end in visit.ends] for visit in visits]
        assert names == [[end.term.name for end in await graph.follow_chain(each)] for each in chains]
