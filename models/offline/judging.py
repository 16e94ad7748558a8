"""Is a chain the answer's, and which of its ends are the answers: what is believed of them."""

from collections.abc import Sequence
from typing import Literal as Choice, NamedTuple

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, one_line
from kgqa.models.offline.belief import Belief
from kgqa.models.offline.believing import Believer
from kgqa.models.offline.words import spoken
from kgqa.prompts.candidates import SHOWN, Take, number_of
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency
from kgqa.prompts.filter_candidates import FilterCandidates, FilteredCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Inferred
from kgqa.prompts.verify_chain import Verdict, VerifyChain

NAMED = 3
"""Candidates that a finding names."""


async def verify(prompt: VerifyChain, believer: Believer) -> Verdict:
    """Stop at the end of a way, the believed one before others; go on before it, turn back beside all."""
    belief = await _believed(prompt, believer)
    judged = _judge(prompt, belief, filtering=prompt.filtering)
    return Verdict(
        rationale=belief.reason, decision=judged.decision, take=judged.take, chosen=list(judged.chosen)
    )


async def check_sufficiency(prompt: CheckSufficiency, believer: Believer) -> Sufficiency:
    """Judge as `verify` does, and say what the chain leads to."""
    belief = await _believed(prompt, believer)
    judged = _judge(prompt, belief, filtering=True)
    return Sufficiency(
        rationale=belief.reason,
        finding="" if judged.decision == "backtrack" else _finding(prompt.chain, prompt.candidates),
        decision=judged.decision,
        take=judged.take,
        chosen=list(judged.chosen),
    )


async def filter_candidates(prompt: FilterCandidates, believer: Believer) -> FilteredCandidates:
    """Choose the candidates that are believed to be answers."""
    belief = await _believed(prompt, believer)
    chosen = belief.right(prompt.chain, prompt.candidates[:SHOWN])
    counting = is_counted(belief, prompt.candidates)
    return FilteredCandidates(rationale=belief.reason, chosen=chosen, count=counting)


async def infer(prompt: InferFromEvidence, believer: Believer) -> Inferred:
    """Choose the ends of complete ways that are believed to be answers."""
    chains = [segment.chain for segment in prompt.segments for _ in segment.ends]
    topics = prompt.topics or tuple(dict.fromkeys(chain.topic for chain in chains))
    belief = await believer.believe(prompt.question, topics)
    offered = enumerate(zip(chains, prompt.offered, strict=False), 1)
    chosen = [
        number
        for number, (chain, end) in offered
        if belief.is_believed(chain) and belief.right(chain, (end,))
    ]
    return Inferred(rationale=belief.reason, chosen=chosen)


class _Judged(NamedTuple):
    decision: Choice["stop", "forward", "filter", "backtrack"]
    take: Take = "all"
    chosen: tuple[int, ...] = ()


async def _believed(prompt: VerifyChain | CheckSufficiency | FilterCandidates, believer: Believer) -> Belief:
    return await believer.believe(prompt.question, prompt.topics or (prompt.chain.topic,))


def _judge(prompt: VerifyChain | CheckSufficiency, belief: Belief, *, filtering: bool) -> _Judged:
    rest = belief.rest(prompt.chain)
    if rest is None:
        return _Judged("backtrack")
    if rest:
        return _Judged("forward")
    right = belief.right(prompt.chain, prompt.candidates)
    if not right:
        return _Judged("backtrack")
    if len(right) == len(prompt.candidates):
        return _Judged("stop", _take(prompt, belief))
    if filtering and (right[-1] > SHOWN or is_counted(belief, prompt.candidates)):
        return _Judged("filter")
    shown = tuple(number for number in right if number <= SHOWN)
    return _Judged("stop", "some", shown) if shown else _Judged("backtrack")


def _take(prompt: VerifyChain | CheckSufficiency, belief: Belief) -> Take:
    """Leave out what comes back to the topic, where there is anything else."""
    if is_counted(belief, prompt.candidates) and not prompt.truncated:
        return "count"
    return "all" if all(c.returning for c in prompt.candidates) else "others"


def is_counted(belief: Belief, candidates: Sequence[Candidate]) -> bool:
    """Tell whether the question asks how many there are; a number is itself what "how many" asks for."""
    return belief.asked.kind == "count" and any(number_of(each.term) is None for each in candidates)


def _finding(chain: Chain, candidates: tuple[Candidate, ...]) -> str:
    """Say a chain and some of its ends: ``mouth of river of Ulm: Black Sea``."""
    said = [spoken(hop.words) for hop in reversed(chain.hops)]
    names = [one_line(str(candidate.term), 40) for candidate in candidates[:NAMED]]
    if len(candidates) > NAMED:
        names.append(f"{len(candidates) - NAMED} more")
    return one_line(f"{' of '.join([*said, str(chain.topic)])}: {', '.join(names)}")
