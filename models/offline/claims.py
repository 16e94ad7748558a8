"""Is a claim so? What facts say of the things that a question for yes or no names."""

import asyncio
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from kgqa.kg.terms import Hop, Path, Term
from kgqa.models.offline.believing import Believer
from kgqa.models.offline.claim import Claim, read_claim
from kgqa.models.offline.stance import DENIAL, stance
from kgqa.models.offline.words import Encode, spoken
from kgqa.prompts.judge_claim import JudgeClaim, Judgement

_CLASS = re.compile(r"\b(?:class|subclass|type|kind|category|instance)\b|^is a$|^a$")
_IS_A = re.compile(
    r"(?:is|are|was|were) (?:the |an? |both )*it(?: it)*(?: and (?:the |an? )?it)?"
    r"(?: both| an?| (?:kinds?|types?) of)* it"
)
"""A claim that says of things only what they are."""


class Told(NamedTuple):
    """A fact that says a claim of two things, or the opposite."""

    number: int
    path: Path
    pair: frozenset[str]
    said: bool


async def judge_claim(prompt: JudgeClaim, believer: Believer) -> Judgement:
    """Go by the facts that join what the question claims to be joined: do they say so, or the opposite?

    Yes where each thing is joined, no where one is denied to be. Either direction of a relation says it,
    unless the question asks what something is. Where facts say both of the same things it is unknown.
    """
    offered = prompt.offered
    terms = [*prompt.topics, *(node for path in offered for node in path.nodes)]
    hops = {hop for path in offered for hop, _ in path.steps}
    claim = await read_claim(prompt.question, prompt.topics, terms, hops, believer.graph)
    told = await asyncio.to_thread(_weighed, offered, claim, believer.encode)
    favour, against = ([each for each in told if each.said is said] for said in (True, False))
    sides = {"favour": _chosen(favour), "against": _chosen(against)}
    borne, denied = ({each.pair for each in side} for side in (favour, against))
    if borne & denied:
        return Judgement(rationale="the facts contradict each other", verdict="unknown", **sides)
    if denied and claim.clear and len(claim.slots) <= 2:
        return Judgement(rationale="a fact says the opposite", verdict="no", **sides)
    if not denied and claim.clear and claim.borne_out(borne):
        return Judgement(rationale="the facts say so", verdict="yes", **sides)
    why = (
        "the facts do not say all that the question claims"
        if told
        else "no fact says what the question claims"
    )
    return Judgement(rationale=why, verdict="unknown", **sides)


def _weighed(paths: Sequence[Path], claim: Claim, encode: Encode) -> list[Told]:
    """Tell which facts say the claim or its opposite of two of its things, by their ends; blocks."""
    told = []
    for number, path in enumerate(paths, 1):
        things = [claim.thing(node) for node in path.nodes]
        start = max((at for at, thing in enumerate(things[:-1]) if thing), default=0)
        one, two = things[start], things[-1]
        if one and two and claim.joins(one, two):
            said = bears(claim, one, two, _moves(path, start), encode)
            told += [Told(number, path, frozenset((one, two)), said)] if said is not None else []
    return told


def bears(claim: Claim, one: str, two: str, moves: Sequence[Sequence[Hop]], encode: Encode) -> bool | None:
    """Tell whether what leads from one thing to another says a claim, or its opposite; None: neither.

    Through something else that has a name nothing is denied; and that two things are joined to it alike is
    no news of what a claim joins, unless it says that they have something in common.

    Args:
        claim: what is to be borne out.
        one: where the moves begin.
        two: where they end.
        moves: hops from names to names.
        encode: a sentence encoder; blocks.
    """
    words = [" ".join(spoken(hop.words) for hop in move) for move in moves]
    if _IS_A.fullmatch(claim.text):
        downwards = {one in claim.slots[0]} == {hop.forward for move in moves for hop in move}
        kinds = all(_CLASS.search(each) and not DENIAL.search(each) for each in words)
        return True if downwards and kinds and len(claim.slots) == 2 else None
    if len(moves) == 1:
        return stance(claim.text, words, encode)
    turns = any(
        tuple(after) == tuple(hop.inverse for hop in reversed(move)) for move, after in pairwise(moves)
    )
    apart = turns or len(claim.slots) == 1
    return None if apart and not claim.alike else stance(claim.text, words, encode) or None


def _moves(path: Path, start: int) -> list[tuple[Hop, ...]]:
    nodes, last = path.nodes, len(path.steps)
    cuts = [at for at in range(start, last + 1) if at in (start, last) or nodes[at].name]
    return [path.chain.hops[one:two] for one, two in pairwise(cuts)]


def _chosen(told: Sequence[Told]) -> list[int]:
    """Number facts, the shortest of each pair of things, so that none only repeats what others say."""
    chosen: list[Told] = []
    known: set[tuple[Term, str, Term]] = set()
    shortest = {each.pair: len(each.path.steps) for each in sorted(told, key=_length, reverse=True)}
    for each in sorted(told, key=_length):
        if len(each.path.steps) == shortest[each.pair] and not (said := _triples(each.path)) <= known:
            known |= said
            chosen.append(each)
    return sorted(
        each.number
        for each in chosen
        if not any(_begins(each.path, other.path) for other in chosen if other is not each)
    )


def _length(told: Told) -> tuple[int, int]:
    return len(told.path.steps), told.number


def _triples(path: Path) -> set[tuple[Term, str, Term]]:
    ends = zip(path.nodes, path.steps, strict=False)
    return {
        (head, hop.relation, tail) if hop.forward else (tail, hop.relation, head)
        for head, (hop, tail) in ends
    }


def _begins(one: Path, other: Path) -> bool:
    return one.topic == other.topic and other.steps[: len(one.steps)] == one.steps
