"""Replies about a frontier of chains: which to extend, which entities to keep, when to stop."""

from collections.abc import Sequence

from kgqa.kg.pages import Page
from kgqa.kg.terms import Chain
from kgqa.models.offline.chain_replies import describe_finding, judge_chain
from kgqa.models.offline.interpretation import Interpretation
from kgqa.prompts.assess_found import AssessFound, Assessment, EvaluateFound, Evaluation
from kgqa.prompts.base import Score
from kgqa.prompts.candidates import MAX_GROUPS_SHOWN, ChainFindings, numbered_candidates
from kgqa.prompts.chain import Extension
from kgqa.prompts.pick_relations import PickedRelations, PickRelations
from kgqa.prompts.score_relations import ScoredRelations, ScoreRelations
from kgqa.prompts.update_memory import Memory, UpdateMemory


def _goes_on(known: Interpretation, chain: Chain) -> bool:
    """Return whether there is something left to go after a chain on the chosen one."""
    own = known.translate(chain)
    return bool(known.remaining_hops(own)) and known.starts_with(own)


def _onwards(known: Interpretation, extensions: Sequence[Extension]) -> list[int]:
    """Number, from 1, the offers on the chosen chains; where there is none, those on another chain."""
    offers = [offer.chain for offer in extensions]
    if chosen := [number for chain in known.chains.values() for number in _along(known, chain, offers)]:
        return sorted(chosen)
    tried = ((_along(known, chain, offers) for chain in each) for each in known.alternatives.values())
    return sorted(number for each in tried for number in next(filter(None, each), []))


def _along(known: Interpretation, longer: Chain, offers: Sequence[Chain]) -> list[int]:
    """Number the offers that go furthest along a chain, those in its own relations first."""
    rank = {
        number: (offer.depth, longer.hops[: offer.depth] == offer.hops)
        for number, offer in enumerate(offers, 1)
        if known.goes_along(longer, offer)
    }
    return [number for number, each in rank.items() if each == max(rank.values())]


async def pick_relations(prompt: PickRelations, known: Interpretation) -> PickedRelations:
    """Choose what the chosen chains go on by; where none of it is offered, what others go on by."""
    return PickedRelations(relations=_onwards(known, prompt.offers))


async def score_relations(prompt: ScoreRelations, known: Interpretation) -> ScoredRelations:
    """Score what `pick_relations` chooses; the beam has room for nothing else."""
    onwards = _onwards(known, prompt.offers)
    return ScoredRelations(scores=[Score(number=number, score=1.0) for number in onwards])


async def assess_found(prompt: AssessFound, known: Interpretation) -> Assessment:
    """Stop where the chosen chains end and meet; at the end of another chain where none of these goes on.

    Where solved questions are shown, these are their chains, tried before the search has begun
    (Smart Lookahead): of the chosen chains nothing was followed yet, and none was turned down. Then
    it stops at no other chain: the search is still to go along the chosen ones.
    """
    facts = _known_facts(prompt, known)
    for number, chain in _complete_groups(prompt, known):
        group = prompt.found[number - 1]
        numbers = [row.number for row in numbered_candidates(prompt.found) if row.group == number]
        seen = chain, group.named, group.truncated
        judged = await judge_chain(known, *seen, shown=len(numbers), attributes=prompt.attributes)
        if judged.decision in {"stop", "filter"}:
            return Assessment(
                known=facts,
                decision="filter" if judged.decision == "filter" else "stop",
                groups=[number],
                take=judged.take,
                chosen=[numbers[at - 1] for at in judged.chosen],
            )
    found = [] if prompt.exemplars else prompt.found[:MAX_GROUPS_SHOWN]
    going = await known.going_on([each.chain for each in found])
    plan = [] if prompt.subgoals else [prompt.question.strip() or "?"]
    return Assessment(known=facts, decision="forward", groups=going, subgoals=plan)


async def evaluate_found(prompt: EvaluateFound, known: Interpretation) -> Evaluation:
    """Judge as `assess_found` does: it knows nothing beside what was found."""
    shown = AssessFound(
        prompt.question, prompt.found, prompt.attributes, exemplars=prompt.exemplars, topics=prompt.topics
    )
    said = await assess_found(shown, known)
    groups = said.groups if said.decision != "forward" else []
    return Evaluation(decision=said.decision, groups=groups, take=said.take, chosen=said.chosen)


async def update_memory(prompt: UpdateMemory, known: Interpretation) -> Memory:
    """Say what the chains on the chosen ones lead to."""
    return Memory(known=_known_facts(prompt, known))


def _complete_groups(prompt: AssessFound, known: Interpretation) -> list[tuple[int, Chain]]:
    """Number the groups at the end of known chains, with these: of the chosen ones, or else of others.

    Those that most chains meet at come first.
    """
    groups = dict(enumerate(prompt.found[:MAX_GROUPS_SHOWN], 1))
    chains = {number: _group_chain(prompt, group, known) for number, group in groups.items()}
    ends = [number for number, chain in chains.items() if known.remaining_hops(chain) == ()]
    own = {number: known.is_chosen(known.translate(group.chain)) for number, group in groups.items()}
    ends.sort(key=lambda number: (-len(groups[number].met), not own[number]))
    numbers = [number for number in ends if known.is_chosen(chains[number])]
    if numbers and _awaits_other_topic(groups[numbers[0]], prompt, known):
        return []
    if not prompt.exemplars and not any(_goes_on(known, each.chain) for each in groups.values()):
        numbers += [number for number in ends if number not in numbers]
    return [(number, chains[number]) for number in numbers]


def _group_chain(prompt: AssessFound, group: ChainFindings, known: Interpretation) -> Chain:
    """Return the known chain of a group; before the search, the chosen one if these are its very ends."""
    topic, ends = group.chain.topic, {end.term for end in group.named}
    page = known.ends.get(topic, Page((), truncated=True))
    cut = group.truncated or page.truncated
    if prompt.exemplars and not cut and ends == {end.term for end in page}:
        return known.chains[topic]
    return known.translate(group.chain)


def _awaits_other_topic(group: ChainFindings, prompt: AssessFound, known: Interpretation) -> bool:
    """Return whether another topic's chain, which the ends are to meet, is longer than what was followed."""
    met = {chain.topic for chain in (group.chain, *group.met)}
    longest = 0 if prompt.exemplars else max(each.chain.depth for each in prompt.found)
    longer = any(chain.topic not in met and chain.depth > longest for chain in known.chains.values())
    return longer and not known.intent.union


def _known_facts(prompt: AssessFound | UpdateMemory, known: Interpretation) -> list[str]:
    """Say what the chains on the chosen ones lead to, a sentence for a subgoal; else what was known."""
    facts = {
        each.chain: describe_finding(each.chain, each.named)
        for each in prompt.found
        if each.named and known.starts_with(known.translate(each.chain))
    }
    said, blank = [*facts.values()] or prompt.known, [""] * len(prompt.subgoals)
    return [*said, *blank][: max(1, len(blank))]
