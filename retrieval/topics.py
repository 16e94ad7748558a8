"""Which of the entities that a mention may stand for is meant: the one whose relations say the question."""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kgqa.kg.pages import Match, Mention
from kgqa.kg.terms import is_value_id
from kgqa.kg.text import fold
from kgqa.priors.masking import OTHER_MASK, TOPIC_MASK
from kgqa.retrieval.wording import FloatArray, QuestionWording, comparison_texts, wording_texts

EncodeTexts = Callable[[Sequence[str]], Awaitable[npt.NDArray[np.floating]]]  # texts to rows of length 1

NAME_WEIGHT, PLACE_WEIGHT, WORDING_WEIGHT, RELATIONS_WEIGHT = 1.2, 1.9, 1.7, 0.5
"""Of a name that is all of the mention; of the order in which linking gives them (a logarithm); of how well
the best relation says the question; of how many relations there are (a logarithm). They were fitted on the
training parts of the Freebase slices, the Wikidata slice and MetaQA."""

QUALIFIER_WEIGHT = 5.0  # of a question that says which of several of a name: "the river Cygnus"
MIN_SHARE = 0.05  # of the likelihood, from which on another entity may be meant
MAX_MEANINGS = 3  # entities that a mention may stand for


async def rank_meanings(question: str, mentions: Sequence[Mention], encode: EncodeTexts) -> list[Mention]:
    """Return mentions with what they may mean, the likeliest first; the others are left out.

    Only entities are compared of which it is known what leads on from them (`Match.hops`). Those after the
    first say as much of the question by a relation as the first does, or have its words as their own name
    where the first has not, or are a value where that is an entity of the same name, and the reverse.
    """
    ambiguous = [each for each in mentions if any(match.hops for match in each.rivals)]
    masked = {mention: _mask(question, mentions, mention) for mention in ambiguous}
    labels = {hop.words for mention in masked for match in mention.rivals for hop in match.hops}
    texts = {text for label in labels for text in comparison_texts(label)}
    texts |= {text for each in masked.values() for text in wording_texts(each)}
    listed = sorted(texts)
    rows = dict(zip(listed, await encode(listed), strict=True)) if listed else {}

    def known(some: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.array([rows[text] for text in some], np.float32)

    return [
        _choose(mention, QuestionWording(masked[mention], known), question)
        if mention in masked
        else replace(mention, matches=mention.matches[:1])
        for mention in mentions
    ]


def _mask(question: str, mentions: Sequence[Mention], topic: Mention) -> str:
    for each in sorted(mentions, key=lambda mention: -mention.start):
        question = (
            question[: each.start] + (TOPIC_MASK if each is topic else OTHER_MASK) + question[each.end :]
        )
    return question


def _choose(mention: Mention, wording: QuestionWording, question: str) -> Mention:
    rivals = mention.rivals
    said = [
        float(wording.chains([(hop,) for hop in match.hops]).max()) if match.hops else -1.0
        for match in rivals
    ]
    logits = np.array(
        [
            NAME_WEIGHT * match.sure
            - PLACE_WEIGHT * math.log1p(place)
            + WORDING_WEIGHT * said[place]
            + RELATIONS_WEIGHT * math.log1p(len(match.hops))
            + QUALIFIER_WEIGHT * _is_qualified(str(match.entity), question)
            for place, match in enumerate(rivals)
        ]
    )
    shares: FloatArray = np.exp(logits - np.logaddexp.reduce(logits))
    first, *others = np.argsort(-shares, kind="stable")
    likely = [at for at in others if shares[at] >= MIN_SHARE and rivals[at].hops]
    fair = [at for at in likely if said[at] >= said[first] or _is_named_as_well(rivals[at], rivals[first])]
    return replace(mention, matches=tuple(rivals[at] for at in (first, *fair)[:MAX_MEANINGS]))


def _is_qualified(name: str, question: str) -> bool:
    """Return whether a question says a name and what stands in brackets after it, to tell it from others.

    >>> asked = "What is the length of the river Cygnus?"
    >>> [_is_qualified(name, asked) for name in ("Cygnus (river)", "Swan (Cygnus)", "Cygnus")]
    [True, False, False]
    """
    own, _, qualifier = name.removesuffix(")").partition("(")
    return bool(qualifier and own) and {*fold(f"{own} {qualifier}").split()} <= {*fold(question).split()}


def _is_named_as_well(one: Match, first: Match) -> bool:
    is_other_kind = is_value_id(one.entity.id) != is_value_id(first.entity.id)
    return one.sure and (is_other_kind or not first.sure)
