"""Judges chains."""

from typing import get_args

from kgqa.evaluation.simulation.case import Case, wrong_choice
from kgqa.evaluation.simulation.gold import Gold, Marks
from kgqa.prompts.candidates import SHOWN, Take, aggregate, taken
from kgqa.prompts.verify_chain import Decision, Verdict, VerifyChain

_BACKTRACK = Verdict(decision="backtrack")
_COMPUTED: tuple[Take, ...] = ("count", "smallest", "largest")


async def verify(prompt: VerifyChain, case: Case) -> Verdict:
    """Judge a chain by where it leads.

    A wrong verdict is another of those offered; a wrong choice of entities takes others.
    """
    marks = case.oracle.gold.mark([candidate.term for candidate in prompt.candidates])
    right = await _right(prompt, marks, case)
    if case.happens("judge"):
        return Verdict(decision=_another(right.decision, prompt, case))
    if right.decision == "stop" and case.happens("entity"):
        wrong = wrong_choice(_numbers(marks), min(SHOWN, len(prompt.candidates)), case.draws)
        return Verdict(decision="stop", take="some", chosen=wrong) if wrong else right
    return right


async def _right(prompt: VerifyChain, marks: Marks, case: Case) -> Verdict:
    """Stop at the end of a way, go on along one, turn back from anywhere else.

    A chain that is no way but has led to the gold answers, and to nothing else, stops too.
    """
    rests = await case.oracle.rests(prompt.chain)
    if () in rests:
        awaits = case.oracle.gold.is_number and await case.oracle.awaits_others(prompt.chain)
        verdict = _complete(prompt, marks, case.oracle.gold, awaits=awaits)
        if verdict is not _BACKTRACK:
            return verdict
    if any(rests):
        return Verdict(decision="forward")
    take = _exact(prompt, marks, case.oracle.gold)
    return Verdict(decision="stop", take=take) if take else _BACKTRACK


def _complete(prompt: VerifyChain, marks: Marks, gold: Gold, *, awaits: bool) -> Verdict:
    """Say what is the answer at the end of a way, or that the gold answers are not there.

    A number that is computed from what several topics lead to is computed at the last of them;
    the others await it.
    """
    if take := _exact(prompt, marks, gold):
        return Verdict(decision="stop", take=take)
    if not awaits and (take := _computed(prompt, gold)):
        return Verdict(decision="stop", take=take)
    if any(marks.right):
        return _among(prompt, marks)
    return Verdict(decision="stop") if awaits else _BACKTRACK


def _exact(prompt: VerifyChain, marks: Marks, gold: Gold) -> Take | None:
    """Find what to take so that the gold answers are taken and nothing else."""
    if marks.exact:
        return "all"
    others = taken("others", (), prompt.candidates)
    return "others" if len(others) < len(marks.right) and gold.mark(others).exact else None


def _computed(prompt: VerifyChain, gold: Gold) -> Take | None:
    """Find what to compute from the candidates so that it is the gold answer."""
    for take in _COMPUTED if gold.is_single and not prompt.truncated else ():
        value = aggregate(take, taken(take, (), prompt.candidates))
        if value is not None and gold.mark([value]).exact:
            return take
    return None


def _among(prompt: VerifyChain, marks: Marks) -> Verdict:
    """Apply what is left of the question where gold answers are among other candidates.

    A model that may not filter answers with all candidates, as the paper's ablation does
    (CoR, Table 3). Filtering keeps nothing that returns to the topic if anything else is there.
    """
    returning = [candidate.returning for candidate in prompt.candidates]
    wanted = any(right and back for right, back in zip(marks.right, returning, strict=True))
    take: Take = "others" if any(returning) and not (wanted or all(returning)) else "all"
    left = [right for right, back in zip(marks.right, returning, strict=True) if take == "all" or not back]
    if all(left) or not prompt.filtering:
        return Verdict(decision="stop", take=take)
    if wanted and not all(returning) and (numbers := _numbers(marks)):
        return Verdict(decision="stop", take="some", chosen=numbers)
    return Verdict(decision="filter")


def _numbers(marks: Marks) -> list[int]:
    """Number the gold answers among the candidates that a prompt shows."""
    return [number for number, right in enumerate(marks.right[:SHOWN], 1) if right]


def _another(right: Decision, prompt: VerifyChain, case: Case) -> Decision:
    """Draw a decision that is offered and not right."""
    offered: list[Decision] = [d for d in get_args(Decision) if d != "filter" or prompt.filtering]
    return next(case.draws.shuffled("wrong verdict", [d for d in offered if d != right]))
