"""Replies to prompts about one chain: pick its next relation, filter its ends; and from memory."""

from collections.abc import Mapping, Sequence
from itertools import chain as joined, islice
from typing import get_args

from kgqa.evaluation.simulation.oracle import Case, wrong_choice
from kgqa.evaluation.simulation.query_replies import answer_query
from kgqa.evaluation.simulation.verdict_replies import topics_suffice
from kgqa.kg.proof.query import AnswerQuery, Branch
from kgqa.kg.terms import Chain, Entity, Term, local_name
from kgqa.models.decisive import candidates_to_filter, decisive_replies, is_accepted
from kgqa.priors.candidate_ranking import hop_words, relation_words
from kgqa.prompts.answer_from_memory import AnswerBriefly, AnswerDirectly, ReasonAloud, ReasonedAnswer
from kgqa.prompts.apply_conditions import ApplyConditions, StatedCondition, StatedConditions
from kgqa.prompts.attributes import Extreme
from kgqa.prompts.base import Reply
from kgqa.prompts.chain import Extension, Next
from kgqa.prompts.compose_query import ComposedBranch
from kgqa.prompts.infer_from_evidence import InferFromEvidence, Inferred
from kgqa.prompts.prune_relations import PrunedRelations, PruneRelations

MAX_CONDITIONS_TRIED = 12  # conditions that are held against the graph


async def leading_offers(chain: Chain, offers: Mapping[int, Extension], case: Case) -> list[int]:
    """Number the offers that lead on along a gold path, or those that take the place of one not offered."""
    way = case.oracle.right_way
    own = [number for number, offer in offers.items() if await way(chain, [offer.hops]) is not None]
    if own or not await case.leads_on(chain):
        return own
    return [number for number, offer in offers.items() if await case.rests(offer.chain)]


async def prune_relations(prompt: PruneRelations, case: Case) -> PrunedRelations:
    """Pick the relation that leads on to the answers, and nothing where there is none.

    A wrong choice is one wrong relation, and after it the right one where the model recalls it.
    """
    right = await case.oracle.right_way(prompt.chain, [offer.hops for offer in prompt.offers])
    if right is None and await case.leads_on(prompt.chain):  # what takes the place of one not offered
        places = [n for n, offer in enumerate(prompt.offers) if await case.rests(offer.chain)]
        right = next(iter(places), None)
    picks = [] if right is None else [right]
    wrong = None if case.happens("accuracy") else await _draw_wrong_relation(prompt, case, right)
    if wrong is not None:
        picks = [wrong, *picks] if prompt.width > 1 and case.happens("recall") else [wrong]
    first = [prompt.offers[place].chain for place in picks[:1]]
    return PrunedRelations(
        relations=[place + 1 for place in picks],
        then=await say_next(first, case, filtering=prompt.filtering) if prompt.outright else "",
        missing=await name_missing([prompt.chain], case) if prompt.missing and not picks else "",
    )


async def say_next(
    chosen: Sequence[Chain], case: Case, *, filtering: bool = True, together: bool = False
) -> Next:
    """Say what comes after what is chosen, or err; nothing where what it leads to has to be seen.

    That is seen where a number or a verdict is computed. Where the question has several topics, what one is
    asked for is its own part, unless those of all are judged ``together``.
    """
    right = await _next_after(chosen, case, filtering=filtering, together=together)
    offered = [each for each in get_args(Next) if each != "count" and (filtering or each != "filter")]
    return case.judge("wrong next", offered, right) if chosen else right


async def _next_after(chosen: Sequence[Chain], case: Case, *, filtering: bool, together: bool) -> Next:
    rests = [await case.rests(chain) for chain in chosen]
    if not (rests and all(rests)):
        return ""
    if not all(() in left for left in rests):
        return "forward"
    if any(map(case.oracle.is_discriminative, chosen)):
        return "filter" if filtering else ""
    if any(map(case.oracle.aggregate, chosen)):
        return ""
    topics = {plan.topic for plan in await case.oracle.plans()}
    if not together and len(topics) > 1 and await topics_suffice(case):
        return "stop"
    if together and not topics <= {chain.topic for chain in chosen}:
        return ""
    ends: dict[Entity, set[Term]] = {}
    for chain in chosen:
        ends.setdefault(chain.topic, set()).update(await case.cache.ends(chain))
    every = [end for end in set.intersection(*ends.values()) if end.name]
    fresh = [end for end in every if end not in ends] or every
    marks = case.gold.mark(fresh)
    if not any(marks.right) or case.gold.mark(every).missing < marks.missing:
        return ""  # what is asked for is computed, or is the topic itself
    alone = len(chosen) == 1 and await _is_whole_without_returning(chosen[0], case)
    if all(marks.right) or alone:
        return "stop"
    return "filter" if filtering else ""


async def _is_whole_without_returning(chain: Chain, case: Case) -> bool:
    """Return whether a chain leads to the gold answers alone on the ways that do not return to its topic."""
    branch = Branch(Chain(chain.topic, chain.hops), tuple(range(1, chain.depth + 1)), fresh=True)
    return case.gold.mark(await case.cache.answers(AnswerQuery((branch,), chain.depth))).exact


async def name_missing(chains: Sequence[Chain], case: Case) -> str:
    """Say in words which relation leads on from some chains; nothing where none of them leads on."""
    rests = [rest for chain in chains for rest in await case.rests(chain) if rest]
    return relation_words(local_name(rests[0][0].removeprefix("^"))) if rests else ""


