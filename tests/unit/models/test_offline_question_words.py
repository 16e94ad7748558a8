"""The order of words around an entity, and hops that are aligned to it."""

from collections.abc import Iterator
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.retrieval.wording import (
    BEST_WORD_WEIGHT,
    LEFTOVER_WORD_WEIGHT,
    LINKED_STAY_COST,
    OTHER_SIDE_HOP_COST,
    UNLINKED_HOP_COST,
    UNSAID_HOP_COST,
    VERB_TIED_HOP_COST,
    WordOrder,
    align_hops,
    complete_chain_scores,
    partial_chain_scores,
    stem_overlap,
    word_orders,
)


@pytest.mark.parametrize(
    ("question", "orders"),
    [
        ("the sex of the wife of [ENT]", ["wife sex"]),
        ("[ENT] 's wife 's sex", ["wife sex"]),
        ("the sex of [ENT]'s wife", ["wife sex"]),
        ("Which films did [ENT] direct?", ["direct films", "films direct"]),
        ("who wrote the film [ENT]?", ["wrote"]),
        ("describe [ENT]", ["tag"]),
        ("where was [ENT] born in 1905", ["born place", "place born"]),
        ("who is the wife of [OTHER]?", ["wife"]),
        ("what is [ENT]?", []),
    ],
)
def test_words_are_taken_outwards(question: str, orders: list[str]) -> None:
    said = [" ".join(spans[0] for spans in order.spans) for order in word_orders(question)]
    assert said == orders


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("the sex of the wife of [ENT]", [0, 0]),
        ("the home town of [ENT]", [0, UNLINKED_HOP_COST]),
        (
            "the films directed by [ENT] starred actors",
            [0, UNLINKED_HOP_COST, OTHER_SIDE_HOP_COST, UNLINKED_HOP_COST],
        ),
        ("which films did [ENT] direct", [UNLINKED_HOP_COST, VERB_TIED_HOP_COST]),
        ("where does [ENT] 's mother live", [0, 0, 0]),
        ("the age of [ENT] 's home town", [0, UNLINKED_HOP_COST, 0]),
    ],
)
def test_a_new_hop_is_free_after_a_linking_word(question: str, begins: list[float]) -> None:
    order = word_orders(question)[0]
    assert list(order.begins[1:]) == begins[1:]


def test_words_that_stand_together_are_compared_together() -> None:
    (order,) = word_orders("the place of death of the heir of [ENT]")
    assert order.spans == (("heir",), ("death", "death of the heir"), ("place", "place of death"))


@given(st.text(alphabet="ab of's [ENT]which1,", max_size=60))
def test_an_order_has_one_item_for_each_word(text: str) -> None:
    for order in word_orders(text):
        assert len(order.spans) == len(order.begins) == len(order.stays) > 0
        assert all(spans for spans in order.spans)


def _order(words: int, begins: list[float], stays: list[float]) -> WordOrder:
    names = tuple(f"w{at}" for at in range(words))
    spans = tuple((name, *(f"{names[at - 1]} {name}",) * (at > 0)) for at, name in enumerate(names))
    return WordOrder(spans, begins, stays)


def _sayings(words: int, hops: int) -> Iterator[list[tuple[int, int, int]]]:
    """Return all ways to cut words into spans and give each to a hop: begin, end, hop."""
    for cuts in product((False, True), repeat=words - 1):
        ends = [at + 1 for at, cut in enumerate(cuts) if cut] + [words]
        spans = list(zip([0, *ends[:-1]], ends, strict=True))
        if any(end - begin > 2 for begin, end in spans):
            continue
        for given_to in product(range(hops), repeat=len(spans)):
            steps = np.diff([0, *given_to])
            if given_to[0] == 0 and set(steps.tolist()) <= {0, 1}:
                yield [(begin, end, hop) for (begin, end), hop in zip(spans, given_to, strict=True)]


def _value(
    saying: list[tuple[int, int, int]], like: dict[tuple[int, int, int], float], order: WordOrder
) -> float:
    total, before = 0.0, 0
    for begin, end, hop in saying:
        if begin:
            total -= order.begins[begin] if hop > before else order.stays[begin]
        total += (end - begin) * like[begin, end, hop]
        before = hop
    best = [max(like[each] for each in saying if each[2] == hop) for hop in range(before + 1)]
    return total + BEST_WORD_WEIGHT * sum(best)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.integers(1, 3), st.randoms(use_true_random=False))
def test_the_best_of_all_ways_to_say_hops_is_found(words: int, hops: int, random: Random) -> None:
    order = _order(words, *([random.random() / 2 for _ in range(words)] for _ in range(2)))
    texts = sorted({span for spans in order.spans for span in spans})
    columns = {text: at for at, text in enumerate(texts)}
    similarity = np.array([[[random.random() for _ in texts] for _ in range(hops)]])
    like = {
        (begin, end, hop): similarity[0, hop, columns[" ".join(f"w{at}" for at in range(begin, end))]]
        for begin, end, hop in product(range(words), range(1, words + 1), range(hops))
        if 0 < end - begin <= 2
    }
    said = align_hops(similarity, order, columns)[-1, 0]
    for last in range(min(hops, words)):
        ways = [each for each in _sayings(words, hops) if each[-1][2] == last]
        assert said[last] == pytest.approx(max(_value(each, like, order) for each in ways))


def test_hops_that_nothing_says_cost_one_each() -> None:
    said = np.array([[[2.5, 1.9, 0.2], [0.2, 1.9, 3.0]]])
    assert complete_chain_scores(said).tolist() == pytest.approx([1.9 - UNSAID_HOP_COST, 3.0])
    assert complete_chain_scores(said - [0, 1.5, 4]).tolist() == pytest.approx(
        [2.5 - 2 * UNSAID_HOP_COST, 0.4 - UNSAID_HOP_COST]
    )


def test_words_may_be_left_for_hops_to_come() -> None:
    """The first word says the hop, the second does not: 0.9 and a word that is left, or 1.0."""
    said = np.array([[[0.9]], [[1.0]]])
    assert partial_chain_scores(said, _order(2, [0, 0.1], [0, 0])).tolist() == pytest.approx(
        [0.9 + LEFTOVER_WORD_WEIGHT - 0.1]
    )
    assert partial_chain_scores(said, _order(2, [0, 0.5], [0, 0])).tolist() == pytest.approx([1.0])


def test_linking_words_within_a_hop_cost_little() -> None:
    assert (
        0
        < LINKED_STAY_COST
        < OTHER_SIDE_HOP_COST
        <= UNLINKED_HOP_COST
        < VERB_TIED_HOP_COST
        <= UNSAID_HOP_COST
    )


def test_stems_are_what_words_begin_with() -> None:
    shared = stem_overlap(["film directed", "place of birth"], ["directors", "birth place", "bird"])
    assert shared == pytest.approx(np.array([[6 / 9, 0, 0], [0, 1, 0]]))
