"""Revises a plan by what it is shown."""

from collections.abc import Sequence

from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.evidence import found, on_the_way, predicting, stage, still_right
from kgqa.evaluation.simulation.mislead import misled, wrong_answers
from kgqa.evaluation.simulation.plan_steps import replies
from kgqa.evaluation.simulation.select import leading_on
from kgqa.kg.terms import Hop, Literal, Path
from kgqa.prompts.plans import PlanStep
from kgqa.prompts.revise_plan import ReviseAhead, RevisedSteps, RevisePlan

UNKNOWN = Literal("?")
"""What a relation leads to that was not followed yet."""


async def revise(prompt: RevisePlan, case: Case) -> RevisedSteps:
    """Put right what the facts show: the step at hand, all steps so far if the whole is revised.

    By relations that lead on, the step to come as well; where nothing was observed and nothing
    is seen to lead on, that step is planned in the words of the question. Further steps stay. The
    answers are those to which the facts lead, beside right ones that the plan has; the plan's
    where there are none.
    A bad revision predicts other relations for these steps, and ends with other answers.
    """
    plan = prompt.plan
    first = 1 if prompt.arm == "global" else min(max(1, prompt.done), len(plan.steps) + 1)
    if case.happens("accuracy"):
        steps = await _put_right(prompt, case)
        right = dict.fromkeys([*still_right(plan.answers, case), *await found(prompt.facts, case)])
        answers = list(right or plan.answers)
    else:
        last = max(prompt.done, 1)
        wrong = await misled(plan.steps[first - 1 : last], case, first - 1)
        steps = [*plan.steps[: first - 1], *wrong, *plan.steps[last:]]
        answers = list(await wrong_answers(case))
    revised = steps[first - 1 : prompt.depth]
    return RevisedSteps(
        first=first, steps=replies(revised), thought=plan.thought, answers=answers, whether=plan.whether
    )


async def _put_right(prompt: RevisePlan, case: Case) -> list[PlanStep]:
    steps = list(prompt.plan.steps)
    facts = await on_the_way(prompt.facts, case)
    for number in range(1, prompt.done + 1) if prompt.arm == "global" else (prompt.done,):
        seen = stage(facts, number if prompt.arm == "global" else -1)
        if seen and number:
            steps[number - 1 : number] = [predicting(seen)]
    ahead = await _ahead(prompt, case) if isinstance(prompt, ReviseAhead) else []
    if ahead:
        steps[prompt.done : prompt.done + 1] = [_expecting(ahead)]
    elif not prompt.facts:
        steps[prompt.done : prompt.done + 1] = [PlanStep("Find what leads on.", prompt.question)]
    return steps


async def _ahead(prompt: ReviseAhead, case: Case) -> list[tuple[Path, Hop]]:
    """Give the relations that lead on to the answers, each with where it leads on from."""
    offers = [prompt.offers[number - 1] for number in await leading_on(prompt.frontier, prompt.offers, case)]
    return [(prompt.frontier[head], offer.hop) for offer in offers for head in offer.heads]


def _expecting(ahead: Sequence[tuple[Path, Hop]]) -> PlanStep:
    """Write the step that follows relations, whatever they lead to."""
    return predicting([path.then(hop, UNKNOWN) for path, hop in ahead])
