"""Replies about one chain at a time: which hop to follow, where to stop, which ends are answers."""

from collections.abc import Sequence
from itertools import chain as joined

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, one_line
from kgqa.models.decisive import candidates_to_filter, decisive_replies
from kgqa.models.offline.interpretation import Interpretation
from kgqa.prompts.apply_conditions import ApplyConditions, StatedConditions
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, ChainFindings, Take
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency
from kgqa.prompts.diagnose import MAX_BRANCHES_SHOWN, Diagnose, Diagnosis
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Inferred
from kgqa.prompts.prune_relations import PrunedRelations, PruneRelations
from kgqa.prompts.verify_chain import Verdict, VerifyChain
from kgqa.retrieval.wording import relation_phrase

_MAX_NAMED_CANDIDATES = 3  # that a finding names


async def judge_chain(
    known: Interpretation,
    chain: Chain,
    candidates: Sequence[Candidate],
    truncated: bool,
    *,
    filtering: bool = True,
    shown: int = MAX_CANDIDATES_SHOWN,
    attributes: bool = False,
    siblings: Sequence[ChainFindings] = (),
) -> Verdict:
    """Judge a chain by what is left to go after it, and by those of its ends that are answers.

    Only the first ``shown`` candidates can be chosen; where others are answers, they are filtered for.
    Without ``filtering`` candidates are not told apart: all are answers, if any is. With ``attributes`` a
    filter may tell them apart by a condition. ``siblings`` that say the same as a chain of which all ends are
    answers are united with it.
    """
    rest = known.remaining_hops(chain)
    right = await known.answers_among(chain, candidates)
    if rest:
        return Verdict(decision="forward")
    if rest is None or not right:
        return Verdict(decision="backtrack")
    counted = await known.counts(candidates)
    if len(right) == len(candidates) or not filtering:
        # what comes back to the topic is left out, where there is anything else
        take: Take = "all" if all(each.returning for each in candidates) else "others"
        take = "count" if counted and not truncated else take
        united = [
            number
            for number, each in enumerate(siblings, 1)
            if known.answers is None and known.says_the_same(chain) and known.says_the_same(each.chain)
        ]
        return Verdict(decision="stop", take=take, united=united)
    if right[-1] > shown or counted or attributes:
        return Verdict(decision="filter")
    return Verdict(decision="stop", take="some", chosen=right)


def describe_finding(chain: Chain, candidates: Sequence[Candidate]) -> str:
    """Say a chain and some of its ends: ``mouth of river of Ulm: Black Sea``."""
    said = [relation_phrase(hop.words) for hop in reversed(chain.hops)]
    names = [one_line(str(candidate.term), 40) for candidate in candidates[:_MAX_NAMED_CANDIDATES]]
    if len(candidates) > _MAX_NAMED_CANDIDATES:
        names.append(f"{len(candidates) - _MAX_NAMED_CANDIDATES} more")
    return one_line(f"{' of '.join([*said, str(chain.topic)])}: {', '.join(names)}")


async def verify_chain(prompt: VerifyChain, known: Interpretation) -> Verdict:
    """Stop at the end of a known chain, the chosen one first; go on before it, turn back beside all."""
    filtering, attributes = prompt.filtering, prompt.attributes
    seen = prompt.chain, prompt.candidates, prompt.truncated
    siblings = prompt.siblings
    return await judge_chain(known, *seen, filtering=filtering, attributes=attributes, siblings=siblings)


async def check_sufficiency(prompt: CheckSufficiency, known: Interpretation) -> Sufficiency:
    """Judge as `verify_chain` does, and say what the chain leads to."""
    seen = prompt.chain, prompt.candidates, prompt.truncated
    judged = await judge_chain(known, *seen, attributes=prompt.attributes, siblings=prompt.siblings)
    finding = "" if judged.decision == "backtrack" else describe_finding(prompt.chain, prompt.candidates)
    return Sufficiency(finding=finding, **vars(judged))


async def apply_conditions(prompt: ApplyConditions, known: Interpretation) -> StatedConditions:
    """State what leaves the answers by the interpretation: values and types in the question, an extreme.

    Where there is no such condition, the answers are chosen.
    """
    chosen = await known.answers_among(prompt.chain, prompt.offered)
    counting, whole = await known.counts(prompt.candidates), len(prompt.offered) == len(prompt.candidates)
    if whole and 0 < len(chosen) < len(prompt.offered):
        wanted = [prompt.offered[number - 1].term for number in chosen]
        for reply, basis in decisive_replies(candidates_to_filter(prompt), wanted):
            if basis == "named" or (basis == "extreme" and reply.extreme == known.intent.kind):
                count = counting and reply.extreme == "none"
                return reply.model_copy(update={"count": count})
    if not chosen or (whole and len(chosen) == len(prompt.offered)):
        return StatedConditions(fits="all" if chosen else "none", count=counting)
    return StatedConditions(chosen=chosen, count=counting, words=prompt.question)


async def infer_from_evidence(prompt: InferFromEvidence, known: Interpretation) -> Inferred:
    """Choose the ends of complete chains that are answers by the interpretation."""
    chains = [segment.chain for segment in prompt.segments for _ in segment.ends]
    chosen = [
        number
        for number, (chain, end) in enumerate(zip(chains, prompt.offered, strict=False), 1)
        if known.is_chosen(chain) and await known.answers_among(chain, (end,))
    ]
    return Inferred(chosen=chosen)


async def prune_relations(prompt: PruneRelations, known: Interpretation) -> PrunedRelations:
    """Choose the relation that the chosen chain goes on by, then those of others; none beside all chains.

    Where it is not offered, an inverse of it may be.
    """
    rests = [rest for rest in known.rests(prompt.chain) if rest]
    if not rests:
        return PrunedRelations(relations=[])
    chosen, *others = rests
    offers = {number: offer.hops for number, offer in enumerate(prompt.offers, 1)}
    exact = [
        [number for number, hops in offers.items() if rest[: len(hops)] == hops] for rest in (chosen, *others)
    ]
    topic, gone = prompt.chain.topic, prompt.chain.hops
    whole = Chain(topic, (*gone, *chosen))
    first = exact[0] or [
        number for number, hops in offers.items() if known.goes_along(whole, Chain(topic, (*gone, *hops)))
    ]
    relations = [*dict.fromkeys([*first, *joined.from_iterable(exact)])] if first else []
    return PrunedRelations(relations=relations[: prompt.width])


async def diagnose(prompt: Diagnose, known: Interpretation) -> Diagnosis:
    """Recall the last branch on the chosen chain; without one, what was chosen last and not tried."""
    shown = list(enumerate(prompt.pruned[:MAX_BRANCHES_SHOWN], 1))
    if not shown:
        return Diagnosis(rationale="no branch is left", step=0)
    right = [(number, branch) for number, branch in shown if known.starts_with(branch.chain)]
    number, branch = max(
        right or shown, key=lambda each: (each[1].step, each[1].waiting, each[1].relevance or 0.0, -each[0])
    )
    why = "" if right else "the last decision with a branch left"
    return Diagnosis(rationale=why, step=branch.step, recall=[number])
