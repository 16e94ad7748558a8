"""What to look for, and by which relations; and what cannot be told without facts."""

from kgqa.models.offline.believing import Believer
from kgqa.models.offline.memory import NO_FACTS
from kgqa.prompts.adapt_blueprint import AdaptBlueprint, AdaptedBlueprint
from kgqa.prompts.answer_directly import AnswerDirectly, DirectAnswer
from kgqa.prompts.decompose import Decompose, Subgoals
from kgqa.prompts.solved import HOPS


async def decompose(prompt: Decompose, _: Believer) -> Subgoals:
    """Take the question as the only subgoal: words alone do not tell what is found first."""
    return Subgoals(rationale="the question is its own subgoal", subgoals=[prompt.question.strip() or "?"])


async def adapt(prompt: AdaptBlueprint, believer: Believer) -> AdaptedBlueprint:
    """Give the believed ways; where there are none, the nearest exemplar as it is, or a relation."""
    belief = await believer.believe(prompt.question, prompt.topics)
    chains = [belief.chains.get(topic) for topic in prompt.topics]
    known = [[("" if hop.forward else "^") + hop.words for hop in chain.hops] for chain in chains if chain]
    if not known:
        nearest = prompt.exemplars[0].branches if prompt.exemplars else (prompt.relations[:1],)
        branches = [list(branch[:HOPS]) for branch in nearest[: max(1, len(prompt.topics))]]
        return AdaptedBlueprint(rationale=belief.reason, branches=branches)
    ways = iter(known)
    branches = [next(ways) if chain else known[0] for chain in chains]
    return AdaptedBlueprint(rationale=belief.reason, branches=branches)


async def abstain(prompt: AnswerDirectly, _: Believer) -> DirectAnswer:
    """Answer nothing: the search before has found nothing."""
    return DirectAnswer(rationale=NO_FACTS, answers=[])
