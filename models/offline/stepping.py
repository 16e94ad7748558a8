"""A plan in steps, and whether a step went as planned: the way that is believed in (VoG)."""

import asyncio
from collections.abc import Iterable

from kgqa.kg.terms import Entity
from kgqa.models.offline.belief import Belief
from kgqa.models.offline.believing import Believer
from kgqa.models.offline.claim import read_claim
from kgqa.models.offline.claims import bears
from kgqa.models.offline.judging import is_counted
from kgqa.models.offline.outline import answers, outline, searches
from kgqa.models.offline.selecting import topics_of
from kgqa.models.offline.whether import Named, is_whether
from kgqa.prompts.plan_steps import PlanSteps, StepsReply
from kgqa.prompts.plans import PlanStep
from kgqa.prompts.revise_plan import RevisedSteps, RevisePlan
from kgqa.prompts.steps import StepReply
from kgqa.prompts.verify_step import StepVerdict, VerifyStep


async def plan_steps(prompt: PlanSteps, believer: Believer) -> StepsReply:
    """Plan the believed way, its answers as the graph has them; where there is none, the question itself."""
    belief = await believer.believe(prompt.question, prompt.topics)
    steps = await _steps(prompt.question, belief, believer)
    return StepsReply(
        rationale=belief.reason,
        steps=_written(steps[: prompt.depth]),
        answers=await _answers(prompt.question, prompt.topics, belief, believer),
        whether=is_whether(prompt.question),
    )


async def revise(prompt: RevisePlan, believer: Believer) -> RevisedSteps:
    """Plan the believed way as at first: it was the graph's from the beginning."""
    topics = prompt.topics or topics_of(prompt.facts)
    belief = await believer.believe(prompt.question, topics)
    steps = await _steps(prompt.question, belief, believer)
    return RevisedSteps(
        rationale=belief.reason,
        first=1,
        steps=_written(steps[: prompt.depth]),
        answers=await _answers(prompt.question, topics, belief, believer),
        whether=is_whether(prompt.question),
    )


async def verify_step(prompt: VerifyStep, believer: Believer) -> StepVerdict:
    """Call for a revision of a step that the believed way does not have."""
    belief = await believer.believe(prompt.question, prompt.topics or topics_of(prompt.facts))
    astray = bool(belief.chains) and prompt.step.search not in await searches(belief, believer)
    steps = await outline(belief, believer) if astray else []
    observed = steps[prompt.number - 1].observation if prompt.number <= len(steps) else ()
    return StepVerdict(rationale=belief.reason, revise=astray, observation=list(map(list, observed)))


async def _steps(question: str, belief: Belief, believer: Believer) -> list[PlanStep]:
    return await outline(belief, believer) or [
        PlanStep("Look for what is nearest in words.", question.strip() or "?")
    ]


async def _answers(
    question: str, topics: tuple[Entity, ...], belief: Belief, believer: Believer
) -> list[str]:
    """Give the names of what the belief leads to, or how many there are, or yes or no."""
    if is_whether(question):
        return await _yes_or_no(question, topics, belief, believer)
    ends = [end for page in belief.ends.values() for end in page]
    found = answers(belief)
    if is_counted(belief, ends) and not any(page.truncated for page in belief.ends.values()):
        return [str(len(found))]
    return list(dict.fromkeys(end.name for end in found if end.name))


async def _yes_or_no(
    question: str, topics: tuple[Entity, ...], belief: Belief, believer: Believer
) -> list[str]:
    """Tell what the first of the believed chains says that says either; nothing of more than two things."""
    named = Named(question, topics)
    pages = {topic: [end.term for end in page if end.term in named] for topic, page in belief.ends.items()}
    terms = [*topics, *(end for ends in pages.values() for end in ends)]
    hops = [hop for chain in belief.chains.values() for hop in chain.hops]
    claim = await read_claim(question, topics, terms, hops, believer.graph)
    if not claim.clear or sum(map(len, claim.slots)) != 2:
        return []
    for topic, chain in belief.chains.items():
        one, others = claim.thing(topic), {claim.thing(end) for end in pages[topic]}
        for two in sorted(filter(None, others)):
            moves = await believer.between.moves(chain)
            if one and claim.joins(one, two):
                said = await asyncio.to_thread(bears, claim, one, two, moves, believer.encode)
                if said is not None:
                    return ["yes" if said else "no"]
    return []


def _written(steps: Iterable[PlanStep]) -> list[StepReply]:
    return [
        StepReply(thought=step.thought, search=step.search, observation=list(map(list, step.observation)))
        for step in steps
    ]
