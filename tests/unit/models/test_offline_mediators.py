"""Nodes between a topic and its ends, with names and without."""

from dataclasses import replace

import pytest

from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.offline.candidate_chains import CandidateChain, MediatorDetector

ANN = Entity("http://t/e/ann", "Ann")
P, Q = Hop("http://t/r/p"), Hop("http://t/r/q")


def way(*hops: Hop) -> CandidateChain:
    return CandidateChain(Chain(ANN, hops), (), False)


@pytest.fixture
def family(graph):
    return graph("""
    e:ann rdfs:label "Ann" ; r:p e:bob ; r:q _:m .
    _:m r:q e:eve . e:eve rdfs:label "Eve" . e:bob rdfs:label "Bob" ; r:p e:eve .
    """)


async def test_nodes_with_names_are_counted_apart_from_both_ends(family) -> None:
    ways = [way(P), way(P, P), way(Q, Q), way(P, P, P)]
    assert [each.named_between for each in await MediatorDetector(family).count_named(ways)] == [0, 1, 0, 2]


async def test_a_hop_is_looked_at_once(family) -> None:
    class Counting:
        followed = 0

        async def follow_chain(self, chain: Chain):
            self.followed += 1
            return await family.follow_chain(chain)

    counting = Counting()
    between = MediatorDetector(counting)
    first = await between.count_named([way(P, P), way(P, Q), way(Q, Q)])
    assert counting.followed == 2
    assert await between.count_named([replace(each, named_between=0) for each in first]) == first
    assert counting.followed == 2
