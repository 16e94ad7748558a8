"""Replies about a frontier of chains: which to extend, which entities to keep, when to stop."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.terms import Chain, Entity, Hop, Term
from kgqa.models.offline.chain_replies import ChainJudgement, describe_finding, judge_chain
from kgqa.models.offline.comparison_attributes import follow_steps, keep_entities
from kgqa.models.offline.interpreter import Interpretation, QuestionInterpreter
from kgqa.models.offline.inverse_relations import InverseRelations
from kgqa.models.offline.plan_replies import answer_terms
from kgqa.prompts.assess_found import AssessFound, Assessment
from kgqa.prompts.base import Score
from kgqa.prompts.candidates import MAX_GROUPS_SHOWN, ChainFindings, numbered_candidates
from kgqa.prompts.pick_relations import PickedRelations, PickRelations
from kgqa.prompts.reflect import MAX_EARLIER_CHAINS, Reflect, Reflection
from kgqa.prompts.score_entities import ScoredEntities, ScoreEntities
from kgqa.prompts.score_relations import ScoredRelations, ScoreRelations


@dataclass(frozen=True)
class FrontierGuide:
    """What is believed of a question; a mirrored relation is as good as the one it mirrors."""

    belief: Interpretation
    mirrors: InverseRelations

    def read(self, chain: Chain) -> Chain:
        """Return a chain in the relations of the likeliest way that it goes along, held to nothing."""
        for way in self.belief.ways(chain.topic):
            if self._begins(way, chain):
                return way.upto(chain.depth)
        return Chain(chain.topic, chain.hops)

    def is_on(self, chain: Chain, *, believed: bool) -> bool:
        """Return whether there is something left to go after a chain, on the believed way or on any."""
        known = self.read(chain)
        return bool(self.belief.rest(known)) and (not believed or self.belief.begins_with(known))

    def onwards(self, offers: Sequence[Chain]) -> list[int]:
        """Number, from 1, the offers on the believed ways; where there is none, those on another way."""
        believed = [number for way in self.belief.chains.values() for number in self._along(way, offers)]
        if believed:
            return sorted(believed)
        tried = ((self._along(way, offers) for way in ways) for ways in self.belief.others.values())
        return sorted(number for each in tried for number in next(filter(None, each), []))

    def left(self, seen: Sequence[Chain]) -> Chain | None:
        """Return the seen chain from which the likeliest way goes on that was not gone to its end."""
        others = zip_longest(*self.belief.others.values())
        for way in (*self.belief.chains.values(), *(way for row in others for way in row if way)):
            begun = [chain for chain in seen if self._begins(way, chain)]
            furthest = max(begun, key=lambda chain: chain.depth, default=None)
            if furthest is not None and furthest.depth < way.depth:
                return furthest
        return None

    def _begins(self, way: Chain, chain: Chain) -> bool:
        """Return whether a way begins with a chain, but for mirrored relations."""
        begun = way.topic == chain.topic and chain.depth <= way.depth
        return begun and all(
            self.mirrors.slot(one) == self.mirrors.slot(two)
            for one, two in zip(way.hops, chain.hops, strict=False)
        )

    def _along(self, way: Chain, offers: Sequence[Chain]) -> list[int]:
        """Number the offers that go furthest along a way, those in its own relations before mirrored ones."""
        going = [(number, chain) for number, chain in enumerate(offers, 1) if self._begins(way, chain)]
        most = max(((chain.depth, _has_same_hops(way, chain)) for _, chain in going), default=None)
        return [number for number, chain in going if (chain.depth, _has_same_hops(way, chain)) == most]


def _has_same_hops(way: Chain, chain: Chain) -> bool:
    return way.hops[: chain.depth] == chain.hops


async def guide_frontier(
    question: str, topics: tuple[Entity, ...], chains: Iterable[Chain], believer: QuestionInterpreter
) -> FrontierGuide:
    """Return the course of a search; without ``topics``, of one from the topics of its chains.

    Raises:
        KGError: if the graph cannot be reached.
    """
    known = topics or tuple(dict.fromkeys(chain.topic for chain in chains))
    return FrontierGuide(await believer.believe(question, known), await believer.mirrors())


async def pick_relations(prompt: PickRelations, believer: QuestionInterpreter) -> PickedRelations:
    """Choose what the believed ways go on by; where none of it is offered, what others go on by."""
    course = await guide_frontier(prompt.question, prompt.topics, prompt.offers, believer)
    return PickedRelations(rationale=course.belief.reason, relations=course.onwards(prompt.offers))


async def score_relations(prompt: ScoreRelations, believer: QuestionInterpreter) -> ScoredRelations:
    """Score what `pick_relations` chooses; the beam has room for nothing else."""
    course = await guide_frontier(prompt.question, prompt.topics, prompt.offers, believer)
    scores = [Score(number=number, score=1.0) for number in course.onwards(prompt.offers)]
    return ScoredRelations(rationale=course.belief.reason, scores=scores)


async def reflect(prompt: Reflect, believer: QuestionInterpreter) -> Reflection:
    """Go on along the believed ways, or along others; come back to one only where nothing goes on."""
    found = [each.chain for each in prompt.found[:MAX_GROUPS_SHOWN]]
    history = [each.chain for each in prompt.history[:MAX_EARLIER_CHAINS]]
    course = await guide_frontier(prompt.question, prompt.topics, [*history, *found], believer)
    for believed in (True, False):
        if going := [at for at, chain in enumerate(found, 1) if course.is_on(chain, believed=believed)]:
            return Reflection(rationale=course.belief.reason, go_on=going)
    back = course.left([*history, *found])
    recall = [history.index(back) + 1] if back in history else []
    return Reflection(rationale=course.belief.reason, go_on=[], recall=recall)


PARTIAL_ANSWER_SCORE = 0.5
"""Score of an entity that leads to some of the answers; that of one that leads to all is 1."""

ALTERNATIVE_SCORE = 0.1
"""Score of an entity on a way that is not the believed one."""


async def score_entities(prompt: ScoreEntities, believer: QuestionInterpreter) -> ScoredEntities:
    """Score candidates by how many of the answers they lead to; those that lead to none are left out.

    Where no candidate of a chain leads to any, or that takes too long to tell, all count the same.
    """
    course = await guide_frontier(
        prompt.question, prompt.topics, (each.chain for each in prompt.found), believer
    )
    rows = numbered_candidates(prompt.found)
    scores: list[Score] = []
    for place, group in enumerate(prompt.found, 1):
        numbered = {row.number: row.candidate.term for row in rows if row.group == place}
        share = await _answer_scores(group.chain, [*numbered.values()], course, believer)
        scores += [
            Score(number=number, score=share[term]) for number, term in numbered.items() if share.get(term)
        ]
    return ScoredEntities(rationale=course.belief.reason, scores=scores)


async def _answer_scores(
    chain: Chain, ends: Sequence[Term], course: FrontierGuide, believer: QuestionInterpreter
) -> dict[Term, float]:
    known = course.read(chain)
    rest = course.belief.rest(known)
    if rest is None:
        return {}
    if not course.belief.begins_with(known):
        return dict.fromkeys(ends, ALTERNATIVE_SCORE)
    goal = frozenset(answer_terms(course.belief))
    led = await _reached_terms(ends, rest, believer)
    reached = {end: len(goal & led.get(end, frozenset())) / max(1, len(goal)) for end in ends}
    if not any(reached.values()):
        return dict.fromkeys(ends, PARTIAL_ANSWER_SCORE)
    return {
        end: PARTIAL_ANSWER_SCORE + (1 - PARTIAL_ANSWER_SCORE) * share
        for end, share in reached.items()
        if share
    }


async def _reached_terms(
    ends: Sequence[Term], rest: tuple[Hop, ...], believer: QuestionInterpreter
) -> dict[Term, frozenset[Term]]:
    """Return what each end leads to by the hops that are left; nothing where that takes too long."""
    if not rest:
        return {end: frozenset([end]) for end in ends}
    try:
        led = await follow_steps(keep_entities(ends), tuple((hop,) for hop in rest), believer.graph)
    except (KGTimeout, KGRejected):
        return {}
    return {start: frozenset(end for _, end in pairs) for start, pairs in led.items()}


async def assess_frontier(prompt: AssessFound, believer: QuestionInterpreter) -> Assessment:
    """Stop where the believed ways end and meet; at the end of another way where none of these goes on.

    Before the search has begun, at no other way: it is still to go along the believed ones.
    """
    course = await guide_frontier(
        prompt.question, prompt.topics, (each.chain for each in prompt.found), believer
    )
    known = _known_facts(prompt, course)
    for number in _complete_groups(prompt, course):
        judged, numbers = _judge_group(prompt, number, course)
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


def _complete_groups(prompt: AssessFound, course: FrontierGuide) -> Iterator[int]:
    """Number the groups at the end of ways: of the believed ones, or else of others; most met first."""
    groups = list(enumerate(prompt.found[:MAX_GROUPS_SHOWN], 1))
    ends = [
        (number, each)
        for number, each in groups
        if course.belief.rest(_group_chain(prompt, each, course)) == ()
    ]
    ends.sort(key=lambda pair: (-len(pair[1].met), not course.belief.is_believed(course.read(pair[1].chain))))
    believed = [pair for pair in ends if course.belief.is_believed(_group_chain(prompt, pair[1], course))]
    if believed and _awaits_other_topic(believed[0][1], prompt, course):
        return
    yield from (number for number, _ in believed)
    if not prompt.exemplars and not any(course.is_on(each.chain, believed=True) for _, each in groups):
        yield from (number for number, each in ends if (number, each) not in believed)


def _group_chain(prompt: AssessFound, group: ChainFindings, course: FrontierGuide) -> Chain:
    """Return the way of a group's chain; before the search, the believed one if these are its very ends."""
    if prompt.exemplars and not group.truncated and course.belief.is_end(group.chain.topic, group.named):
        return course.belief.chains[group.chain.topic]
    return course.read(group.chain)


