"""Relations that are each other's reverse."""

import math

import pytest

from kgqa.kg.pages import Candidate, Page
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.priors.exemplars import NearExemplar
from kgqa.priors.hop_model import Exemplar
from kgqa.priors.slots import Slot
from kgqa.retrieval.candidate_chains import (
    CandidateChain,
    InverseRelations,
    TrainingAdvice,
    find_inverse_relations,
)

ANN = Entity("http://t/e/ann", "Ann")
WROTE, BY, ABOUT = Hop("http://t/r/wrote"), Hop("http://t/r/by"), Hop("http://t/r/about")
MIRRORS = InverseRelations({WROTE.relation: BY.relation, BY.relation: WROTE.relation})


def way(*hops: Hop, ends: tuple[Candidate, ...]) -> CandidateChain:
    return CandidateChain(Chain(ANN, hops), ends, False)


def end(name: str, returning: bool = False) -> Candidate:
    return Candidate(Entity(f"http://t/e/{name}", name), returning)


def same(mirrors: InverseRelations, one: Hop, other: Hop) -> bool:
    return mirrors.slot(one) == mirrors.slot(other)


@pytest.fixture
def books(graph):
    return graph("""
    e:ann r:wrote e:one, e:two ; r:knows e:bob . e:one r:by e:ann . e:two r:by e:ann .
    e:bob r:knows e:ann ; r:wrote e:three . e:three r:about e:bob .
    """)


async def test_relations_that_state_the_same_facts_both_ways_are_mirrored(books) -> None:
    found = await find_inverse_relations(books)
    assert same(found, WROTE, BY.inverse)
    assert same(found, WROTE.inverse, BY)
    assert not same(found, WROTE, BY)


async def test_one_fact_in_common_is_no_sign_and_a_symmetric_relation_no_mirror(books) -> None:
    found = await find_inverse_relations(books)
    knows = Hop("http://t/r/knows")
    assert not same(found, ABOUT, WROTE.inverse)
    assert not same(found, knows, knows.inverse)


async def test_a_relation_is_mirrored_by_the_one_that_it_has_most_facts_in_common_with(graph) -> None:
    found = await find_inverse_relations(
        graph("""
        e:ann r:wrote e:one, e:two, e:x . e:one r:by e:ann ; r:about e:ann .
        e:two r:by e:ann ; r:about e:ann . e:x r:by e:ann .
        """)
    )
    assert same(found, WROTE, BY.inverse)
    assert not same(found, WROTE, ABOUT.inverse)


def test_what_advice_says_of_two_that_are_one_adds_up() -> None:
    hops = ({Slot("wrote"): math.log(0.5), Slot("by", False): math.log(0.3), None: math.log(0.2)},)
    near = NearExemplar(Exemplar("?", (Slot("wrote"), Slot("about"))), 0.9)
    advice = MIRRORS.normalise_advice(TrainingAdvice([near], hops))
    usual = MIRRORS.slot(WROTE)
    assert {slot: round(math.exp(log), 6) for slot, log in advice.hops[0].items()} == {usual: 0.8, None: 0.2}
    assert advice.nearest[0].exemplar.chain == (usual, Slot("about"))


def test_ways_that_are_the_same_but_for_mirrors_become_one() -> None:
    one = way(WROTE, ends=(end("one"),))
    two = way(BY.inverse, ends=(end("one"), end("two")))
    other = way(ABOUT.inverse, ends=(end("two"),))
    merged, kept = MIRRORS.merge_chains([one, other, two], ())
    assert (merged.chain, merged.also) == (two.chain, (one.chain,))
    assert {str(each.term) for each in merged.ends} == {"one", "two"}
    assert kept == other


def test_the_chain_is_the_one_of_training_unless_another_leads_to_all_that_it_does() -> None:
    hops = ({Slot("wrote"): math.log(0.9)},)
    few = way(WROTE, ends=(end("one"),))
    more = way(BY.inverse, ends=(end("one"), end("two")))
    others = way(BY.inverse, ends=(end("two"), end("three")))
    assert MIRRORS.merge_chains([more, few], hops)[0].chain == more.chain
    assert MIRRORS.merge_chains([others, few], hops)[0].chain == few.chain


def test_a_chain_can_be_told_as_training_questions_have_it() -> None:
    hops = ({Slot("wrote"): math.log(0.9)},)
    few = way(WROTE, ends=(end("one"),))
    more = way(BY.inverse, ends=(end("one"), end("two")))
    visited = {each.chain: Page(each.ends) for each in (few, more)}
    taught = MIRRORS.merge_chains([more, few], hops)[0].as_taught(visited)
    assert (taught.chain, taught.also, taught.ends) == (few.chain, (more.chain,), few.ends)
    assert taught.beside == (end("two"),)
    untaught = MIRRORS.merge_chains([more, few], ())[0]
    assert untaught.as_taught(visited) == untaught
