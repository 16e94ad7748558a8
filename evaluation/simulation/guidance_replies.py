"""Replies that guide a search: subgoals, an adapted blueprint, the decision to blame for a failure."""

from collections.abc import Iterable

from kgqa.evaluation.simulation.oracle import Case
from kgqa.kg.terms import local_name
from kgqa.prompts.diagnose import MAX_BRANCHES_SHOWN, MAX_DECISIONS_SHOWN, Diagnose, Diagnosis
from kgqa.prompts.translate_question import TranslatedQuestion, TranslateQuestion


async def translate_question(prompt: TranslateQuestion, case: Case) -> TranslatedQuestion:
    """Leave a question as it is: gold says nothing of its words."""
    return TranslatedQuestion(question=None)


async def diagnose(prompt: Diagnose, case: Case) -> Diagnosis:
    """Blame the first decision that left the gold path, and recall what goes on along it.

    A wrong verdict blames another decision; the choice among what that one has pruned errs as
    often as a choice of relations does.
    """
    shown = range(max(1, len(prompt.trajectory) - MAX_DECISIONS_SHOWN + 1), len(prompt.trajectory) + 1)
    step = await _first_wrong_step(prompt, shown, case)
    if case.happens("judge"):
        others = [number for number in (0, *shown) if number != step]
        step = next(case.draws.shuffled("wrong step", others), step)
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
