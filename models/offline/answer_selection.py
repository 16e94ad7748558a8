"""What a question asks of the ends of its chains, and which of them are its answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate
from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import Chain, Entity, Term
from kgqa.models.offline.comparison_attributes import (
    SortKey,
    asks_for_date,
    choose_attribute,
    find_steps,
    follow_steps,
    keep_entities,
    last_year_in_name,
    look_up_sort_keys,
    sort_key,
)
from kgqa.models.offline.question_intent import by_words
from kgqa.models.offline.question_words import Encode

ChainEnds = Mapping[Entity, tuple[Candidate, ...]]


async def select_answers(
    asked: QuestionIntent,
    chains: Mapping[Entity, Chain],
    ends: ChainEnds,
    question: str,
    graph: KnowledgeGraph,
    encode: Encode,
) -> frozenset[Term] | None:
    """Return the terms that are the answers.

    Of several chains these are the terms that all of them end at; where the chains go on
    alike, those that they reach through a node in common. The largest and the smallest are told
    by the values of `Asked.by`, or else by the number or date of the ends that is most like
    the question; an end that is a number or a date is its own value. Where several have the same
    value, all are answers.

    Args:
        asked: what is asked of the ends.
        chains: by the topic entity that each starts from.
        ends: what is at the end of each chain.
        question: in words; the names in it may be masked.
        graph: where the values are looked up, in a few queries.
        encode: a sentence encoder; called outside of the event loop.

    Returns:
        None where nothing restricts the ends; how many there are is no restriction.

    Raises:
        KGError: if the graph cannot be reached.
    """
    terms = [_fresh_terms(ends[topic]) for topic in chains]
    if asked.kind in {"all", "count"}:
        several = len(terms) > 1
        return await _common_ends(chains, terms, graph) if several and not asked.union else None
    pool = frozenset() if asked.union else frozenset.intersection(*terms)
    pool = pool or frozenset().union(*terms)
    places = await _sort_keys(asked, [*chains.values()], pool, question, graph, encode)
    if not places:
        return pool if len(chains) > 1 else None
    return _extreme_terms(places, largest=asked.kind == "largest")


def agreed(told: QuestionIntent, question: str) -> QuestionIntent:
    """Correct what like questions ask by the words of this one, where they say the opposite."""
    said = by_words(question)
    opposite = {told.kind, said.kind} == {"largest", "smallest"}
    return replace(said, union=told.union) if opposite else told


def _fresh_terms(ends: Sequence[Candidate]) -> frozenset[Term]:
    """Leave out what is reached by way of the topic, unless that is all."""
    fresh = frozenset(end.term for end in ends if not end.returning)
    return fresh or frozenset(end.term for end in ends)


async def _common_ends(
    chains: Mapping[Entity, Chain], terms: Sequence[frozenset[Term]], graph: KnowledgeGraph
) -> frozenset[Term]:
    """Return the ends in common, by way of the first nodes in common where the chains go on alike."""
    shared = frozenset.intersection(*terms)
    if len(shared) > 1:
        for left in range(_common_tail_length([*chains.values()]), 0, -1):
            before = [chain.upto(chain.depth - left) for chain in chains.values()]
            nodes = [_fresh_terms((await graph.follow_chain(each)).items) for each in before]
            meeting = sorted(keep_entities(frozenset.intersection(*nodes)))
            rest = next(iter(chains.values())).hops[-left:]
            led = await follow_steps(meeting, tuple((hop,) for hop in rest), graph)
            if met := shared & {end for pairs in led.values() for _, end in pairs}:
                return met
    return shared


def _common_tail_length(chains: Sequence[Chain]) -> int:
    """Count the hops at their ends that chains have in common, fewer than any of them has."""
    most = min(chain.depth for chain in chains) - 1
    tails = [{chain.hops[chain.depth - left] for chain in chains} for left in range(1, most + 1)]
    return next((at for at, hops in enumerate(tails) if len(hops) > 1), most)


async def _sort_keys(
    asked: QuestionIntent,
    chains: Sequence[Chain],
    pool: frozenset[Term],
    question: str,
    graph: KnowledgeGraph,
    encode: Encode,
) -> dict[Term, list[SortKey]]:
    """Return the values that the ends are told apart by, of each that has any."""
    steps = find_steps(asked.by, graph)
    if steps and (places := await look_up_sort_keys(steps, asked.back, chains, pool, graph)):
        return places
    own = _own_sort_keys(sort_key, pool)
    if 2 * len(own) > len(pool):
        return own
    if chosen := await choose_attribute(question, asked.by, chains, pool, graph, encode):
        return await look_up_sort_keys(*chosen, chains, pool, graph)
    years = _own_sort_keys(last_year_in_name, pool)
    return years if len(years) == len(pool) and asks_for_date(question, asked.by) else {}


def _own_sort_keys(
    place: Callable[[Term], SortKey | None], pool: frozenset[Term]
) -> dict[Term, list[SortKey]]:
    """Return the values that the ends themselves are or name."""
    return {term: [own] for term in pool if (own := place(term)) is not None}


def _extreme_terms(places: Mapping[Term, Sequence[SortKey]], *, largest: bool) -> frozenset[Term]:
    extreme = max if largest else min
    own = {term: extreme(values) for term, values in places.items()}
    best = extreme(own.values())
    return frozenset(term for term, place in own.items() if place == best)
