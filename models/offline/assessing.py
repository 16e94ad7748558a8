"""Is what the chains of a frontier have led to enough? What is believed of them (PoG, ToG, EGP).

Where solved questions are shown, these are their chains, tried before the search has begun
(Smart Lookahead): of the believed ways nothing was followed yet, and none was turned down.
"""

from collections.abc import Iterator

from kgqa.kg.terms import Chain
from kgqa.models.offline.believing import Believer
from kgqa.models.offline.course import Course, course_of
from kgqa.models.offline.judging import Judged, finding, judge
from kgqa.prompts.assess_found import AssessFound, Assessment
from kgqa.prompts.found import GROUPS, Found, shown


async def assess(prompt: AssessFound, believer: Believer) -> Assessment:
    """Stop where the believed ways end and meet; at the end of another way where none of these goes on.

    Before the search has begun, at no other way: it is still to go along the believed ones.
    """
    course = await course_of(prompt.question, prompt.topics, (each.chain for each in prompt.found), believer)
    known = _known(prompt, course)
    for number in _ended(prompt, course):
        judged, numbers = _judged(prompt, number, course)
        if judged.decision in {"stop", "filter"}:
            return Assessment(
                rationale=course.belief.reason,
                known=known,
                decision="filter" if judged.decision == "filter" else "stop",
                group=number,
                take=judged.take,
                chosen=[numbers[at - 1] for at in judged.chosen],
            )
    return Assessment(rationale=course.belief.reason, known=known, decision="forward")


def _ended(prompt: AssessFound, course: Course) -> Iterator[int]:
    """Number the groups at the end of ways: of the believed ones, or else of others; most met first."""
    groups = list(enumerate(prompt.found[:GROUPS], 1))
    ends = [(number, each) for number, each in groups if course.belief.rest(_way(prompt, each, course)) == ()]
    ends.sort(key=lambda pair: (-len(pair[1].met), not course.belief.is_believed(course.read(pair[1].chain))))
    believed = [pair for pair in ends if course.belief.is_believed(_way(prompt, pair[1], course))]
    if believed and _awaits(believed[0][1], prompt, course):
        return
    yield from (number for number, _ in believed)
    if not prompt.exemplars and not any(course.is_on(each.chain, believed=True) for _, each in groups):
        yield from (number for number, each in ends if (number, each) not in believed)


def _way(prompt: AssessFound, group: Found, course: Course) -> Chain:
    """Give the way of a group's chain; before the search, the believed one if these are its very ends."""
    if prompt.exemplars and not group.truncated and course.belief.is_end(group.chain.topic, group.named):
        return course.belief.chains[group.chain.topic]
    return course.read(group.chain)


def _awaits(group: Found, prompt: AssessFound, course: Course) -> bool:
    """Tell whether another topic's way, which the ends are to meet, is longer than what was followed."""
    met = {chain.topic for chain in (group.chain, *group.met)}
    longest = 0 if prompt.exemplars else max(each.chain.depth for each in prompt.found)
    ways = course.belief.chains.values()
    return not course.belief.asked.union and any(way.topic not in met and way.depth > longest for way in ways)


def _judged(prompt: AssessFound, number: int, course: Course) -> tuple[Judged, list[int]]:
    """Judge a group; give with it the numbers by which its candidates are shown."""
    group = prompt.found[number - 1]
    numbers = [row.number for row in shown(prompt.found) if row.group == number]
    way = _way(prompt, group, course)
    return judge(course.belief, way, group.named, group.truncated, shown=len(numbers)), numbers


def _known(prompt: AssessFound, course: Course) -> list[str]:
    """Say what the chains on the believed ways lead to, a sentence for a subgoal; else what was known."""
    chains = {
        each.chain: finding(each.chain, each.named)
        for each in prompt.found
        if each.named and course.belief.begins_with(course.read(each.chain))
    }
    return [*chains.values()][: max(1, len(prompt.subgoals))] or list(prompt.known)
