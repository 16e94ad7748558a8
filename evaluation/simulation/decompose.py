"""Plans a search, and says which relations it takes."""

from collections.abc import Iterator, Sequence

from kgqa.evaluation.simulation.case import Case
from kgqa.kg.terms import Chain, Hop
from kgqa.priors.guidance import spaced
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, AdaptedBlueprint
from kgqa.prompts.decompose import Decompose, Subgoals
from kgqa.prompts.progress import SUBGOALS
from kgqa.prompts.solved import HOPS


async def decompose(prompt: Decompose, case: Case) -> Subgoals:
    """Give one subgoal for each named node on the ways from the topics, in words of the relations to it.

    A bad plan is the question itself, as is that of a question without a way.
    """
    goals: list[str] = []
    for topic, hops in await case.oracle.plans():
        named = [await case.oracle.is_named(Chain(topic, hops[:depth])) for depth in range(1, len(hops))]
        goals += [_goal(part) for part in _parts(hops, [*named, True])]
    planned = case.happens("accuracy") and goals
    return Subgoals(subgoals=goals[:SUBGOALS] if planned else [prompt.question])


async def adapt_blueprint(prompt: AdaptBlueprint, case: Case) -> AdaptedBlueprint:
    """Name the relations on the way from each topic; one without a way is given the first of the others.

    A bad adaptation is the nearest exemplar unchanged, as is that of a question without a way.
    """
    plans = await case.oracle.plans()
    branches: list[list[str]] = []
    for topic in prompt.topics:
        plan = next((plan for plan in plans if plan.topic == topic), None)
        if plan:
            plans.remove(plan)
        hops = plan.hops[:HOPS] if plan else ()
        branches.append([hop.words if hop.forward else f"^{hop.words}" for hop in hops])
    first = next(filter(None, branches), None)
    branches = [branch or first for branch in branches] if first else []
    if not (case.happens("accuracy") and branches):
        nearest = prompt.exemplars[0].branches if prompt.exemplars else (prompt.relations[:1],)
        branches = [list(branch[:HOPS]) for branch in nearest[: max(1, len(prompt.topics))]]
    return AdaptedBlueprint(branches=branches)


def _parts(hops: Sequence[Hop], named: Sequence[bool]) -> Iterator[Sequence[Hop]]:
    """Cut after each hop that leads to something named."""
    begin = 0
    for end, ends_named in enumerate(named, 1):
        if ends_named:
            yield hops[begin:end]
            begin = end


def _goal(hops: Sequence[Hop]) -> str:
    return "find the " + " of the ".join(spaced(hop.words) for hop in reversed(hops))
