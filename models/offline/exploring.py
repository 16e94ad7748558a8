"""Where a search over a frontier goes on, and what it comes back to, by what is believed (PoG, ToG)."""

from kgqa.models.offline.believing import Believer
from kgqa.models.offline.course import course_of
from kgqa.prompts.found import GROUPS
from kgqa.prompts.pick_relations import PickedRelations, PickRelations
from kgqa.prompts.reflect import EARLIER, Reflect, Reflection
from kgqa.prompts.score_relations import ScoredRelations, ScoreRelations
from kgqa.prompts.scores import Score


async def pick_relations(prompt: PickRelations, believer: Believer) -> PickedRelations:
    """Choose what the believed ways go on by; where none of it is offered, what others go on by."""
    course = await course_of(prompt.question, prompt.topics, prompt.offers, believer)
    return PickedRelations(rationale=course.belief.reason, relations=course.onwards(prompt.offers))


async def score_relations(prompt: ScoreRelations, believer: Believer) -> ScoredRelations:
    """Score what `pick_relations` chooses; the beam has room for nothing else."""
    course = await course_of(prompt.question, prompt.topics, prompt.offers, believer)
    scores = [Score(number=number, score=1.0) for number in course.onwards(prompt.offers)]
    return ScoredRelations(rationale=course.belief.reason, scores=scores)


async def reflect(prompt: Reflect, believer: Believer) -> Reflection:
    """Go on along the believed ways, or along others; come back to one only where nothing goes on."""
    found = [each.chain for each in prompt.found[:GROUPS]]
    history = [each.chain for each in prompt.history[:EARLIER]]
    course = await course_of(prompt.question, prompt.topics, [*history, *found], believer)
    for believed in (True, False):
        if going := [at for at, chain in enumerate(found, 1) if course.is_on(chain, believed=believed)]:
            return Reflection(rationale=course.belief.reason, go_on=going)
    back = course.left([*history, *found])
    recall = [history.index(back) + 1] if back in history else []
    return Reflection(rationale=course.belief.reason, go_on=[], recall=recall)
