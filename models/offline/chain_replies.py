"""Replies about one chain at a time: which hop to follow, where to stop, which ends are answers."""

from collections.abc import Sequence
from typing import Literal as Choice, NamedTuple

from kgqa.kg.pages import Candidate
from kgqa.kg.terms import Chain, one_line
from kgqa.models.offline.ablation import NO_FACTS
from kgqa.models.offline.interpreter import Interpretation, QuestionInterpreter
from kgqa.models.offline.question_words import relation_phrase
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, AdaptedBlueprint
from kgqa.prompts.answer_directly import AnswerDirectly, DirectAnswer
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, Take, parse_number
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency
from kgqa.prompts.decompose import Decompose, Subgoals
from kgqa.prompts.diagnose import MAX_BRANCHES_SHOWN, Diagnose, Diagnosis
from kgqa.prompts.filter_candidates import FilterCandidates, FilteredCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Inferred
from kgqa.prompts.prune_relations import PrunedRelations, PruneRelations
from kgqa.prompts.solved_questions import MAX_BRANCH_HOPS
from kgqa.prompts.verify_chain import Verdict, VerifyChain

MAX_NAMED_CANDIDATES = 3
"""Candidates that a finding names."""


async def verify_chain(prompt: VerifyChain, believer: QuestionInterpreter) -> Verdict:
    """Stop at the end of a way, the believed one before others; go on before it, turn back beside all."""
    belief = await _interpret_prompt(prompt, believer)
    judged = judge_chain(
        belief, prompt.chain, prompt.candidates, prompt.truncated, filtering=prompt.filtering
    )
    return Verdict(
        rationale=belief.reason, decision=judged.decision, take=judged.take, chosen=list(judged.chosen)
    )


async def check_sufficiency(prompt: CheckSufficiency, believer: QuestionInterpreter) -> Sufficiency:
    """Judge as `verify` does, and say what the chain leads to."""
    belief = await _interpret_prompt(prompt, believer)
    judged = judge_chain(belief, prompt.chain, prompt.candidates, prompt.truncated)
    return Sufficiency(
        rationale=belief.reason,
        finding="" if judged.decision == "backtrack" else describe_finding(prompt.chain, prompt.candidates),
        decision=judged.decision,
        take=judged.take,
        chosen=list(judged.chosen),
    )


async def filter_candidates(prompt: FilterCandidates, believer: QuestionInterpreter) -> FilteredCandidates:
    """Choose the candidates that are believed to be answers."""
    belief = await _interpret_prompt(prompt, believer)
    chosen = belief.right(prompt.chain, prompt.candidates[:MAX_CANDIDATES_SHOWN])
    counting = asks_for_count(belief, prompt.candidates)
    return FilteredCandidates(rationale=belief.reason, chosen=chosen, count=counting)


async def infer_answers(prompt: InferFromEvidence, believer: QuestionInterpreter) -> Inferred:
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


class ChainJudgement(NamedTuple):
    """What to do with a chain and, for ``stop``, which of its ends are the answer."""

    decision: Choice["stop", "forward", "filter", "backtrack"]
    take: Take = "all"
    chosen: tuple[int, ...] = ()


async def _interpret_prompt(
    prompt: VerifyChain | CheckSufficiency | FilterCandidates, believer: QuestionInterpreter
) -> Interpretation:
    return await believer.believe(prompt.question, prompt.topics or (prompt.chain.topic,))


def judge_chain(
    belief: Interpretation,
    chain: Chain,
    candidates: Sequence[Candidate],
    truncated: bool,
    *,
    filtering: bool = True,
    shown: int = MAX_CANDIDATES_SHOWN,
) -> ChainJudgement:
    """Judge a chain by what is left to go after it, and by those of its ends that are answers.

    Only the first ``shown`` candidates can be chosen; where others are answers, they are filtered for.
    """
    rest = belief.rest(chain)
    if rest is None:
        return ChainJudgement("backtrack")
    if rest:
        return ChainJudgement("forward")
    right = belief.right(chain, candidates)
    if not right:
        return ChainJudgement("backtrack")
    if len(right) == len(candidates):
        return ChainJudgement("stop", _choose_ends(candidates, truncated, belief))
    if filtering and (right[-1] > shown or asks_for_count(belief, candidates)):
        return ChainJudgement("filter")
    chosen = tuple(number for number in right if number <= shown)
    return ChainJudgement("stop", "some", chosen) if chosen else ChainJudgement("backtrack")