async def _draw_wrong_relation(prompt: PruneRelations, case: Case, right: int | None) -> int | None:
    """Draw a relation that does not lead to the answers; where none does, any is wrong."""
    for place in case.draws.shuffled("wrong relations", range(len(prompt.offers))):
        if right is None or not (place == right or await case.rests(prompt.offers[place].chain)):
            return place
    return None


async def answer_directly(prompt: AnswerDirectly | AnswerBriefly, case: Case) -> Reply:
    """Name the gold answers, or say that they are not known."""
    return prompt.reply.model_validate({"answers": case.gold.names if case.happens("memory") else []})


async def reason_aloud(prompt: ReasonAloud, case: Case) -> ReasonedAnswer:
    """Name the gold answers, or say that they are not known; all samples agree."""
    knows = case.happens("memory")
    said = "It is known." if knows else "It is not known."
    return ReasonedAnswer(reasoning=said, answers=case.gold.names if knows else [])


async def apply_conditions(prompt: ApplyConditions, case: Case) -> StatedConditions:
    """State what leaves the gold answers on the graph, if anything shown does; else choose them.

    A wrong reply states another condition, or chooses others.
    """
    right = await _state_gold(prompt, case)
    if not case.happens("entity"):
        return right
    if wrong := case.misstated(right.conditions, candidates_to_filter(prompt)):
        return right.model_copy(update={"conditions": [wrong]})
    numbers = case.gold.mark([candidate.term for candidate in prompt.offered]).numbers
    return _choose_by_name(wrong_choice(numbers, len(prompt.offered), case.draws), prompt)


async def _state_gold(prompt: ApplyConditions, case: Case) -> StatedConditions:
    if (asked := _state_asked(prompt, case)) is not None:
        return asked
    gold, counts = case.gold, await case.counts(prompt.candidates)
    terms = [candidate.term for candidate in prompt.candidates]
    wanted = {*await case.sought(terms)}
    everyone = [(StatedConditions(fits="all"), "named")] if wanted == {*terms} else []
    replies = joined(everyone, decisive_replies(candidates_to_filter(prompt), wanted)) if wanted else iter(())
    for reply, _ in islice(replies, MAX_CONDITIONS_TRIED):
        left = {term for term in await case.cache.answers(_query_of(prompt, reply)) if term.name}
        if left == wanted or gold.mark([*left]).exact:
            return reply.model_copy(update={"count": counts and reply.extreme == "none"})
    chosen = [number for number, each in enumerate(prompt.offered, 1) if each.term in wanted]
    shown = {each.hops for each in prompt.known.listed}
    hidden = () if prompt.final or not chosen else case.oracle.hidden_attribute(prompt.chain, shown)
    return _choose_by_name(chosen, prompt, count=counts).model_copy(update={"missing": hop_words(hidden)})


def _choose_by_name(chosen: list[int], prompt: ApplyConditions, *, count: bool = False) -> StatedConditions:
    if not chosen:
        return StatedConditions(fits="none")
    return StatedConditions(chosen=chosen, words=prompt.question, count=count)


def _state_asked(prompt: ApplyConditions, case: Case) -> StatedConditions | None:
    """State what the question asks by its answer query, if all of it is of attributes shown; else None."""
    letters = {(each.place, each.hops): letter for letter, each in prompt.known.lettered.items()}
    asked, computed = case.oracle.conditions(prompt.chain), case.oracle.aggregate(prompt.chain)
    if not asked and computed is None:
        return None
    known = [*prompt.known.kinds.items(), *(p for a in prompt.known.listed for p in a.distinct.items())]
    texts = {term: text for text, term in known}  # an answer query has no names
    stated = [
        StatedCondition(
            attribute="" if each.operator == "type" else letters.get((each.place, each.attribute), "?"),
            operator=each.operator,
            value="" if each.value is None else texts.get(each.value, each.value.name or each.value.id),
        )
        for each in asked
    ]
    reply = StatedConditions(conditions=stated, count=computed is not None and computed.function == "count")
    if computed and not reply.count:
        place = prompt.chain.depth if computed.place is None else computed.place
        by = letters.get((place, computed.attribute), "?")
        extreme: Extreme = "largest" if computed.function.endswith("max") else "smallest"
        reply = reply.model_copy(update={"extreme": extreme, "by": by})
    return reply if is_accepted(prompt, reply) else None


def _query_of(prompt: ApplyConditions, reply: StatedConditions) -> AnswerQuery:
    """Return what a reply makes of the chain and those that it meets."""
    own = ComposedBranch(prompt.chain, (), False, prompt.conditions(reply), prompt.aggregate(reply))
    return answer_query([*(ComposedBranch(chain, (), False) for chain in prompt.met), own])


async def infer_from_evidence(prompt: InferFromEvidence, case: Case) -> Inferred:
    """Choose the gold answers; where none is chosen, name them if that is asked for and they are known."""
    marks = case.gold.mark([candidate.term for candidate in prompt.offered])
    chosen = case.choose(marks.numbers, len(prompt.offered))
    knows = prompt.own_knowledge and not chosen and case.happens("memory")
    return Inferred(chosen=chosen, answers=case.gold.names if knows else [])
