"""How likely hops are to follow, and which ways are found."""

import math

import numpy as np
import pytest

from kgqa.kg.errors import KGTimeout
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.offline.mirrors import Mirrors
from kgqa.models.offline.policy import LEARNED, LEAST, NEAREST, OVER, WORDS, Policy
from kgqa.models.offline.search import EXTENDED, ways
from kgqa.models.offline.ways import Advice
from kgqa.models.offline.wording import Wording
from kgqa.priors.blueprints import Slot
from kgqa.priors.exemplars import Exemplar, Near

P, Q = Hop("http://t/r/p"), Hop("http://t/r/q")
ANN = Entity("http://t/e/ann", "Ann")


def encode(texts):
    """All texts are alike, so that words decide nothing."""
    return np.ones((len(texts), 1), np.float32)


def policy(*nearest: tuple[str, float], hops=()) -> Policy:
    near = [
        Near(Exemplar("?", tuple(map(Slot.parse, chain.split()))), similarity)
        for chain, similarity in nearest
    ]
    return Policy(Advice(near, hops), Wording("who is [ENT]'s p?", encode), Mirrors({}).slot)


def test_by_words_alone_equal_hops_are_equally_likely() -> None:
    assert policy().follow((), (P, Q)).tolist() == [0.5, 0.5]
    assert policy().over((P,)) == OVER


def test_the_nearest_questions_vote_for_the_hop_that_they_go_on_by() -> None:
    shares = policy(("p", 0.5), ("p q", 0.5), ("q", 0.5)).follow((), (P, Q))
    words = WORDS / 2  # the questions are but half alike
    said = (NEAREST * 2 / 3 + words / 2) / (NEAREST + words)
    np.testing.assert_allclose(shares, [said, 1 - said])


def test_only_questions_that_begin_this_way_vote_on_whether_it_is_over() -> None:
    voting = policy(("p", 0.5), ("p q", 0.5), ("q", 0.5))
    words = WORDS / 2
    assert math.isclose(voting.over((P,)), (NEAREST / 2 + words * OVER) / (NEAREST + words))
    assert math.isclose(voting.over((Q,)), (NEAREST + words * OVER) / (NEAREST + words))


def test_a_nearer_question_counts_more() -> None:
    shares = policy(("p", 0.9), ("q", 1.0)).follow((), (P, Q))
    vote, words = 1 / (1 + math.exp(-3)), WORDS * LEAST
    np.testing.assert_allclose(shares[1], (NEAREST * vote + words / 2) / (NEAREST + words))


def test_the_hop_model_counts_among_the_hops_that_are_offered() -> None:
    hops = ({Slot("p"): math.log(0.6), Slot("q"): math.log(0.2), Slot("x"): math.log(0.2)}, {None: 0.0})
    learned = policy(hops=hops)
    said = (LEARNED * 0.75 + WORDS / 2) / (LEARNED + WORDS)
    np.testing.assert_allclose(learned.follow((), (P, Q)), [said, 1 - said])
    assert math.isclose(learned.over((P,)), (LEARNED + WORDS * OVER) / (LEARNED + WORDS))


def test_a_slot_has_the_direction_of_its_hop() -> None:
    shares = policy(("^p", 0.9)).follow((), (P, P.inverse))
    assert shares[1] > shares[0]


@pytest.fixture
def family(graph):
    return graph("""
    e:ann rdfs:label "Ann" ; r:p e:bob ; r:q _:m .
    _:m r:q e:eve . e:eve rdfs:label "Eve" . e:bob rdfs:label "Bob" ; r:p e:eve .
    """)


async def test_ways_lead_to_something_with_a_name(family) -> None:
    found = {way.chain.hops: [str(end.term) for end in way.ends] for way in await ways(ANN, policy(), family)}
    assert found[P,] == ["Bob"]
    assert found[Q, Q] == ["Eve"]
    assert (Q,) not in found


async def test_what_training_questions_say_is_found_first(family) -> None:
    first, *_ = await ways(
        ANN, policy(("q q", 0.9), hops=({Slot("q"): 0.0}, {Slot("q"): 0.0}, {None: 0.0})), family
    )
    assert first.chain == Chain(ANN, (Q, Q))


async def test_a_sure_way_takes_few_queries(family) -> None:
    class Counting:
        extended = 0

        async def extend_chain(self, chain: Chain):
            self.extended += 1
            return await family.extend_chain(chain)

        async def follow_chain(self, chain: Chain):
            return await family.follow_chain(chain)

    unsure, sure = Counting(), Counting()
    await ways(ANN, policy(), unsure)
    hops = ({Slot("p"): 0.0}, {None: 0.0})
    await ways(ANN, policy(("p", 1.0), hops=hops), sure)
    assert sure.extended < unsure.extended <= EXTENDED


async def test_an_entity_that_the_graph_does_not_know_has_no_ways(family) -> None:
    assert await ways(Entity("http://t/e/nobody"), policy(), family) == []


class Failing:
    """A graph in which some chains take too long to follow."""

    def __init__(self, graph, slow) -> None:
        self._graph, self._slow = graph, slow

    async def extend_chain(self, chain: Chain):
        return await self._graph.extend_chain(chain)

    async def follow_chain(self, chain: Chain):
        if self._slow(chain):
            raise KGTimeout("too long")
        return await self._graph.follow_chain(chain)


async def test_a_chain_that_takes_too_long_leads_nowhere(family) -> None:
    found = await ways(ANN, policy(), Failing(family, lambda chain: chain.depth > 1))
    assert [way.chain for way in found] == [Chain(ANN, (P,))]


async def test_where_everything_takes_too_long_that_is_no_empty_result(family) -> None:
    with pytest.raises(KGTimeout):
        await ways(ANN, policy(), Failing(family, lambda chain: True))