def _choose_ends(candidates: Sequence[Candidate], truncated: bool, belief: Interpretation) -> Take:
    """Leave out what comes back to the topic, where there is anything else."""
    if asks_for_count(belief, candidates) and not truncated:
        return "count"
    return "all" if all(c.returning for c in candidates) else "others"


def asks_for_count(belief: Interpretation, candidates: Sequence[Candidate]) -> bool:
    """Return whether the question asks how many there are; a number is itself what "how many" asks for."""
    return belief.asked.kind == "count" and any(parse_number(each.term) is None for each in candidates)


def describe_finding(chain: Chain, candidates: Sequence[Candidate]) -> str:
    """Say a chain and some of its ends: ``mouth of river of Ulm: Black Sea``."""
    said = [relation_phrase(hop.words) for hop in reversed(chain.hops)]
    names = [one_line(str(candidate.term), 40) for candidate in candidates[:MAX_NAMED_CANDIDATES]]
    if len(candidates) > MAX_NAMED_CANDIDATES:
        names.append(f"{len(candidates) - MAX_NAMED_CANDIDATES} more")
    return one_line(f"{' of '.join([*said, str(chain.topic)])}: {', '.join(names)}")


async def prune_relations(prompt: PruneRelations, believer: QuestionInterpreter) -> PrunedRelations:
    """Choose the relation that the believed way goes on by, then those of others; nothing beside all ways."""
    belief = await believer.believe(prompt.question, prompt.topics or (prompt.chain.topic,))
    numbers = {hop: number for number, hop in enumerate(prompt.hops, 1)}
    hops = belief.next_hops(prompt.chain)
    chosen = [numbers[hop] for hop in hops if hop in numbers] if hops and hops[0] in numbers else []
    return PrunedRelations(rationale=belief.reason, relations=chosen[: prompt.width])


async def diagnose_branch(prompt: Diagnose, believer: QuestionInterpreter) -> Diagnosis:
    """Recall the last branch on the believed way; without one, what was chosen last and not tried."""
    shown = list(enumerate(prompt.pruned[:MAX_BRANCHES_SHOWN], 1))
    if not shown:
        return Diagnosis(rationale="no branch is left", step=0)
    topics = prompt.topics or tuple(dict.fromkeys(branch.chain.topic for _, branch in shown))
    belief = await believer.believe(prompt.question, topics)
    right = [(number, branch) for number, branch in shown if belief.begins_with(branch.chain)]
    number, branch = max(
        right or shown, key=lambda each: (each[1].step, each[1].waiting, each[1].relevance or 0.0, -each[0])
    )
    why = belief.reason if right else "the last decision with a branch left"
    return Diagnosis(rationale=why, step=branch.step, recall=[number])


async def decompose(prompt: Decompose, _: QuestionInterpreter) -> Subgoals:
    """Take the question as the only subgoal: words alone do not tell what is found first."""
    return Subgoals(rationale="the question is its own subgoal", subgoals=[prompt.question.strip() or "?"])


async def adapt_blueprint(prompt: AdaptBlueprint, believer: QuestionInterpreter) -> AdaptedBlueprint:
    """Return the believed ways; where there are none, the nearest exemplar as it is, or a relation."""
    belief = await believer.believe(prompt.question, prompt.topics)
    chains = [belief.chains.get(topic) for topic in prompt.topics]
    known = [[("" if hop.forward else "^") + hop.words for hop in chain.hops] for chain in chains if chain]
    if not known:
        nearest = prompt.exemplars[0].branches if prompt.exemplars else (prompt.relations[:1],)
        branches = [list(branch[:MAX_BRANCH_HOPS]) for branch in nearest[: max(1, len(prompt.topics))]]
        return AdaptedBlueprint(rationale=belief.reason, branches=branches)
    ways = iter(known)
    branches = [next(ways) if chain else known[0] for chain in chains]
    return AdaptedBlueprint(rationale=belief.reason, branches=branches)


async def abstain(prompt: AnswerDirectly, _: QuestionInterpreter) -> DirectAnswer:
    """Answer nothing: the search before has found nothing."""
    return DirectAnswer(rationale=NO_FACTS, answers=[])
