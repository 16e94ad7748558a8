"""Is a claim so? What facts say of the things that a question for yes or no names."""

import asyncio
import re
from collections.abc import Sequence
from itertools import pairwise

from kgqa.kg.terms import Path
from kgqa.models.offline.believing import Believer
from kgqa.models.offline.sides import content
from kgqa.models.offline.stems import shared_stems
from kgqa.models.offline.whether import Named
from kgqa.models.offline.words import Encode, likeness, spoken
from kgqa.prompts.judge_claim import JudgeClaim, Judgement

ALIKE = 0.35
"""Likeness from which a relation says what a question claims."""

STEM = 0.5
"""Part of its letters that a word of the question shares with one of a relation that says the same."""

_DENIAL = re.compile(r"\b(?:not|no|non|never|without|cannot|lacks?|\w+n t)\b")
_LINKS = re.compile(r"\b(?:kind|type|subclass|instance|part) of\b|\bis a\b|\blocated (?:in|on|at)\b")
"""What a claim need not say: it says "of a gene on it", "of insects"."""

_OPPOSITES = tuple(
    (re.compile(rf"\b(?:{one})"), re.compile(rf"\b(?:{other})"))
    for one, other in (
        (r"contraindicat|avoid|harmful", r"indicat|treat|safe|recommend|use[ds]?\b|tak(?:e|ing)\b|prescrib"),
        (r"inhibit|block|suppress|antagoni", r"activat|stimulat|induc|agoni"),
        (r"increas|rais|worsen", r"decreas|reduc|lower|reliev"),
        (r"prevent|protect", r"caus|lead"),
    )
)
"""Beginnings of words that say the opposite of each other."""


async def judge_claim(prompt: JudgeClaim, believer: Believer) -> Judgement:
    """Go by the facts that join two things the question names: do they say what it claims, or the opposite?

    Either direction of a relation says it. Where facts say both, or none says either, it is unknown.
    """
    favour, against = await asyncio.to_thread(weigh, prompt, believer.encode)
    if bool(favour) == bool(against):
        said = "the facts contradict each other" if favour else "no fact says what the question claims"
        return Judgement(rationale=said, verdict="unknown", favour=favour, against=against)
    why = "a fact says so" if favour else "a fact says the opposite"
    return Judgement(rationale=why, verdict="yes" if favour else "no", favour=favour, against=against)


def weigh(prompt: JudgeClaim, encode: Encode) -> tuple[list[int], list[int]]:
    """Number the facts that speak for a claim, and those against it; blocks."""
    named = Named(prompt.question, {*prompt.topics, *(path.topic for path in prompt.facts)})
    claim = named.unnamed([*prompt.topics, *(node for path in prompt.offered for node in path.nodes)])
    told = [stance(claim, _between(path, named), encode) for path in prompt.offered]
    favour, against = ([at for at, said in enumerate(told, 1) if said is sought] for sought in (True, False))
    return favour, against


def stance(claim: str, moves: Sequence[str], encode: Encode) -> bool | None:
    """Tell whether relations one after the other say what a claim says, or its opposite; None: neither.

    Args:
        claim: a question in lower case, with "it" for the names in it.
        moves: what leads from one thing that it names to the other, in words.
        encode: a sentence encoder; blocks.
    """
    said = [(move, _said(claim, move, encode)) for move in moves]
    told = [each for move, each in said if each is not None or not _LINKS.search(move)]
    return None if None in told or not told else all(told)


def _said(claim: str, move: str, encode: Encode) -> bool | None:
    opposite = any(_beside(claim, move, *pair) or _beside(move, claim, *pair) for pair in _OPPOSITES)
    bare, words = (_DENIAL.sub(" ", text) for text in (claim, move))
    stems = shared_stems([words], content(bare)).max(initial=0.0)
    if not opposite and stems < STEM and likeness(bare, [words], encode)[0] < ALIKE:
        return None
    denied = (_DENIAL.search(claim) is None) != (_DENIAL.search(move) is None)
    return opposite == denied


def _beside(one: str, other: str, here: re.Pattern[str], there: re.Pattern[str]) -> bool:
    """Tell whether one text says the one of two opposites alone, and the other text the other alone."""
    return all(map(bool, (here.search(one), there.search(other)))) and not (
        there.search(one) or here.search(other)
    )


def _between(path: Path, named: Named) -> list[str]:
    """Give the moves from the last named thing of a question to another at the end of the path, in words."""
    nodes = path.nodes
    starts = [at for at, node in enumerate(nodes[:-1]) if node in named and node != path.end]
    if not starts or path.end not in named:
        return []
    cuts = [at for at, node in enumerate(nodes) if at == starts[-1] or (at > starts[-1] and node.name)]
    hops = path.chain.hops
    return [" ".join(spoken(hop.words) for hop in hops[one:two]) for one, two in pairwise(cuts)]
