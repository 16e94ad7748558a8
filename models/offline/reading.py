"""The order in which a question says the hops of a chain: outwards from the entity.

"the B of A of [ENT]" and "[ENT] 's A 's B" both say A before B. What stands between two
words tells whether a new hop may begin there: a linking word, or nothing.

>>> [order.words for order in read("What is the mayor of the home town of [ENT]?")]
[('town', 'home', 'mayor')]
>>> [order.words for order in read("Which films did [ENT] direct?")]
[('direct', 'films'), ('films', 'direct')]
"""

import re
from typing import NamedTuple

from kgqa.models.offline.sides import Side, left_side, right_side
from kgqa.priors.blueprints import MASK
from kgqa.priors.exemplars import OTHER

APART = 0.5
"""Cost of a new hop where no linking word stands before it; that of a hop left unsaid is 1."""

ACROSS = 0.3
"""Cost of a new hop on the other side of the entity: one may begin there, or the same goes on."""

HELD = 1.0
"""Cost of that in "which films did [ENT] direct": the verb ties both sides to the entity."""

WITHIN = 0.1
"""Cost of no new hop after a linking word: "place of death" is one hop, most others are two."""

_VERB_BEFORE = re.compile(
    r"\b(is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may)(\s+the)?\s*$"
)


class Order(NamedTuple):
    """Content words, one after the other outwards from the entity; each field has one item for each."""

    words: tuple[str, ...]
    spans: tuple[tuple[str, ...], ...]
    """What ends at the word: it, it with the one before, and so on, as the question has it."""
    begins: tuple[float, ...]
    """Cost of a new hop at the word."""
    stays: tuple[float, ...]
    """Cost of no new hop at the word."""


def read(masked: str) -> tuple[Order, ...]:
    """Give the orders in which a masked question may say hops, none where it has no words.

    What stands right of the entity comes first, or what stands left of it; a genitive is
    always first. Without the entity, all words are left of it.
    """
    before, _, after = masked.replace(OTHER, " ").partition(MASK)
    before, after = before.lower(), after.replace(MASK, " ").lower()
    left, right = left_side(before), right_side(after)
    verb = _VERB_BEFORE.search(before) is not None
    if after.lstrip().startswith("'s"):
        return _known(_genitive(right, left, verb))
    across = HELD if verb else ACROSS
    orders = [_joined(right, left, across)]
    if left.words and right.words:
        orders.append(_joined(left, right, across))
    return _known(*orders)


def _known(*orders: Order) -> tuple[Order, ...]:
    return tuple(order for order in orders if order.words)


def _joined(first: Side, then: Side, across: float) -> Order:
    """Put one side after the other, where beginning a new hop costs ``across``."""
    words = first.words + then.words
    begins = [0.0 if word.linked and not word.typed else APART for word in words]
    stays = [WITHIN if word.linked else 0.0 for word in words]
    turn = len(first.words)
    if 0 < turn < len(words):
        begins[turn] = max(across, begins[turn]) if words[turn].typed else across
        stays[turn] = 0.0
    texts = tuple(word.text for word in words)
    return Order(texts, first.spans + then.spans, tuple(begins), tuple(stays))


def _genitive(right: Side, left: Side, verb: bool) -> Order:
    """Put the left side after a genitive, which ends a hop: "the spouse of [ENT] 's mother".

    After a verb, its last word is another hop: "where does [ENT] 's mother live".
    """
    order = _joined(right, left, 0.0)
    begins, stays = list(order.begins), list(order.stays)
    turn = len(right.words)
    if 0 < turn < len(begins):
        begins[turn], stays[turn] = 0.0, WITHIN
    if verb and turn > 1:
        begins[turn - 1] = 0.0
    return order._replace(begins=tuple(begins), stays=tuple(stays))
