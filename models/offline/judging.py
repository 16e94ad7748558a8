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
    judged = judge(belief, prompt.chain, prompt.candidates, prompt.truncated, filtering=prompt.filtering)
    return Verdict(
        rationale=belief.reason, decision=judged.decision, take=judged.take, chosen=list(judged.chosen)
    )


async def check_sufficiency(prompt: CheckSufficiency, believer: Believer) -> Sufficiency:
    """Judge as `verify` does, and say what the chain leads to."""
    belief = await _believed(prompt, believer)
    judged = judge(belief, prompt.chain, prompt.candidates, prompt.truncated)
    return Sufficiency(
        rationale=belief.reason,
        finding="" if judged.decision == "backtrack" else finding(prompt.chain, prompt.candidates),
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


class Judged(NamedTuple):
    """What to do with a chain and, for ``stop``, which of its ends are the answer."""

    decision: Choice["stop", "forward", "filter", "backtrack"]
    take: Take = "all"
    chosen: tuple[int, ...] = ()


async def _believed(prompt: VerifyChain | CheckSufficiency | FilterCandidates, believer: Believer) -> Belief:
    return await believer.believe(prompt.question, prompt.topics or (prompt.chain.topic,))


def judge(
    belief: Belief,
    chain: Chain,
    candidates: Sequence[Candidate],
    truncated: bool,
    *,
    filtering: bool = True,
    shown: int = SHOWN,
) -> Judged:
    """Judge a chain by what is left to go after it, and by those of its ends that are answers.

    Only the first ``shown`` candidates can be chosen; where others are answers, they are filtered for.
    """
    rest = belief.rest(chain)
    if rest is None:
        return Judged("backtrack")
    if rest:
        return Judged("forward")
    right = belief.right(chain, candidates)
    if not right:
        return Judged("backtrack")
    if len(right) == len(candidates):
        return Judged("stop", _take(candidates, truncated, belief))
    if filtering and (right[-1] > shown or is_counted(belief, candidates)):
        return Judged("filter")
    chosen = tuple(number for number in right if number <= shown)
    return Judged("stop", "some", chosen) if chosen else Judged("backtrack")


def _take(candidates: Sequence[Candidate], truncated: bool, belief: Belief) -> Take:
    """Leave out what comes back to the topic, where there is anything else."""
    if is_counted(belief, candidates) and not truncated:
        return "count"
    return "all" if all(c.returning for c in candidates) else "others"


def is_counted(belief: Belief, candidates: Sequence[Candidate]) -> bool:
    """Tell whether the question asks how many there are; a number is itself what "how many" asks for."""
    return belief.asked.kind == "count" and any(number_of(each.term) is None for each in candidates)


def finding(chain: Chain, candidates: Sequence[Candidate]) -> str:
    """Say a chain and some of its ends: ``mouth of river of Ulm: Black Sea``."""
    said = [spoken(hop.words) for hop in reversed(chain.hops)]
    names = [one_line(str(candidate.term), 40) for candidate in candidates[:NAMED]]
    if len(candidates) > NAMED:
        names.append(f"{len(candidates) - NAMED} more")
    return one_line(f"{' of '.join([*said, str(chain.topic)])}: {', '.join(names)}")
