"""Finds the decision that led astray."""

from collections.abc import Iterable

from kgqa.evaluation.simulation.case import Case
from kgqa.kg.terms import local_name
from kgqa.prompts.diagnose import BRANCHES, DECISIONS, Diagnose, Diagnosis


async def diagnose(prompt: Diagnose, case: Case) -> Diagnosis:
    """Blame the first decision that left the way, and recall what goes on along it.

    A wrong verdict blames another decision; the choice among what that one has pruned errs as
    often as a choice of relations does.
    """
    shown = range(max(1, len(prompt.trajectory) - DECISIONS + 1), len(prompt.trajectory) + 1)
    step = await _astray(prompt, shown, case)
    if case.happens("judge"):
        others = [number for number in (0, *shown) if number != step]
        step = next(case.draws.shuffled("wrong step", others), step)
    misleads = await _misleads(prompt.blueprint, case)
    return Diagnosis(
        step=step, recall=await _recalled(prompt, step, case), blueprint="drop" if misleads else "keep"
    )


async def _astray(prompt: Diagnose, shown: Iterable[int], case: Case) -> int:
    """Number the first decision after which no way goes on although one did before; 0 if there is none."""
    for number in shown:
        decided = prompt.trajectory[number - 1]
        goes_on = any(await case.oracle.rests(decided.before))
        if goes_on and not (decided.after and await case.oracle.rests(decided.after)):
            return number
    return 0


async def _recalled(prompt: Diagnose, step: int, case: Case) -> list[int]:
    """Choose among what a decision has pruned; where the model recalls the right ones, they come last."""
    shown = list(enumerate(prompt.pruned[:BRANCHES], 1))
    offered = [number for number, branch in shown if branch.step == step]
    right = [number for number in offered if await case.oracle.rests(prompt.pruned[number - 1].chain)]
    others = [number for number in offered if number not in right]
    if case.happens("accuracy") or not others:
        return right
    drawn = list(case.draws.shuffled("wrong branches", others))
    return drawn[: max(1, len(right))] + (right if case.happens("recall") else [])


async def _misleads(blueprint: str, case: Case) -> bool:
    """Tell whether a blueprint has no relation in common with the ways."""
    plain = f" {blueprint.replace('^', '')} "
    hops = [hop for plan in await case.oracle.plans() for hop in plan.hops]
    shared = any(f" {name} " in plain for hop in hops for name in (hop.words, local_name(hop.relation)))
    return bool(blueprint and hops) and not shared