def _awaits_other_topic(group: ChainFindings, prompt: AssessFound, course: FrontierGuide) -> bool:
    """Return whether another topic's way, which the ends are to meet, is longer than what was followed."""
    met = {chain.topic for chain in (group.chain, *group.met)}
    longest = 0 if prompt.exemplars else max(each.chain.depth for each in prompt.found)
    ways = course.belief.chains.values()
    return not course.belief.asked.union and any(way.topic not in met and way.depth > longest for way in ways)


def _judge_group(prompt: AssessFound, number: int, course: FrontierGuide) -> tuple[ChainJudgement, list[int]]:
    """Judge a group; give with it the numbers by which its candidates are shown."""
    group = prompt.found[number - 1]
    numbers = [row.number for row in numbered_candidates(prompt.found) if row.group == number]
    way = _group_chain(prompt, group, course)
    return judge_chain(course.belief, way, group.named, group.truncated, shown=len(numbers)), numbers


def _known_facts(prompt: AssessFound, course: FrontierGuide) -> list[str]:
    """Say what the chains on the believed ways lead to, a sentence for a subgoal; else what was known."""
    chains = {
        each.chain: describe_finding(each.chain, each.named)
        for each in prompt.found
        if each.named and course.belief.begins_with(course.read(each.chain))
    }
    return [*chains.values()][: max(1, len(prompt.subgoals))] or list(prompt.known)
