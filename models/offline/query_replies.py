"""The reply that composes a query: the chosen chains of the interpretation, and what leaves its answers."""

from collections.abc import Collection

from kgqa.kg.terms import Term
from kgqa.models.decisive import candidates_of_query, decisive_replies, is_accepted
from kgqa.models.offline.interpretation import Interpretation
from kgqa.models.offline.question_intent import DENIAL, place_bounds
from kgqa.priors.masking import mask_topic
from kgqa.prompts.compose_query import ComposedQuery, ComposeQuery, node_name


async def compose_query(prompt: ComposeQuery, known: Interpretation) -> ComposedQuery:
    """Compose the chosen chains, united or meeting; where they lead to others too, say what tells them apart.

    That is what the question names, or an extreme; where no attribute says it, the answers are chosen. None
    is composed where a chosen chain is not offered or no answer shown, or the query has given nothing. What
    is denied ("not in Ulm") is left to a draft: chains only say what holds.
    """
    asked = mask_topic(prompt.question, None, map(str, (*prompt.topics, *known.chains))).lower()
    for _, begin, end in place_bounds(asked):  # "no more than 5" denies nothing
        asked = f"{asked[:begin]}{'_' * (end - begin)}{asked[end:]}"
    if denied := DENIAL.search(asked):
        return ComposedQuery(chains=[], missing=denied[0], draft=prompt.drafts)
    offered = {
        each.chain.topic: number
        for number, each in reversed([*enumerate(prompt.chains, 1)])
        if known.says_the_same(each.chain)
    }
    numbers = [offered.get(topic, 0) for topic in known.chains]
    if not numbers or 0 in numbers or prompt.empty:
        return ComposedQuery(chains=[])
    lists = [numbers] if known.intent.union else [[number] for number in numbers]
    ends = [end for number in numbers for end in prompt.chains[number - 1].shown]
    query = ComposedQuery(chains=lists, count=await known.counts(ends))
    met = _ends_in_common(lists, prompt)
    wanted = met if known.answers is None else known.answers & {end.term for end in ends}
    if met and not wanted:
        return ComposedQuery(chains=[])
    return query if wanted >= met else _tell_apart(query, met, wanted, known, prompt)


def _ends_in_common(lists: list[list[int]], prompt: ComposeQuery) -> frozenset[Term]:
    """Return what all lists lead to, as far as it has names."""
    united = [{end.term for number in each for end in prompt.chains[number - 1].shown} for each in lists]
    return frozenset.intersection(*map(frozenset, united))


def _tell_apart(
    query: ComposedQuery,
    met: Collection[Term],
    wanted: Collection[Term],
    known: Interpretation,
    prompt: ComposeQuery,
) -> ComposedQuery:
    """State a condition or an extreme that leaves those wanted; choose them by name where there is none."""
    plain = query.model_copy(update={"count": False})
    for reply, basis in decisive_replies(candidates_of_query(prompt, plain, met), wanted):
        if basis == "named" or (basis == "extreme" and reply.extreme == known.intent.kind):
            stated = {"conditions": reply.conditions, "extreme": reply.extreme, "by": reply.by}
            told = query.model_copy(update={**stated, "count": query.count and reply.extreme == "none"})
            if is_accepted(prompt, told):
                return told
    if longer := _told_by_longer(query, known, prompt):
        return longer
    numbers = [number for each in query.chains for number in each]
    named = (
        name
        for number in numbers
        for name, end in zip(prompt.drawn[number], prompt.chains[number - 1].shown, strict=True)
        if end.term in wanted
    )
    chosen = list(dict.fromkeys(named))
    return query.model_copy(update={"chosen": chosen, "words": prompt.question if chosen else ""})


def _told_by_longer(
    query: ComposedQuery, known: Interpretation, prompt: ComposeQuery
) -> ComposedQuery | None:
    """Return the extreme by an offered chain that goes on from the answers to the values that tell them."""
    chosen = [*known.chains.values()]
    if known.intent.kind not in {"largest", "smallest"} or len(chosen) > 1 or not known.by:
        return None
    wanted = (*chosen[0].hops, *known.by)
    for number, each in enumerate(prompt.chains, 1):
        if each.chain.topic == chosen[0].topic and each.chain.hops == wanted:
            answer, by = (node_name(number, depth, each.chain) for depth in (chosen[0].depth, len(wanted)))
            told = {"extreme": known.intent.kind, "count": False}
            reply = query.model_copy(update={**told, "chains": [[number]], "answer": answer, "by": by})
            return reply if is_accepted(prompt, reply) else None
    return None
