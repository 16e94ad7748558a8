"""Conditions on what is known of candidates that leave some of them, for models that know which these are."""

import operator as compare
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal as Choice, NamedTuple, get_args

from kgqa.kg.proof.values import date_parts, year_of
from kgqa.kg.terms import Literal, Term
from kgqa.prompts.apply_conditions import ApplyConditions, Operator, StatedCondition, StatedConditions
from kgqa.prompts.attributes import Attribute, Mention, term_text
from kgqa.prompts.base import Prompt, R
from kgqa.prompts.candidates import parse_number
from kgqa.prompts.compose_query import ComposedQuery, ComposeQuery, node_name

Basis = Choice["named", "extreme", "value"]
"""What a reply is told by: what the question names, an order, or any value that is shown."""

_NEGATION = re.compile(r"\b(?:not|never|no|without|except)\b|n't\b", re.IGNORECASE)

_COMPARED = re.compile(
    r"\b(?:than|before|after|since|until|by|from|over|under|above|below|between|least|most|prior|exceed\w*)\b",
    re.IGNORECASE,
)

MAX_VALUES_TRIED = 50  # of one attribute

_COMPARISONS: dict[Operator, Callable[[Any, Any], bool]] = {
    "=": compare.eq,
    "<": compare.lt,
    "<=": compare.le,
    ">": compare.gt,
    ">=": compare.ge,
}


ORDERED: tuple[Operator, ...] = (*_COMPARISONS, "year")


@dataclass(frozen=True)
class ShownCandidates:
    """Candidates that are to be told apart, and what is shown of them.

    ``types`` are pairs of a candidate and a type, of which ``kinds`` are shown; a condition on them names
    ``typed`` as what has it. ``is_taken`` says whether the graph can check a condition.
    """

    question: str
    candidates: frozenset[Term]
    attributes: Mapping[str, Attribute]
    mentions: Sequence[Mention]
    kinds: Mapping[str, Term]
    types: Sequence[tuple[Term, Term]]
    is_taken: Callable[[StatedCondition], bool]
    typed: str = ""


def candidates_to_filter(prompt: ApplyConditions) -> ShownCandidates:
    """Return what a prompt for conditions shows."""
    known, question = prompt.known, prompt.question
    everyone = frozenset(candidate.term for candidate in prompt.candidates)

    def is_taken(stated: StatedCondition) -> bool:
        return is_accepted(prompt, StatedConditions(conditions=[stated]))

    return ShownCandidates(
        question, everyone, known.lettered, known.mentions, known.kinds, known.types, is_taken
    )


def candidates_of_query(
    prompt: ComposeQuery, query: ComposedQuery, candidates: Collection[Term]
) -> ShownCandidates:
    """Return what a prompt for a query shows of what a query without conditions leaves."""
    number = query.chains[0][0]
    chain = prompt.chains[number - 1].chain

    def is_taken(stated: StatedCondition) -> bool:
        try:
            return bool(prompt.branches(query.model_copy(update={"conditions": [stated]})))
        except ValueError:
            return False

    return ShownCandidates(
        prompt.question,
        frozenset(candidates),
        {
            letter: each.attribute
            for letter, each in prompt.lettered.items()
            if is_taken(StatedCondition(attribute=letter, operator="exists"))
        },
        prompt.mentions,
        prompt.known.kinds,
        prompt.types,
        is_taken,
        typed=query.answer or node_name(number, chain.depth, chain),
    )


def is_accepted(prompt: Prompt[R], reply: R) -> bool:
    """Return whether a prompt takes a reply."""
    try:
        prompt.check(reply)
    except ValueError:
        return False
    return True


class _Stated(NamedTuple):
    """A condition, and the candidates that meet it as far as is known."""

    condition: StatedCondition
    meeting: frozenset[Term]
    basis: Basis


def decisive_replies(
    shown: ShownCandidates, wanted: Collection[Term]
) -> Iterator[tuple[StatedConditions, Basis]]:
    """Yield the replies that leave those of the candidates that are ``wanted``, the plainest first.

    All values that the question names and the wanted have; these and one condition; one alone, or an
    extreme of what they leave.
    """
    everyone, goal = shown.candidates, frozenset(wanted)
    fitting = [each for each in _conditions(shown) if goal <= each.meeting and shown.is_taken(each.condition)]
    named = [each for each in fitting if each.basis == "named" and each.condition.operator == "="]
    equal: dict[str, _Stated] = {}
    for each in named:
        equal.setdefault(each.condition.value, each)
    left = everyone.intersection(*(each.meeting for each in equal.values()))
    said = [each.condition for each in equal.values()]
    if left == goal and said:
        yield StatedConditions(conditions=said), "named"
    more = [(said, left), ([], everyone)] if said else [([], everyone)]
    for basis in get_args(Basis):
        for base, among in more:
            for each in fitting:
                if each.basis == basis and each.condition not in base and among & each.meeting == goal:
                    yield StatedConditions(conditions=[*base, each.condition]), basis
            for letter, attribute in shown.attributes.items() if basis == "extreme" else ():
                first, last = _extremes(attribute, among)
                if goal in (first, last) and first != last:
                    extreme: Choice["smallest", "largest"] = "smallest" if goal == first else "largest"
                    yield StatedConditions(conditions=base, extreme=extreme, by=letter), basis


