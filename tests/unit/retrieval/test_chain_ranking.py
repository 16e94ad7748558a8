"""What speaks for a way."""

import math

import numpy as np
import pytest

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, Entity, Hop, Literal
from kgqa.models.offline import PARTS
from kgqa.priors.exemplars import NearExemplar
from kgqa.priors.hop_model import Exemplar
from kgqa.priors.slots import Slot
from kgqa.retrieval.candidate_chains import (
    MIN_LOG_LIKELIHOOD,
    QUESTION_VOTE_SHARPNESS,
    CandidateChain,
    InverseRelations,
    TrainingAdvice,
)
from kgqa.retrieval.chain_ranking import FEATURES, MIN_VOTE, chain_features, score_chains

ANN = Entity("http://t/e/ann", "Ann")
P, Q = Hop("http://t/r/p"), Hop("http://t/r/q")
WORDS = {"p": (1, 0), "q": (0, 1), "who is [ENT]'s p?": (0.8, 0.6)}
QUESTION = "who is [ENT]'s p?"
NOTHING = TrainingAdvice((), ())


def encode(texts):
    return np.array([WORDS.get(text, (0, 0)) for text in texts], np.float32)


def way(*hops: Hop, ends: tuple[Candidate, ...] = (Candidate(ANN),), named: int = 0) -> CandidateChain:
    return CandidateChain(Chain(ANN, hops), ends, False, (), named)


def table(
    *ways: CandidateChain,
    advice: TrainingAdvice = NOTHING,
    question: str = QUESTION,
    mirrors: InverseRelations | None = None,
):
    """Return the features of each way by their names."""
    rows = chain_features(
        question, ways, advice, np.zeros(len(ways)), encode, mirrors or InverseRelations({})
    )
    return [dict(zip(FEATURES, row, strict=True)) for row in rows]


def scores(ways, advice: TrainingAdvice, said, without: frozenset[str] = frozenset()):
    return score_chains(QUESTION, ways, advice, said, encode, without, InverseRelations({}))


def test_every_feature_belongs_to_a_part_that_can_be_left_out() -> None:
    assert {feature.part for feature in FEATURES.values()} <= PARTS.keys()


def test_the_hop_model_counts_each_hop_and_the_end_of_the_chain() -> None:
    hops = ({Slot("p"): math.log(0.5)}, {Slot("q"): math.log(0.2), None: math.log(0.8)}, {None: 0.0})
    one, two, unseen = table(way(P), way(P, Q), way(Q), advice=TrainingAdvice((), hops))
    assert math.isclose(one["learned"], math.log(0.5 * 0.8))
    assert math.isclose(two["learned"], math.log(0.5 * 0.2))
    assert math.isclose(unseen["learned"], MIN_LOG_LIKELIHOOD + math.log(0.8))
    assert [round(each["sure"], 6) for each in (one, two, unseen)] == [0.4, 0.1, 0.000099]


def test_the_nearest_questions_vote_for_chains_in_like_words() -> None:
    near = [
        NearExemplar(Exemplar("?", (Slot("p"),), weight=3), 0.9),
        NearExemplar(Exemplar("?", (Slot("q"),)), 0.9),
    ]
    one, other = table(way(P), way(Q), advice=TrainingAdvice(near, ()))
    assert math.isclose(one["votes"], math.log(0.75 + MIN_VOTE), abs_tol=1e-6)
    assert math.isclose(other["votes"], math.log(0.25 + MIN_VOTE), abs_tol=1e-6)


def test_a_nearer_question_has_more_votes() -> None:
    near = [NearExemplar(Exemplar("?", (Slot("p"),)), 0.9), NearExemplar(Exemplar("?", (Slot("q"),)), 0.8)]
    one, other = table(way(P), way(Q), advice=TrainingAdvice(near, ()))
    assert math.isclose(one["votes"] - other["votes"], QUESTION_VOTE_SHARPNESS * 0.1, rel_tol=0.01)


def test_the_question_is_compared_with_all_hops_together() -> None:
    assert table(way(P, Q))[0]["whole"] == pytest.approx((0.8 + 0.6) / math.sqrt(2))


