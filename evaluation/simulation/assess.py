"""Judges what a whole frontier has led to."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from kgqa.evaluation.simulation.case import Case, wrong_choice
from kgqa.evaluation.simulation.gold import Marks
from kgqa.evaluation.simulation.judge import Seen, computed, exact
from kgqa.evaluation.simulation.steps import Way
from kgqa.kg.terms import Entity
from kgqa.prompts.assess_found import AssessFound, Assessment
from kgqa.prompts.candidates import Take
from kgqa.prompts.found import GROUPS, Found, Shown, shown
from kgqa.prompts.progress import SUBGOALS

_Decision = Literal["stop", "filter", "forward"]


class _Group(NamedTuple):
    """What a prompt shows as one group, held against the gold."""

    number: int
    found: Found
    rows: Sequence[Shown]
    """Its candidates that are shown."""
    marks: Marks
    """Its candidates, shown or not, held against the gold answers."""
    rests: Sequence[Way]
    """What is left to go after its chain."""
    complete: bool
    """Whether its chain, and each that it meets, is at the end of a way."""

    @property
    def topics(self) -> set[Entity]:
        return {self.found.chain.topic, *(chain.topic for chain in self.found.met)}

    @property
    def right(self) -> tuple[int, ...]:
        """The numbers of the gold answers that are shown."""
        return tuple(row.number for row, right in zip(self.rows, self.marks.right, strict=False) if right)

    @property
    def is_shown(self) -> bool:
        """Whether all its candidates are."""
        return not self.found.truncated and len(self.rows) == len(self.marks.right)

    @property
    def seen(self) -> Seen:
        return Seen(self.found.chain, self.found.named, self.found.truncated)


class _Said(NamedTuple):
    decision: _Decision
    group: int = 0
    take: Take = "all"
    chosen: tuple[int, ...] = ()


async def assess_found(prompt: AssessFound, case: Case) -> Assessment:
    """Stop at a group that is the answer, else go on while anything leads on that narrows it down.

    A wrong verdict is another decision, on the same group where there was one; a wrong choice of
    entities takes others. What is on a way is known from then on.
    """
    groups = await _groups(prompt.found, case)
    said = _misjudged(await _judged(groups, case), groups, case)
    reached = [f"reached {group.found.chain.hops[-1].words}" for group in groups if group.rests]
    return Assessment(
        known=list(dict.fromkeys([*prompt.known, *reached]))[-SUBGOALS:],
        decision=said.decision,
        group=said.group,
        take=said.take,
        chosen=list(said.chosen),
    )


async def _groups(found: Sequence[Found], case: Case) -> list[_Group]:
    rows = shown(found)
    groups = []
    for number, each in enumerate(found[:GROUPS], 1):
        rests = await case.oracle.rests(each.chain)
        ways = [rests, *[await case.oracle.rests(chain) for chain in each.met]]
        marks = case.oracle.gold.mark([end.term for end in each.named])
        own = [row for row in rows if row.group == number]
        groups.append(_Group(number, each, own, marks, rests, all(() in way for way in ways)))
    return groups


async def _judged(groups: Sequence[_Group], case: Case) -> _Said:
    """Say which group is the answer: as it is, computed from it, or among it, in this order.

    Of groups that the answers are among, the one with most of them counts, then the one where
    most topics meet, then the smallest.
    """
    ended = sorted(groups, key=lambda group: not group.complete)
    for group in ended:
        if take := exact(group.seen, group.marks, case.oracle.gold):
            return _Said("stop", group.number, take)
    complete = [group for group in groups if group.complete]
    topics = {plan.topic for plan in await case.oracle.plans()}
    for group in complete:
        if topics <= group.topics and (take := computed(group.seen, case.oracle.gold)):
            return _Said("stop", group.number, take)
    among = sorted((group for group in complete if any(group.marks.right)), key=_rank)
    return _among(among[0], groups) if among else _Said("forward")


def _rank(group: _Group) -> tuple[int, int, int]:
    return group.marks.missing, -len(group.topics), len(group.marks.right)


def _among(group: _Group, groups: Sequence[_Group]) -> _Said:
    """Name the gold answers of a group, unless what is found elsewhere will narrow it down or add to it."""
    leading_on = [other for other in groups if any(other.rests) and not other.complete]
    if any(group.marks.missing or not other.topics <= group.topics for other in leading_on):
        return _Said("forward")
    if all(group.marks.right):
        return _Said("stop", group.number)
    pairs = zip(group.found.named, group.marks.right, strict=True)
    wanted = any(end.returning and right for end, right in pairs)
    if group.right and (group.is_shown or wanted):  # filtering would leave out what returns to the topic
        return _Said("stop", group.number, "some", group.right)
    return _Said("filter", group.number)


def _misjudged(right: _Said, groups: Sequence[_Group], case: Case) -> _Said:
    """Err where a draw says so."""
    judged = [group for group in groups if group.rows]
    if case.happens("judge") and judged:
        others: list[_Decision] = [said for said in get_args(_Decision) if said != right.decision]
        wrong = next(case.draws.shuffled("wrong verdict", others))
        drawn = right.group or next(case.draws.shuffled("wrong group", judged)).number
        return _Said("forward") if wrong == "forward" else _Said(wrong, drawn)
    if right.decision == "stop" and case.happens("entity"):
        return _mistaken(right, groups[right.group - 1], case)
    return right


def _mistaken(right: _Said, group: _Group, case: Case) -> _Said:
    numbers = [row.number for row in group.rows]
    places = [place for place, number in enumerate(numbers, 1) if number in set(group.right)]
    wrong = wrong_choice(places, len(numbers), case.draws)
    return _Said("stop", group.number, "some", tuple(numbers[p - 1] for p in wrong)) if wrong else right