def stated_conditions(shown: ShownCandidates) -> list[StatedCondition]:
    """Return the conditions that can be told of what is shown, right or wrong, each met by some."""
    return [each.condition for each in _conditions(shown) if shown.is_taken(each.condition)]


def _conditions(shown: ShownCandidates) -> list[_Stated]:
    """Return the conditions that can be told of what is shown: those that the question names first.

    Names are left out: by them anything can be told.
    """
    everyone = shown.candidates
    named = sorted({term_text(term) for each in shown.mentions for term in each.terms})
    found: list[_Stated] = []
    for letter, attribute in shown.attributes.items():
        if attribute.says_names:
            continue
        for text in named:
            for operator in ORDERED if attribute.kind in {"number", "date"} else ORDERED[:1]:
                meeting = _meeting(attribute, operator, text)
                stated = StatedCondition(attribute=letter, operator=operator, value=text)
                compared = operator in {"=", "year"} or _COMPARED.search(shown.question)
                found.append(_Stated(stated, meeting, "named" if compared else "value"))
                if operator == "=":
                    without = StatedCondition(attribute=letter, operator="not exists", value=text)
                    basis: Basis = "named" if _NEGATION.search(shown.question) else "value"
                    found.append(_Stated(without, everyone - meeting, basis))
        for text in [*attribute.distinct][:MAX_VALUES_TRIED]:
            stated = StatedCondition(attribute=letter, operator="=", value=text)
            found.append(_Stated(stated, _meeting(attribute, "=", text), "value"))
        has = frozenset(attribute.of)
        found.append(_Stated(StatedCondition(attribute=letter, operator="exists"), has, "value"))
        stated = StatedCondition(attribute=letter, operator="not exists")
        found.append(_Stated(stated, everyone - has, "value"))
    for text, kind in shown.kinds.items():
        meeting = frozenset(candidate for candidate, each in shown.types if each == kind)
        stated = StatedCondition(attribute=shown.typed, operator="type", value=text)
        said = text.lower() in shown.question.lower()
        found.append(_Stated(stated, meeting, "named" if said else "value"))
    return sorted((each for each in found if each.meeting), key=lambda each: each.basis != "named")


def _meeting(attribute: Attribute, operator: Operator, text: str) -> frozenset[Term]:
    return frozenset(
        candidate
        for candidate, values in attribute.of.items()
        if any(_is_met(value, operator, text) for value in values)
    )


def _is_met(value: Term, operator: Operator, text: str) -> bool:
    """Compare numbers as such, dates and years by the shorter of both; everything else is equal or not."""
    found, given = parse_number(value), parse_number(Literal(text.replace(",", "")))
    if operator == "year":
        return isinstance(value, Literal) and None is not year_of(value) == year_of(Literal(text))
    if isinstance(value, Literal) and found is not None and given is not None:
        return _COMPARISONS[operator](found, given)
    one, other = date_parts(term_text(value)), date_parts(text)
    if isinstance(value, Literal) and (size := min(len(one), len(other))):
        return _COMPARISONS[operator](one[:size], other[:size])
    return operator == "=" and term_text(value) == text


def _extremes(attribute: Attribute, among: Collection[Term]) -> tuple[frozenset[Term], frozenset[Term]]:
    """Return the candidates with the smallest, and with the largest value; none where these have no order."""
    if attribute.kind not in {"number", "date"}:
        return frozenset(), frozenset()
    keys = {
        candidate: [
            (parse_number(each) or Decimal()) if attribute.kind == "number" else date_parts(term_text(each))
            for each in values
        ]
        for candidate, values in attribute.of.items()
        if candidate in among
    }
    if not keys:
        return frozenset(), frozenset()
    first = min(min(each) for each in keys.values())
    last = max(max(each) for each in keys.values())
    return (
        frozenset(candidate for candidate, each in keys.items() if first in each),
        frozenset(candidate for candidate, each in keys.items() if last in each),
    )
