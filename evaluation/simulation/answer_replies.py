"""Replies that answer: from memory, by choosing among candidates, by judging a claim."""

from collections.abc import Sequence

from kgqa.evaluation.simulation.case import Case, wrong_choice
from kgqa.evaluation.simulation.gold_answers import YesNoVerdict
from kgqa.evaluation.simulation.plan_evidence import facts_at_gold_end, facts_on_gold_chain
from kgqa.kg.pages import Candidate
from kgqa.prompts.answer_briefly import AnswerBriefly, BriefAnswer
from kgqa.prompts.answer_directly import AnswerDirectly, DirectAnswer
from kgqa.prompts.candidates import MAX_CANDIDATES_SHOWN
from kgqa.prompts.filter_candidates import FilterCandidates, FilteredCandidates
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Inferred
from kgqa.prompts.judge_claim import JudgeClaim, Judgement
from kgqa.prompts.reason_aloud import ReasonAloud, ReasonedAnswer


async def answer_directly(prompt: AnswerDirectly, case: Case) -> DirectAnswer:
    """Name the gold answers, or say that they are not known."""
    return DirectAnswer(answers=case.oracle.gold.names if case.happens("memory") else [])


async def answer_briefly(prompt: AnswerBriefly, case: Case) -> BriefAnswer:
    """Name the gold answers, or say that they are not known."""
    return BriefAnswer(answers=case.oracle.gold.names if case.happens("memory") else [])


async def reason_aloud(prompt: ReasonAloud, case: Case) -> ReasonedAnswer:
    """Name the gold answers, or say that they are not known; all samples agree."""
    knows = case.happens("memory")
    said = "It is known." if knows else "It is not known."
    return ReasonedAnswer(reasoning=said, answers=case.oracle.gold.names if knows else [])


async def filter_candidates(prompt: FilterCandidates, case: Case) -> FilteredCandidates:
    """Choose the gold answers; a wrong choice is of others."""
    return FilteredCandidates(chosen=_choose_gold(prompt.candidates[:MAX_CANDIDATES_SHOWN], case))


async def infer_from_evidence(prompt: InferFromEvidence, case: Case) -> Inferred:
    """Choose the gold answers; a wrong choice is of others."""
    return Inferred(chosen=_choose_gold(prompt.offered, case))


def _choose_gold(shown: Sequence[Candidate], case: Case) -> list[int]:
    marks = case.oracle.gold.mark([candidate.term for candidate in shown])
    right = [number for number, is_gold in enumerate(marks.right, 1) if is_gold]
    return wrong_choice(right, len(shown), case.draws) if case.happens("entity") else right


_YES_NO_VERDICTS: tuple[YesNoVerdict, ...] = ("yes", "no", "unknown")


async def judge_claim(prompt: JudgeClaim, case: Case) -> Judgement:
    """Return the gold verdict, borne by the facts on a way; unknown where there are none.

    Of the facts at the end of a way those count that lead to another topic, if any does. A
    wrong verdict is another, borne by the same facts.
    """
    bearing = await _relevant_facts(prompt, case)
    verdict: YesNoVerdict = case.oracle.gold.verdict or "unknown"
    if case.happens("judge"):
        verdict = next(case.draws.shuffled("wrong verdict", [v for v in _YES_NO_VERDICTS if v != verdict]))
    if not bearing:
        return Judgement(verdict="unknown")
    favour, against = bearing * (verdict == "yes"), bearing * (verdict == "no")
    return Judgement(verdict=verdict, favour=favour, against=against)


async def _relevant_facts(prompt: JudgeClaim, case: Case) -> list[int]:
    offered = prompt.offered
    facts = await facts_at_gold_end(offered, case) or await facts_on_gold_chain(offered, case)
    topics = {*prompt.topics, *await case.oracle.topics()}
    telling = {path for path in facts if path.end in topics} or set(facts)
    return [number for number, path in enumerate(offered, 1) if path in telling]
