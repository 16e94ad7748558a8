"""Replies to prompts that judge one chain by where it leads, or which decision was wrong."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias, get_args

from kgqa.evaluation.simulation.gold_answers import AnswerMarks, GoldAnswers
from kgqa.evaluation.simulation.oracle import Case, wrong_choice
from kgqa.kg.pages import Candidate
from kgqa.kg.proof.query import Aggregate
from kgqa.kg.terms import Chain, local_name
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN, Take, aggregate, taken_terms
from kgqa.prompts.check_sufficiency import CheckSufficiency, Sufficiency
from kgqa.prompts.diagnose import MAX_BRANCHES_SHOWN, MAX_DECISIONS_SHOWN, Diagnose, Diagnosis
from kgqa.prompts.verify_chain import ChainDecision, Verdict, VerifyChain

JudgedChain: TypeAlias = VerifyChain | CheckSufficiency


async def _judge_chain(seen: JudgedChain, case: Case) -> Verdict:
    """Stop at the end of a gold path, go on along one, turn back from anywhere else.

    A chain that is no gold path but has led to the gold answers, and to nothing else, stops too. What
    meets a condition is named with the verdict where it may be, all candidates are shown, and no other
    topic is still to come that says which.
    """
    marks = _mark_candidates(seen, case)
    rests = await case.rests(seen.chain)
    if () in rests and seen.candidates:
        others = await case.oracle.finder.after(seen.chain.topic)
        if others and seen.awaited and (said := await _judge_own_part(seen, case)):
            return said
        if found := _judge_complete(seen, marks, case.gold, others=others):
            return found
        if seen.filtering and case.oracle.is_discriminative(seen.chain):  # what is counted meets conditions
            return Verdict(decision="filter")
    if any(rests):
        return Verdict(decision="forward")
    take = None if case.oracle.asks_more else find_exact_take(seen.candidates, marks, case.gold)
    return Verdict(decision="stop", take=take) if take else Verdict(decision="backtrack")


async def _judge_own_part(seen: JudgedChain, case: Case) -> Verdict | None:
    """Judge a chain that other topics will narrow: filter or count where the question does so beside them."""
    if seen.filtering and case.oracle.is_discriminative(seen.chain):
        return Verdict(decision="filter")
    if await topics_suffice(case):
        return Verdict(decision="stop")
    counts = case.oracle.aggregate(seen.chain) == Aggregate("count")
    return Verdict(decision="stop", take="count") if counts and not seen.truncated else None


async def topics_suffice(case: Case) -> bool:
    """Return whether the gold answers are what the gold paths from all topics lead to, and nothing else."""
    plans = await case.oracle.plans()
    ends = [{*await case.cache.ends(Chain(topic, hops))} for topic, hops in plans]
    return len(ends) > 1 and case.gold.mark(list(ends[0].intersection(*ends[1:]))).exact


def _misjudge_chain(right: Verdict, seen: JudgedChain, case: Case) -> Verdict:
    """Err where a draw says so: another decision of those offered, or a stop that takes others."""
    if case.happens("judge"):
        refused = {"stop", "filter"} if not seen.candidates else set() if seen.filtering else {"filter"}
        offered: list[ChainDecision] = [each for each in get_args(ChainDecision) if each not in refused]
        return Verdict(decision=case.draw_other("wrong verdict", offered, right.decision))
    stops = right.decision == "stop"
    if not (seen.filtering and (stops or right.chosen) and case.happens("entity")):
        return right
    numbers, shown = _gold_numbers(_mark_candidates(seen, case)), seen.candidates[:MAX_CANDIDATES_SHOWN]
    wrong = wrong_choice(numbers, len(shown), case.draws)
    return Verdict(decision=right.decision, take="some" if stops else "all", chosen=wrong) if wrong else right


def _mark_candidates(seen: JudgedChain, case: Case) -> AnswerMarks:
    return case.gold.mark([candidate.term for candidate in seen.candidates])


def _judge_complete(
    seen: JudgedChain, marks: AnswerMarks, gold: GoldAnswers, *, others: bool
) -> Verdict | None:
    """Say what is the answer at the end of a gold path; None where the gold answers are not there.

    A number that is computed from what several topics lead to is computed at the last of them;
    the ``others`` await it.
    """
    awaits = others and gold.is_number
    if take := find_exact_take(seen.candidates, marks, gold):
        return Verdict(decision="stop", take=take)
    if not (awaits or seen.truncated) and (take := find_computed_take(seen.candidates, gold)):
        return Verdict(decision="stop", take=take)
    if any(marks.right):
        return _judge_among_others(seen, marks, others=others)
    return Verdict(decision="stop") if awaits else None


def find_exact_take(candidates: Sequence[Candidate], marks: AnswerMarks, gold: GoldAnswers) -> Take | None:
    """Find what to take so that the gold answers are taken and nothing else."""
    if marks.exact:
        return "all"
    others = taken_terms("others", (), candidates)
    return "others" if len(others) < len(marks.right) and gold.mark(others).exact else None


def find_computed_take(candidates: Sequence[Candidate], gold: GoldAnswers) -> Take | None:
    """Find what to compute from the candidates so that it is the gold answer."""
    for take in gold.takes:
        value = aggregate(take, taken_terms(take, (), candidates))
        if value is not None and gold.mark([value]).exact:
            return take
    return None


def _judge_among_others(seen: JudgedChain, marks: AnswerMarks, *, others: bool) -> Verdict:
    """Apply what is left of the question where gold answers are among other candidates.

    A model that may not filter answers with all candidates, as the paper's ablation does
    (CoR, Table 3). Filtering keeps nothing that returns to the topic if anything else is there.
    """
    returning = [candidate.returning for candidate in seen.candidates]
    wanted = any(right and back for right, back in zip(marks.right, returning, strict=True))
    take: Take = "others" if any(returning) and not (wanted or all(returning)) else "all"
    left = [right for right, back in zip(marks.right, returning, strict=True) if take == "all" or not back]
    if all(left) or not seen.filtering:
        return Verdict(decision="stop", take=take)
    if wanted and not all(returning) and (numbers := _gold_numbers(marks)):
        return Verdict(decision="stop", take="some", chosen=numbers)
    whole = not (others or seen.truncated or len(seen.candidates) > MAX_CANDIDATES_SHOWN)
    names = whole and isinstance(seen, CheckSufficiency) and not seen.attributes
    return Verdict(decision="filter", chosen=_gold_numbers(marks) if names else [])


def _gold_numbers(marks: AnswerMarks) -> list[int]:
    """Number the gold answers among the candidates that a prompt shows."""
    return [number for number in marks.numbers if number <= MAX_CANDIDATES_SHOWN]


async def verify_chain(prompt: VerifyChain, case: Case) -> Verdict:
    """Judge a chain by where it leads.

    A wrong verdict is another of those offered; a wrong choice of entities takes others.
    """
    said = _misjudge_chain(await _judge_chain(prompt, case), prompt, case)
    return said.model_copy(update={"united": await _chains_to_unite(prompt, said, case)})


async def _chains_to_unite(prompt: JudgedChain, said: Verdict, case: Case) -> list[int]:
    """Number the chains beside this one that lead to gold answers it lacks; to others only for a filter."""
    own = [candidate.term for candidate in prompt.candidates]
    if said.decision not in {"stop", "filter"} or not case.gold.mark(own).missing:
        return []
    ends = {n: [end.term for end in each.named] for n, each in enumerate(prompt.siblings, 1)}
    right = any if said.decision == "filter" else all
    lacking = {n: terms for n, terms in ends.items() if terms and right(case.gold.mark(terms).right)}
    return [n for n, terms in lacking.items() if not {*terms} <= {*own}]


async def check_sufficiency(prompt: CheckSufficiency, case: Case) -> Sufficiency:
    """Judge a chain by where it leads, and go on from all of its ends.

    A wrong verdict is another of those offered; a wrong choice of entities takes others, or goes
    on from a candidate that leads astray. A chain that leads astray establishes nothing.
    """
    right = await _judge_chain(prompt, case)
    said = _misjudge_chain(right, prompt, case)
    ends = {number: candidate.term for number, candidate in enumerate(prompt.candidates, 1)}
    whole = not prompt.truncated and len(ends) <= MAX_CANDIDATES_SHOWN
    strays = whole and said == right and right.decision == "forward"
    return Sufficiency(
        finding="" if right.decision == "backtrack" else f"reached {prompt.chain.hops[-1].words}",
        decision=said.decision,
        take=said.take,
        chosen=said.chosen,
        keep=await case.narrow(prompt.chain, ends) if strays else [],
        united=await _chains_to_unite(prompt, said, case),
    )


async def diagnose(prompt: Diagnose, case: Case) -> Diagnosis:
    """Blame the first decision that left the gold path, and recall what goes on along it.

    A wrong verdict blames another decision; the choice among what that one has pruned errs as
    often as a choice of relations does.
    """
    shown = range(max(1, len(prompt.trajectory) - MAX_DECISIONS_SHOWN + 1), len(prompt.trajectory) + 1)
    step = case.judge("wrong step", (0, *shown), await _first_wrong_step(prompt, shown, case))
    recall, misleads = await _recall_pruned(prompt, step, case), await _is_misleading(prompt.blueprint, case)
    return Diagnosis(step=step, recall=recall, blueprint="drop" if misleads else "keep")


async def _first_wrong_step(prompt: Diagnose, shown: Iterable[int], case: Case) -> int:
    """Number the first decision that left all gold paths; 0 if there is none."""
    for number in shown:
        decided = prompt.trajectory[number - 1]
        goes_on = await case.leads_on(decided.before)
        if goes_on and not (decided.after and await case.rests(decided.after)):
            return number
    return 0


async def _recall_pruned(prompt: Diagnose, step: int, case: Case) -> list[int]:
    """Choose among what a decision has pruned; where the model recalls the right ones, they come last."""
    shown = list(enumerate(prompt.pruned[:MAX_BRANCHES_SHOWN], 1))
    offered = [number for number, branch in shown if branch.step == step]
    right = [number for number in offered if await case.rests(prompt.pruned[number - 1].chain)]
    wrong = case.draw_wrongly("wrong branches", right, offered)
    return wrong + right if not wrong or case.happens("recall") else wrong


async def _is_misleading(blueprint: str, case: Case) -> bool:
    """Return whether a blueprint has no relation in common with the gold paths."""
    plain = f" {blueprint.replace('^', '')} "
    hops = [hop for plan in await case.oracle.plans() for hop in plan.hops]
    shared = any(f" {name} " in plain for hop in hops for name in (hop.words, local_name(hop.relation)))
    return bool(blueprint and hops) and not shared
