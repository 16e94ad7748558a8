"""Says yes or no by facts."""

from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.evidence import arrived, on_the_way
from kgqa.evaluation.simulation.gold import Verdict
from kgqa.prompts.judge_claim import JudgeClaim, Judgement

_VERDICTS: tuple[Verdict, ...] = ("yes", "no", "unknown")


async def judge_claim(prompt: JudgeClaim, case: Case) -> Judgement:
    """Give the gold verdict, borne by the facts on a way; unknown where there are none.

    Of the facts at the end of a way those count that lead to another topic, if any does. A
    wrong verdict is another, borne by the same facts.
    """
    bearing = await _bearing(prompt, case)
    verdict: Verdict = case.oracle.gold.verdict or "unknown"
    if case.happens("judge"):
        verdict = next(case.draws.shuffled("wrong verdict", [v for v in _VERDICTS if v != verdict]))
    if not bearing:
        return Judgement(verdict="unknown")
    favour, against = bearing * (verdict == "yes"), bearing * (verdict == "no")
    return Judgement(verdict=verdict, favour=favour, against=against)


async def _bearing(prompt: JudgeClaim, case: Case) -> list[int]:
    offered = prompt.offered
    facts = await arrived(offered, case) or await on_the_way(offered, case)
    topics = {*prompt.topics, *await case.oracle.topics()}
    telling = {path for path in facts if path.end in topics} or set(facts)
    return [number for number, path in enumerate(offered, 1) if path in telling]
