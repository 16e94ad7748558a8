"""How likely hops are to follow, and which ways are found."""

import math

import numpy as np
import pytest

from kgqa.kg.errors import KGTimeout
from kgqa.kg.meter import metered
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.priors.exemplars import NearExemplar
from kgqa.priors.hop_model import Exemplar
from kgqa.priors.slots import Slot
from kgqa.retrieval.candidate_chains import InverseRelations, TrainingAdvice
from kgqa.retrieval.chain_search import (
    HOP_MODEL_WEIGHT,
    MAX_ROUNDS,
    MIN_WORDING_FACTOR,
    NEAREST_WEIGHT,
    STOP_PROBABILITY,
    WORDING_WEIGHT,
    HopPolicy,
    search_chains,
)
from kgqa.retrieval.lookups import Lookups
from kgqa.retrieval.wording import QuestionWording

P, Q = Hop("http://t/r/p"), Hop("http://t/r/q")
ANN = Entity("http://t/e/ann", "Ann")


def encode(texts):
    """All texts are alike, so that words decide nothing."""
    return np.ones((len(texts), 1), np.float32)


def policy(*nearest: tuple[str, float], hops=()) -> HopPolicy:
    near = [
        NearExemplar(Exemplar("?", tuple(map(Slot.parse, chain.split()))), similarity)
        for chain, similarity in nearest
    ]
    return HopPolicy(
        TrainingAdvice(near, hops), QuestionWording("who is [ENT]'s p?", encode), InverseRelations({}).slot
    )


def test_by_words_alone_equal_hops_are_equally_likely() -> None:
    assert policy().hop_probabilities([((), (P, Q))])[0].tolist() == [0.5, 0.5]
    assert policy().stop_probability((P,)) == STOP_PROBABILITY


def test_the_nearest_questions_vote_for_the_hop_that_they_go_on_by() -> None:
    shares = policy(("p", 0.5), ("p q", 0.5), ("q", 0.5)).hop_probabilities([((), (P, Q))])[0]
    words = WORDING_WEIGHT / 2  # the questions are but half alike
    said = (NEAREST_WEIGHT * 2 / 3 + words / 2) / (NEAREST_WEIGHT + words)
    np.testing.assert_allclose(shares, [said, 1 - said])


def test_only_questions_that_begin_this_way_vote_on_whether_it_is_over() -> None:
    voting = policy(("p", 0.5), ("p q", 0.5), ("q", 0.5))
    words = WORDING_WEIGHT / 2
    assert math.isclose(
        voting.stop_probability((P,)),
        (NEAREST_WEIGHT / 2 + words * STOP_PROBABILITY) / (NEAREST_WEIGHT + words),
    )
    assert math.isclose(
        voting.stop_probability((Q,)), (NEAREST_WEIGHT + words * STOP_PROBABILITY) / (NEAREST_WEIGHT + words)
    )


def test_a_nearer_question_counts_more() -> None:
    shares = policy(("p", 0.9), ("q", 1.0)).hop_probabilities([((), (P, Q))])[0]
    vote, words = 1 / (1 + math.exp(-3)), WORDING_WEIGHT * MIN_WORDING_FACTOR
    np.testing.assert_allclose(shares[1], (NEAREST_WEIGHT * vote + words / 2) / (NEAREST_WEIGHT + words))


def test_the_hop_model_counts_among_the_hops_that_are_offered() -> None:
    hops = ({Slot("p"): math.log(0.6), Slot("q"): math.log(0.2), Slot("x"): math.log(0.2)}, {None: 0.0})
    learned = policy(hops=hops)
    said = (HOP_MODEL_WEIGHT * 0.75 + WORDING_WEIGHT / 2) / (HOP_MODEL_WEIGHT + WORDING_WEIGHT)
    np.testing.assert_allclose(learned.hop_probabilities([((), (P, Q))])[0], [said, 1 - said])
    assert math.isclose(
        learned.stop_probability((P,)),
        (HOP_MODEL_WEIGHT + WORDING_WEIGHT * STOP_PROBABILITY) / (HOP_MODEL_WEIGHT + WORDING_WEIGHT),
    )


def test_a_slot_has_the_direction_of_its_hop() -> None:
    shares = policy(("^p", 0.9)).hop_probabilities([((), (P, P.inverse))])[0]
    assert shares[1] > shares[0]


@pytest.fixture
def family(graph):
    return graph("""
    e:ann rdfs:label "Ann" ; r:p e:bob ; r:q _:m .
    _:m r:q e:eve . e:eve rdfs:label "Eve" . e:bob rdfs:label "Bob" ; r:p e:eve .
    """)


async def search(graph, known: HopPolicy, topic: Entity = ANN):
    return (await search_chains({topic: known}, Lookups(graph)))[topic]


async def test_ways_lead_to_something_with_a_name(family) -> None:
    found = {way.chain.hops: [str(end.term) for end in way.ends] for way in await search(family, policy())}
    assert found[P,] == ["Bob"]
    assert found[Q, Q] == ["Eve"]
    assert (Q,) not in found


async def test_what_training_questions_say_is_found_first(family) -> None:
    hops = ({Slot("q"): 0.0}, {Slot("q"): 0.0}, {None: 0.0})
    first, *_ = await search(family, policy(("q q", 0.9), hops=hops))
    assert first.chain == Chain(ANN, (Q, Q))


class Counting:
    """A graph that tells which chains each query was about."""

    def __init__(self, graph, slow=lambda chain: False) -> None:
        self._graph, self._slow = graph, slow
        self.asked: list[list[Chain]] = []

    async def visit_chains(self, chains, *, ends: bool, hops: bool, sample: int):
        self.asked.append(list(chains))
        if ends and any(map(self._slow, chains)):
            raise KGTimeout("too long")
        return await self._graph.visit_chains(chains, ends=ends, hops=hops, sample=sample)


async def test_a_sure_way_takes_few_queries(family) -> None:
    unsure, sure = Counting(family), Counting(family)
    await search(unsure, policy())
    await search(sure, policy(("p", 1.0), hops=({Slot("p"): 0.0}, {None: 0.0})))
    assert len(sure.asked) < len(unsure.asked) <= 1 + MAX_ROUNDS


async def test_topics_share_a_query(family) -> None:
    counting, eve = Counting(family), Entity("http://t/e/eve", "Eve")
    found = await search_chains({ANN: policy(), eve: policy()}, Lookups(counting))
    assert all(found.values())
    assert len(counting.asked) <= 1 + MAX_ROUNDS
    assert all(len({chain.topic for chain in chains}) == 2 for chains in counting.asked[:3])


async def test_where_no_query_is_left_what_was_found_is_taken(family) -> None:
    with metered(2) as meter:
        found = await search(family, policy())
    assert meter.queries == 2
    assert [way.chain for way in found] == [Chain(ANN, (P,))]


async def test_an_entity_that_the_graph_does_not_know_has_no_ways(family) -> None:
    assert await search(family, policy(), Entity("http://t/e/nobody")) == []


async def test_a_chain_that_takes_too_long_leads_nowhere(family) -> None:
    found = await search(Counting(family, lambda chain: chain.depth > 1), policy())
    assert [way.chain for way in found] == [Chain(ANN, (P,))]


async def test_where_everything_takes_too_long_that_is_no_empty_result(family) -> None:
    with pytest.raises(KGTimeout):
        await search(Counting(family, lambda chain: True), policy())
