"""Cues: words of a question that ask for more than where a chain leads, and whether a query heeds them."""

import re
from collections.abc import Collection, Iterator, Sequence

from kgqa.kg.proof.query import AnswerQuery
from kgqa.kg.terms import Entity, Literal, Term
from kgqa.priors.masking import OTHER_MASK, TOPIC_MASK, mask_topic

_ORDER = re.compile(
    r"\bfirst\b(?! (?:name|lady|ladies|language|nation|world war|aid|person|degree|division)\b)"
    r"|(?<!at )\blast\b(?! (?:name|names|words?|stand)\b)"
    r"|\b(?:latest|earliest|newest|oldest|youngest|eldest|most recent(?:ly)?)\b"
)
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
_NEGATION = re.compile(r"\b(?:not|never|without|neither|nor)\b|n't\b")
_NUMBER = r"(?:\d[\d,.]*|an?|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred|thousand)\b"
_COMPARISON = re.compile(
    rf"\b(?:(?:more|less|fewer|larger|higher|older|younger) than|at least|at most) {_NUMBER}"
)


def unused_cues(
    query: AnswerQuery, answers: Sequence[Term], question: str, topics: Collection[Entity]
) -> list[str]:
    """Return the words that ask for an order, a year, a negation or a comparison unknown to a query.

    Not those of a topic's name, nor what the chains or conditions say in so many words, what stands in the
    answers' names, or what a model may have minded when it picked. One answer has no order, and is of one
    year.
    """
    if query.picked or query.ask:
        return []
    computed = query.aggregate is not None and query.aggregate.function != "count"
    valued = [each for each in query.conditions if each.attribute and not isinstance(each.value, Entity)]
    decided, several = computed or bool(valued), len(answers) > 1
    negated = any(each.operator in {"!=", "not exists"} for each in query.conditions)
    open_cues = [
        *[_ORDER] * (several and not decided),
        *[_YEAR] * several,
        *[_NEGATION] * (not (decided or negated)),
        *[_COMPARISON] * (not any(each.operator in {"<", "<=", ">", ">="} for each in valued)),
    ]
    masked = _without_names(question, topics)
    found = dict.fromkeys(each.group() for cue in open_cues for each in cue.finditer(masked))
    said = _words(" ".join([*_texts(query), *(answer.name or "" for answer in answers)]))
    return [words for words in found if not _words(words) <= said]


def _words(text: str) -> set[str]:
    return {*re.findall(r"[^\W_]+", text.lower())}


def _without_names(question: str, topics: Collection[Entity]) -> str:
    text = question
    for topic in topics:
        text = mask_topic(text, topic.name, ()).replace(TOPIC_MASK, OTHER_MASK)
    return text[:1].lower() + text[1:]


def _texts(query: AnswerQuery) -> Iterator[str]:
    """Yield what a query says in words: its relations, its conditions, their values."""
    for branch in query.branches:
        yield from (hop.words for chain in branch.chains for hop in chain.hops)
    for each in query.conditions:
        yield each.words
        yield from (hop.words for hop in each.attribute)
        if isinstance(each.value, Literal):
            yield each.value.value
