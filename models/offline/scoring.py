"""Which entities a beam holds: those that lead to what is believed to be the answer (ToG)."""

from collections.abc import Sequence

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.terms import Chain, Hop, Term
from kgqa.models.offline.attributes import entities, follow
from kgqa.models.offline.believing import Believer
from kgqa.models.offline.course import Course, course_of
from kgqa.models.offline.outline import answers
from kgqa.prompts.found import shown
from kgqa.prompts.score_entities import ScoredEntities, ScoreEntities
from kgqa.prompts.scores import Score

LEADS = 0.5
"""Score of an entity that leads to some of the answers; that of one that leads to all is 1."""

BESIDE = 0.1
"""Score of an entity on a way that is not the believed one."""


async def score_entities(prompt: ScoreEntities, believer: Believer) -> ScoredEntities:
    """Score candidates by how many of the answers they lead to; those that lead to none are left out.

    Where no candidate of a chain leads to any, or that takes too long to tell, all count the same.
    """
    course = await course_of(prompt.question, prompt.topics, (each.chain for each in prompt.found), believer)
    rows = shown(prompt.found)
    scores: list[Score] = []
    for place, group in enumerate(prompt.found, 1):
        numbered = {row.number: row.candidate.term for row in rows if row.group == place}
        share = await _shares(group.chain, [*numbered.values()], course, believer)
        scores += [
            Score(number=number, score=share[term]) for number, term in numbered.items() if share.get(term)
        ]
    return ScoredEntities(rationale=course.belief.reason, scores=scores)


async def _shares(
    chain: Chain, ends: Sequence[Term], course: Course, believer: Believer
) -> dict[Term, float]:
    known = course.read(chain)
    rest = course.belief.rest(known)
    if rest is None:
        return {}
    if not course.belief.begins_with(known):
        return dict.fromkeys(ends, BESIDE)
    goal = frozenset(answers(course.belief))
    led = await _led(ends, rest, believer)
    reached = {end: len(goal & led.get(end, frozenset())) / max(1, len(goal)) for end in ends}
    if not any(reached.values()):
        return dict.fromkeys(ends, LEADS)
    return {end: LEADS + (1 - LEADS) * share for end, share in reached.items() if share}


async def _led(
    ends: Sequence[Term], rest: tuple[Hop, ...], believer: Believer
) -> dict[Term, frozenset[Term]]:
    """Give what each end leads to by the hops that are left; nothing where that takes too long."""
    if not rest:
        return {end: frozenset([end]) for end in ends}
    try:
        led = await follow(entities(ends), tuple((hop,) for hop in rest), believer.graph)
    except (KGTimeout, KGRejected):
        return {}
    return {start: frozenset(end for _, end in pairs) for start, pairs in led.items()}
