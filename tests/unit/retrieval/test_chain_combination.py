"""Which ways go together."""

import math
from dataclasses import replace

from hypothesis import given, strategies as st

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop
from kgqa.retrieval.candidate_chains import CandidateChain
from kgqa.retrieval.chain_ranking import MAX_TOPICS, combine_chains, rank_combinations

ANN, BOB = Entity("http://t/e/ann", "Ann"), Entity("http://t/e/bob", "Bob")


def rated(
    topic: Entity, relation: str, ends: str, share: float, *, truncated: bool = False
) -> CandidateChain:
    """A way to ends of one letter each, with its share."""
    found = tuple(Candidate(Entity(f"http://t/e/{letter}", letter)) for letter in ends)
    chain = Chain(topic, (Hop(f"http://t/r/{relation}"),))
    return CandidateChain(chain, found, truncated, share=math.log(share))


def relations(chosen) -> list[str]:
    return [way.chain.hops[0].words for way in chosen.chains.values()]


def test_of_one_topic_the_likeliest_way_is_chosen_with_its_share() -> None:
    chosen = combine_chains({ANN: [rated(ANN, "p", "x", 0.25), rated(ANN, "q", "y", 0.75)]}, apart=False)
    assert relations(chosen) == ["q"]
    assert math.isclose(chosen.confidence, 0.75)


def test_ways_that_meet_are_chosen_before_likelier_ones_that_do_not() -> None:
    ways = {
        ANN: [rated(ANN, "p", "xy", 0.6), rated(ANN, "q", "z", 0.4)],
        BOB: [rated(BOB, "r", "w", 0.6), rated(BOB, "s", "yv", 0.4)],
    }
    assert relations(combine_chains(ways, apart=False)) == ["p", "s"]
    assert relations(combine_chains(ways, apart=True)) == ["p", "r"]


def test_choices_are_ranked_with_their_shares() -> None:
    ways = {ANN: [rated(ANN, "p", "x", 0.25), rated(ANN, "q", "y", 0.5), rated(ANN, "r", "z", 0.25)]}
    ranked = rank_combinations(ways, apart=False, most=2)
    assert [relations(each) for each in ranked] == [["q"], ["p"]]
    assert [round(each.confidence, 6) for each in ranked] == [0.5, 0.25]
    assert rank_combinations({}, apart=False, most=2) == []


def test_a_topic_that_meets_nothing_plays_no_part() -> None:
    ways = {ANN: [rated(ANN, "p", "x", 1.0)], BOB: [rated(BOB, "r", "y", 0.9)]}
    assert relations(combine_chains(ways, apart=False)) == ["p"]


def test_of_chains_that_do_not_meet_the_one_that_says_most_is_chosen() -> None:
    ways = {
        ANN: [replace(rated(ANN, "p", "x", 1.0), logit=2.0)],
        BOB: [replace(rated(BOB, "r", "y", 0.9), logit=9.0)],
    }
    assert relations(combine_chains(ways, apart=False)) == ["r"]


def onwards(one: CandidateChain, hop: Hop, end: Entity, share: float) -> CandidateChain:
    """A way that goes on from another to one end."""
    chain = Chain(one.chain.topic, (*one.chain.hops, hop))
    return CandidateChain(chain, (Candidate(end),), share=math.log(share))


def test_what_leads_from_one_topic_to_the_other_speaks_for_the_two_that_meet_on_it() -> None:
    plays, club = rated(ANN, "plays", "xy", 0.001), rated(BOB, "club", "x", 0.001)
    back = replace(club, chain=Chain(BOB, (Hop("http://t/r/club", forward=False),)))
    likely = [rated(ANN, "p", "z", 0.5), rated(BOB, "q", "z", 0.5)]
    ways = {ANN: [plays, likely[0]], BOB: [back, likely[1]]}
    assert relations(combine_chains(ways, apart=False)) == ["p", "q"]
    there = onwards(plays, Hop("http://t/r/club"), BOB, 0.999)
    and_back = onwards(back, Hop("http://t/r/plays", forward=False), ANN, 0.999)
    joined = {ANN: [*ways[ANN], there], BOB: [*ways[BOB], and_back]}
    assert relations(combine_chains(joined, apart=False)) == ["plays", "club"]
    elsewhere = replace(there, ends=likely[0].ends)
    assert relations(combine_chains({**joined, ANN: [*ways[ANN], elsewhere]}, apart=False)) == ["p", "q"]


def test_what_the_question_names_is_no_answer_where_there_is_another() -> None:
    named = CandidateChain(Chain(ANN, (Hop("http://t/r/p"),)), (Candidate(BOB),), share=math.log(0.9))
    other, beside = rated(ANN, "q", "x", 0.1), rated(BOB, "r", "x", 0.001)
    assert relations(combine_chains({ANN: [named, other], BOB: [beside]}, apart=False)) == ["q", "r"]
    assert relations(combine_chains({ANN: [named], BOB: [rated(BOB, "r", "y", 0.5)]}, apart=False)) == ["r"]


def test_ends_that_were_cut_may_meet_any() -> None:
    ways = {ANN: [rated(ANN, "p", "x", 1.0)], BOB: [rated(BOB, "r", "y", 0.9, truncated=True)]}
    assert relations(combine_chains(ways, apart=False)) == ["p", "r"]


def test_without_any_way_there_is_no_choice() -> None:
    assert combine_chains({}, apart=False) is None
    assert combine_chains({ANN: [], BOB: []}, apart=False) is None


def test_a_topic_without_a_way_leaves_the_others() -> None:
    assert relations(combine_chains({ANN: [], BOB: [rated(BOB, "r", "y", 1.0)]}, apart=False)) == ["r"]


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=40), st.integers(1, 5))
def test_confidence_is_a_share(shares: list[float], topics: int) -> None:
    names = [Entity(f"http://t/e/{number}", str(number)) for number in range(topics)]
    ways = {
        name: [rated(name, f"p{place}", "x", share) for place, share in enumerate(shares)] for name in names
    }
    chosen = combine_chains(ways, apart=False)
    assert chosen is not None
    assert 0 < chosen.confidence <= 1
    assert chosen.chains


def test_of_many_topics_the_first_are_combined() -> None:
    names = [Entity(f"http://t/e/{number:02}", str(number)) for number in range(MAX_TOPICS + 12)]
    ways = {name: [rated(name, f"p{place}", "x", 0.1) for place in range(10)] for name in names}
    assert list(combine_chains(ways, apart=False).chains) == names[:MAX_TOPICS]


def test_a_comparison_goes_the_same_way_from_each_topic_where_it_can() -> None:
    ways = {
        ANN: [rated(ANN, "p", "x", 0.9), rated(ANN, "q", "y", 0.1)],
        BOB: [rated(BOB, "r", "z", 0.9), rated(BOB, "q", "w", 0.1)],
    }
    assert relations(combine_chains(ways, apart=True)) == ["q", "q"]
