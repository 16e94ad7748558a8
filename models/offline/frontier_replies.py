"""Replies about a frontier of chains: which to extend, which entities to keep, when to stop."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain as concatenate, zip_longest

from kgqa.kg.errors import KGRejected, KGTimeout
from kgqa.kg.terms import Chain, Term
from kgqa.models.offline.chain_replies import Replies, describe_finding, judge_chain
from kgqa.models.offline.comparison_attributes import follow_hops
from kgqa.models.offline.interpreter import Interpretation, QuestionInterpreter
from kgqa.models.offline.inverse_relations import InverseRelations
from kgqa.prompts.assess_found import AssessFound, Assessment
from kgqa.prompts.base import Score
from kgqa.prompts.candidates import MAX_GROUPS_SHOWN, ChainFindings, numbered_candidates
from kgqa.prompts.pick_relations import PickedRelations, PickRelations
from kgqa.prompts.reflect import MAX_EARLIER_CHAINS, Reflect, Reflection
from kgqa.prompts.score_entities import ScoredEntities, ScoreEntities
from kgqa.prompts.score_relations import ScoredRelations, ScoreRelations

_PARTIAL_ANSWER_SCORE = 0.5  # of an entity that leads to some of the answers; to all of them is 1
_ALTERNATIVE_SCORE = 0.1  # of an entity on a chain that is not the chosen one


@dataclass(frozen=True)
class FrontierGuide:
    """How a search goes by an interpretation; a relation is as good as its inverse."""

    known: Interpretation
    inverses: InverseRelations

    def translate(self, chain: Chain) -> Chain:
        """Return a chain in the relations of the likeliest known chain that it goes along, unconstrained."""
        for known in self.known.chains_from(chain.topic):
            if self._starts_with(known, chain):
                return known.upto(chain.depth)
        return Chain(chain.topic, chain.hops)

    def goes_on(self, chain: Chain, *, chosen: bool) -> bool:
        """Return whether there is something left to go after a chain, on the chosen chain or on any."""
        own = self.translate(chain)
        return bool(self.known.remaining_hops(own)) and (not chosen or self.known.starts_with(own))

    def onwards(self, offers: Sequence[Chain]) -> list[int]:
        """Number, from 1, the offers on the chosen chains; where there is none, those on another chain."""
        chosen = [number for known in self.known.chains.values() for number in self._along(known, offers)]
        if chosen:
            return sorted(chosen)
        tried = ((self._along(known, offers) for known in each) for each in self.known.alternatives.values())
        return sorted(number for each in tried for number in next(filter(None, each), []))

    def unfinished(self, seen: Sequence[Chain]) -> Chain | None:
        """Return the seen chain from which the likeliest known chain goes on that was not gone to its end."""
        others = concatenate.from_iterable(zip_longest(*self.known.alternatives.values()))
        for known in (*self.known.chains.values(), *filter(None, others)):
            begun = [chain for chain in seen if self._starts_with(known, chain)]
            furthest = max(begun, key=lambda chain: chain.depth, default=None)
            if furthest is not None and furthest.depth < known.depth:
                return furthest
        return None

    def _starts_with(self, known: Chain, chain: Chain) -> bool:
        """Return whether a known chain begins with a chain, but for inverse relations."""
        slots = [[self.inverses.slot(hop) for hop in each.hops] for each in (known, chain)]
        return known.topic == chain.topic and slots[0][: chain.depth] == slots[1]

    def _along(self, known: Chain, offers: Sequence[Chain]) -> list[int]:
        """Number the offers that go furthest along a chain, those in its own relations first."""
        rank = {
            number: (offer.depth, known.hops[: offer.depth] == offer.hops)
            for number, offer in enumerate(offers, 1)
            if self._starts_with(known, offer)
        }
        return [number for number, each in rank.items() if each == max(rank.values())]


FrontierPrompt = AssessFound | PickRelations | Reflect | ScoreEntities | ScoreRelations


async def _guide(
    prompt: FrontierPrompt, chains: Iterable[Chain], interpreter: QuestionInterpreter
) -> FrontierGuide:
    """Return the guide of a search; of one without topics, from those of its chains."""
    known = await interpreter.interpret(prompt.question, prompt.topics, (chain.topic for chain in chains))
    return FrontierGuide(known, await interpreter.inverse_relations())


async def pick_relations(prompt: PickRelations, interpreter: QuestionInterpreter) -> PickedRelations:
    """Choose what the chosen chains go on by; where none of it is offered, what others go on by."""
    guide = await _guide(prompt, prompt.offers, interpreter)
    return PickedRelations(rationale=guide.known.reason, relations=guide.onwards(prompt.offers))


async def score_relations(prompt: ScoreRelations, interpreter: QuestionInterpreter) -> ScoredRelations:
    """Score what `pick_relations` chooses; the beam has room for nothing else."""
    guide = await _guide(prompt, prompt.offers, interpreter)
    scores = [Score(number=number, score=1.0) for number in guide.onwards(prompt.offers)]
    return ScoredRelations(rationale=guide.known.reason, scores=scores)


async def reflect(prompt: Reflect, interpreter: QuestionInterpreter) -> Reflection:
    """Go on along the chosen chains, or along others; come back to one only where nothing goes on."""
    found = [each.chain for each in prompt.found[:MAX_GROUPS_SHOWN]]
    history = [each.chain for each in prompt.history[:MAX_EARLIER_CHAINS]]
    guide = await _guide(prompt, [*history, *found], interpreter)
    for chosen in (True, False):
        if going := [at for at, chain in enumerate(found, 1) if guide.goes_on(chain, chosen=chosen)]:
            return Reflection(rationale=guide.known.reason, go_on=going)
    back = guide.unfinished([*history, *found])
    recall = [history.index(back) + 1] if back in history else []
    return Reflection(rationale=guide.known.reason, go_on=[], recall=recall)


async def score_entities(prompt: ScoreEntities, interpreter: QuestionInterpreter) -> ScoredEntities:
    """Score candidates by how many of the answers they lead to; those that lead to none are left out.

    Where no candidate of a chain leads to any, or that takes too long to tell, all count the same.
    """
    guide = await _guide(prompt, (each.chain for each in prompt.found), interpreter)
    rows = numbered_candidates(prompt.found)
    scores: list[Score] = []
    for place, group in enumerate(prompt.found, 1):
        terms = {row.number: row.candidate.term for row in rows if row.group == place}
        score = await _answer_scores(group.chain, [*terms.values()], guide, interpreter)
        scores += [Score(number=at, score=score[term]) for at, term in terms.items() if score.get(term)]
    return ScoredEntities(rationale=guide.known.reason, scores=scores)


async def _answer_scores(
    chain: Chain, ends: Sequence[Term], guide: FrontierGuide, interpreter: QuestionInterpreter
) -> dict[Term, float]:
    own = guide.translate(chain)
    rest = guide.known.remaining_hops(own)
    if rest is None:
        return {}
    if not guide.known.starts_with(own):
        return dict.fromkeys(ends, _ALTERNATIVE_SCORE)
    answers = frozenset(guide.known.answer_terms())
    reached: dict[Term, frozenset[Term]] = {} if rest else {end: frozenset([end]) for end in ends}
    if rest:
        with suppress(KGTimeout, KGRejected):
            reached.update((await follow_hops(ends, rest, interpreter.graph)).items())
    shares = {end: len(answers & reached.get(end, frozenset())) / max(1, len(answers)) for end in ends}
    if not any(shares.values()):
        return dict.fromkeys(ends, _PARTIAL_ANSWER_SCORE)
    lowest = _PARTIAL_ANSWER_SCORE
    return {end: lowest + (1 - lowest) * share for end, share in shares.items() if share}


async def assess_frontier(prompt: AssessFound, interpreter: QuestionInterpreter) -> Assessment:
    """Stop where the chosen chains end and meet; at the end of another chain where none of these goes on.

    Where solved questions are shown, these are their chains, tried before the search has begun
    (Smart Lookahead): of the chosen chains nothing was followed yet, and none was turned down. Then
    it stops at no other chain: the search is still to go along the chosen ones.
    """
    guide = await _guide(prompt, (each.chain for each in prompt.found), interpreter)
    facts = _known_facts(prompt, guide)
    for number in _complete_groups(prompt, guide):
        group = prompt.found[number - 1]
        numbers = [row.number for row in numbered_candidates(prompt.found) if row.group == number]
        chain = _group_chain(prompt, group, guide)
        judged = judge_chain(guide.known, chain, group.named, group.truncated, shown=len(numbers))
        if judged.decision in {"stop", "filter"}:
            return Assessment(
                rationale=guide.known.reason,
                known=facts,
                decision="filter" if judged.decision == "filter" else "stop",
                group=number,
                take=judged.take,
                chosen=[numbers[at - 1] for at in judged.chosen],
            )
    return Assessment(rationale=guide.known.reason, known=facts, decision="forward")


def _complete_groups(prompt: AssessFound, guide: FrontierGuide) -> Iterator[int]:
    """Number the groups at the end of known chains: of the chosen ones, or else of others; most met first."""
    known = guide.known
    groups = dict(enumerate(prompt.found[:MAX_GROUPS_SHOWN], 1))
    chains = {number: _group_chain(prompt, group, guide) for number, group in groups.items()}
    ends = [number for number, chain in chains.items() if known.remaining_hops(chain) == ()]
    ends.sort(key=lambda at: (-len(groups[at].met), not known.is_chosen(guide.translate(groups[at].chain))))
    chosen = [number for number in ends if known.is_chosen(chains[number])]
    if chosen and _awaits_other_topic(groups[chosen[0]], prompt, guide):
        return
    yield from chosen
    if not prompt.exemplars and not any(guide.goes_on(each.chain, chosen=True) for each in groups.values()):
        yield from (number for number in ends if number not in chosen)


def _group_chain(prompt: AssessFound, group: ChainFindings, guide: FrontierGuide) -> Chain:
    """Return the known chain of a group; before the search, the chosen one if these are its very ends."""
    if prompt.exemplars and not group.truncated and guide.known.are_ends(group.chain.topic, group.named):
        return guide.known.chains[group.chain.topic]
    return guide.translate(group.chain)


def _awaits_other_topic(group: ChainFindings, prompt: AssessFound, guide: FrontierGuide) -> bool:
    """Return whether another topic's chain, which the ends are to meet, is longer than what was followed."""
    met = {chain.topic for chain in (group.chain, *group.met)}
    longest = 0 if prompt.exemplars else max(each.chain.depth for each in prompt.found)
    longer = any(chain.topic not in met and chain.depth > longest for chain in guide.known.chains.values())
    return longer and not guide.known.intent.union


def _known_facts(prompt: AssessFound, guide: FrontierGuide) -> list[str]:
    """Say what the chains on the chosen ones lead to, a sentence for a subgoal; else what was known."""
    facts = {
        each.chain: describe_finding(each.chain, each.named)
        for each in prompt.found
        if each.named and guide.known.starts_with(guide.translate(each.chain))
    }
    return [*facts.values()][: max(1, len(prompt.subgoals))] or list(prompt.known)


FRONTIER_REPLIES: Replies = {
    AssessFound: assess_frontier,
    PickRelations: pick_relations,
    Reflect: reflect,
    ScoreEntities: score_entities,
    ScoreRelations: score_relations,
}