def test_of_mirrored_chains_the_one_in_the_most_similar_words_speaks() -> None:
    mirrors = InverseRelations({P.relation: Q.relation, Q.relation: P.relation})
    [merged] = mirrors.merge_chains(
        [way(P, ends=(Candidate(Literal("1")), Candidate(Literal("2")))), way(Q.inverse)], ()
    )
    hops = ({Slot("q", False): math.log(0.5)}, {None: 0.0})
    found = table(merged, advice=mirrors.normalise_advice(TrainingAdvice((), hops)), mirrors=mirrors)[0]
    assert found["whole"] == pytest.approx(0.8)
    assert found["learned"] == pytest.approx(math.log(0.5))


def test_ends_that_return_are_none_where_others_do_not() -> None:
    bob = Candidate(Entity("http://t/e/bob", "Bob"))
    assert table(way(P, P, ends=(Candidate(ANN, True), bob)))[0]["one"] == 1


def test_the_kind_of_the_ends_is_held_against_the_question() -> None:
    date = (Candidate(Literal("1952-03-11")),)
    who, when = (table(way(P, ends=date), question=each)[0] for each in ("who [ENT]", "when [ENT]"))
    assert (who["date"], who["thing"]) == (1, 1)
    assert (when["date"], when["thing"]) == (0, 0)


@pytest.mark.parametrize(
    ("question", "when", "whom"),
    [
        ("When was [ENT] born?", True, False),
        ("what year did [ENT] win?", True, False),
        ("who is [ENT] married to?", False, True),
        ("where does [ENT] live?", False, True),
        ("what languages does [ENT] speak?", False, False),
        ("who were [ENT]'s parents?", False, True),
        ("what does [ENT] do?", False, False),
    ],
)
def test_question_words_say_what_kind_of_end_is_asked_for(question: str, when: bool, whom: bool) -> None:
    """A year is a date, and a number only a value."""
    day = Literal("1952-03-11", "http://www.w3.org/2001/XMLSchema#date")
    ends = tuple(Candidate(term) for term in (Literal("1952"), day, Literal("52"), ANN))
    found = table(way(P, ends=ends), question=question)[0]
    assert (found["date"], found["thing"]) == (0 if when else 0.5, 0.75 if whom else 0)


def test_no_ends_are_of_no_kind() -> None:
    found = table(way(P, ends=()), question="who is [ENT]?")[0]
    assert found["date"] == found["thing"] == 0


def test_words_count_alone_as_far_as_no_training_question_is_like_this_one() -> None:
    near = TrainingAdvice([NearExemplar(Exemplar("?", (Slot("p"),)), 0.75)], ())
    row = chain_features(QUESTION, [way(P)], near, np.array([2.0]), encode, InverseRelations({}))[0]
    told = dict(zip(FEATURES, row, strict=True))
    assert (told["said"], told["alone"]) == (2.0, 0.5)
    assert table(way(P))[0]["alone"] == 0
    assert (
        dict(
            zip(
                FEATURES,
                chain_features(QUESTION, [way(P)], NOTHING, np.array([2.0]), encode, InverseRelations({}))[0],
                strict=True,
            )
        )["alone"]
        == 2
    )


def test_what_is_left_out_decides_nothing() -> None:
    hops = ({Slot("p"): -0.1, Slot("q"): -3.0}, {None: 0.0})
    ways = [way(P, named=1), way(Q)]
    parts = frozenset(feature.part for feature in FEATURES.values())
    left = scores(ways, TrainingAdvice((), hops), np.array([1.0, 0.0]), parts)
    assert left[0] == left[1]
    kept = scores(ways, TrainingAdvice((), hops), np.zeros(2), parts - {"hops"})
    assert kept[0] > kept[1]


def test_without_advice_words_decide() -> None:
    [one, other] = scores([way(P), way(Q)], NOTHING, np.array([0.9, 0.1]))
    assert one > other


def test_chains_without_a_date_are_told_where_one_is_asked_for() -> None:
    ends = (Literal("1669"), Literal("2014-01-01"), Entity("http://t/e/f", "1973 Finals"), ANN)
    chain = way(P, ends=tuple(map(Candidate, ends)))
    when, who = (table(chain, question=f"{word} did [ENT] win?")[0]["undated"] for word in ("when", "who"))
    assert (when, who) == (0.25, 0.0)
