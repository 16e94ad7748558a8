"""Says where a search goes on, and what it comes back to."""

from typing import NamedTuple

from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.stray import stray
from kgqa.kg.terms import Chain, Entity
from kgqa.prompts.found import GROUPS, shown
from kgqa.prompts.reflect import EARLIER, Reflect, Reflection


async def reflect(prompt: Reflect, case: Case) -> Reflection:
    """Go on from all groups that lead on; where none does, come back to where a way was left.

    A wrong verdict goes on from the other groups, a wrong choice of entities from a candidate that
    leads astray. What is come back to is right as often as a choice of relations.
    """
    found = list(enumerate(prompt.found[:GROUPS], 1))
    right = [number for number, each in found if any(await case.oracle.rests(each.chain))]
    go_on = [number for number, _ in found if number not in right] if case.happens("judge") else right
    strays = go_on == right and case.happens("entity")
    keep = [n for number in go_on for n in await _stray(prompt, number, case)] if strays else []
    recall = [] if right else await _recalled(prompt, case)
    return Reflection(go_on=go_on, keep=keep, recall=recall)


async def _stray(prompt: Reflect, number: int, case: Case) -> list[int]:
    """Draw what of a group leads astray, where all of it is shown."""
    group = prompt.found[number - 1]
    rows = [row for row in shown(prompt.found) if row.group == number]
    if group.truncated or len(rows) < len(group.named):
        return []
    terms = ((row.number, row.candidate.term) for row in rows)
    return await stray(group.chain, {n: term for n, term in terms if isinstance(term, Entity)}, case)


class _Reached(NamedTuple):
    number: int
    """Of what was explored before; 0: found now."""
    chain: Chain
    is_end: bool
    """Whether it is at the end of a way."""


async def _recalled(prompt: Reflect, case: Case) -> list[int]:
    """Number, of each topic, the longest chain on a way, unless it is the whole way."""
    history = list(enumerate(prompt.history[:EARLIER], 1))
    reached: dict[Entity, _Reached] = {}
    for number, each in [*((0, each) for each in prompt.found), *history]:
        rests = await case.oracle.rests(each.chain)
        best = reached.get(each.chain.topic)
        if rests and (best is None or each.chain.depth > best.chain.depth):
            reached[each.chain.topic] = _Reached(number, each.chain, () in rests)
    right = [each.number for each in reached.values() if each.number and not each.is_end]
    others = [number for number, _ in history if number not in right]
    if case.happens("accuracy") or not others:
        return right
    drawn = case.draws.shuffled("wrong recall", others)
    return [number for _, number in zip(range(max(1, len(right))), drawn, strict=False)]
