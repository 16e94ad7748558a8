"""Plans a search in steps, with what each of them will observe."""

from collections.abc import Sequence

from kgqa.evaluation.simulation.case import Case
from kgqa.evaluation.simulation.evidence import abreast, predicting, stage, stages
from kgqa.evaluation.simulation.mislead import misled, wrong_answers
from kgqa.kg.terms import Chain
from kgqa.prompts.plan_steps import PlanSteps, StepsReply
from kgqa.prompts.plans import PlanStep
from kgqa.prompts.steps import StepReply


async def plan_steps(prompt: PlanSteps, case: Case) -> StepsReply:
    """Go along the ways from all topics at once, one named node a step, to the gold answers.

    What a step predicts is what the graph says. A bad plan predicts other relations and ends
    with other answers.
    """
    steps = (await _steps(case) or [PlanStep("Find the answer.", prompt.question)])[: prompt.depth]
    answers = await _answers(case)
    if not case.happens("plan"):
        steps, answers = await misled(steps, case), list(await wrong_answers(case))
    whether = case.oracle.gold.verdict is not None
    return StepsReply(steps=replies(steps), thought=_thought(answers), answers=answers, whether=whether)


def replies(steps: Sequence[PlanStep]) -> list[StepReply]:
    """Write steps as a reply has them."""
    return [
        StepReply(
            thought=step.thought, search=step.search, observation=[list(row) for row in step.observation]
        )
        for step in steps
    ]


async def _steps(case: Case) -> list[PlanStep]:
    groups = await case.oracle.paths()
    longest = max((len(stages(path)) for group in groups for path in group), default=0)
    places = range(1, longest + 1)
    return [predicting(abreast(stage(group, place) for group in groups)) for place in places]


async def _answers(case: Case) -> list[str]:
    """Name the gold answers, as the graph does where it leads to all of them."""
    gold = case.oracle.gold
    for topic, hops in await case.oracle.plans():
        ends = await case.oracle.terrain.ends(Chain(topic, hops))
        marks = gold.mark(ends)
        if any(marks.right) and not marks.missing:
            return list(
                dict.fromkeys(str(end) for end, right in zip(ends, marks.right, strict=True) if right)
            )
    return [gold.verdict] if gold.verdict else gold.names


def _thought(answers: Sequence[str]) -> str:
    return f"The answer is {', '.join(answers[:3])}."
