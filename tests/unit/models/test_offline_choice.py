"""Which chains are chosen where some have more ends than a sample shows."""

import pytest

from kgqa.kg.meter import metered
from kgqa.kg.pages import Candidate
from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.models.offline.interpreter import choose_chains
from kgqa.retrieval.candidate_chains import CandidateChain
from kgqa.retrieval.lookups import SAMPLED_NODES, Lookups

HUB, FIRM = Entity("http://t/e/hub", "Hub"), Entity("http://t/e/firm", "Firm")
CITIZEN, WORKS, SEAT = (
    Hop("http://t/r/citizen", False),
    Hop("http://t/r/works", False),
    Hop("http://t/r/seat"),
)
LAST = SAMPLED_NODES + 49


@pytest.fixture
def country(graph):
    people = " ".join(f'e:p{n} r:citizen e:hub ; rdfs:label "P{n}" .' for n in range(LAST + 1))
    return Lookups(
        graph(f'{people} e:p{LAST} r:works e:firm . e:firm r:seat e:town . e:town rdfs:label "T" .')
    )


async def rated(graph: Lookups, *chains: tuple[Chain, float]) -> dict[Entity, list[CandidateChain]]:
    await graph.visit_chains([chain for chain, _ in chains], hops=False)
    found: dict[Entity, list[CandidateChain]] = {}
    for chain, share in chains:
        page = graph.known_ends(chain)
        each = CandidateChain(chain, tuple(page), page.truncated, share=share)
        found.setdefault(chain.topic, []).append(each)
    return found


async def test_chains_meet_at_an_end_that_the_sample_of_a_hub_need_not_show(country) -> None:
    every = await rated(country, (Chain(HUB, (CITIZEN,)), -0.1), (Chain(FIRM, (WORKS,)), -0.1))
    assert every[HUB][0].truncated
    with metered() as meter:
        chosen = await choose_chains(every, QuestionIntent(), country)
    assert meter.queries == 1
    assert [each.ends for each in chosen.chains.values()] == [(Candidate(Entity(f"http://t/e/p{LAST}")),)] * 2


async def test_a_chain_that_does_not_meet_a_hub_s_gives_way_to_one_that_does(country) -> None:
    hub, seat, works = Chain(HUB, (CITIZEN,)), Chain(FIRM, (SEAT,)), Chain(FIRM, (WORKS,))
    every = await rated(country, (hub, -0.1), (seat, -0.1), (works, -0.2))
    chosen = await choose_chains(every, QuestionIntent(), country)
    assert [each.chain for each in chosen.chains.values()] == [hub, works]


async def test_a_chain_that_meets_no_other_and_is_chosen_alone_keeps_its_own_ends(country) -> None:
    every = await rated(country, (Chain(HUB, (CITIZEN,)), -0.1), (Chain(FIRM, (SEAT,)), -9.0))
    for kind, number in (("all", SAMPLED_NODES), ("count", LAST + 1)):
        chosen = await choose_chains(every, QuestionIntent(kind), country)
        assert {topic: len(each.ends) for topic, each in chosen.chains.items()} == {HUB: number}


async def test_all_ends_are_read_where_they_are_counted_or_compared(country) -> None:
    every = await rated(country, (Chain(HUB, (CITIZEN,)), 0.0))
    for kind, number in (("all", SAMPLED_NODES), ("count", LAST + 1), ("largest", LAST + 1)):
        chosen = await choose_chains(every, QuestionIntent(kind), country)
        assert len(chosen.chains[HUB].ends) == number
