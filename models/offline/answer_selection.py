"""Which ends of the chosen chains answer the question: all, those in common, an extreme, those it names."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.pages import Candidate
from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import Chain, Entity, Term
from kgqa.kg.text import EVERYDAY_WORDS, FUNCTION_WORDS, fold
from kgqa.models.offline.candidate_chains import CandidateChain, TrainingAdvice
from kgqa.models.offline.comparison_attributes import (
    SortKey,
    asks_for_date,
    choose_attribute,
    find_steps,
    follow_hops,
    last_year_in_name,
    look_up_sort_keys,
    sort_key,
)
from kgqa.models.offline.question_words import Encode

MAX_CONDITION_NODES = 200  # before the ends; where there are more, no condition is looked at
_MIN_CONDITION_CHARS = 3


async def select_answers(
    intent: QuestionIntent,
    candidates: Mapping[Entity, CandidateChain],
    question: str,
    graph: KnowledgeGraph,
    encode: Encode,
) -> frozenset[Term] | None:
    """Return the terms that are the answers.

    Of several chains these are the terms that all of them end at; where the chains go on
    alike, those that they reach through a node in common. The largest and the smallest are told
    by the values of `QuestionIntent.by`, or else by the number or date of the ends that is most
    similar to the question; an end that is a number or a date is its own value. Where several
    have the same value, all are answers.

    Args:
        intent: what is asked of the ends.
        candidates: the chains, by the topic entity that each starts from.
        question: in words; the names in it may be masked.
        graph: where the values are looked up, in a few queries.
        encode: a sentence encoder; called outside of the event loop.

    Returns:
        None where nothing restricts the ends; how many there are is no restriction.

    Raises:
        KGError: if the graph cannot be reached.
    """
    chains = [each.chain for each in candidates.values()]
    terms = [_fresh_terms(each.ends) for each in candidates.values()]
    if intent.kind in {"all", "count"}:
        return await _common_ends(chains, terms, graph) if len(terms) > 1 and not intent.union else None
    pool = frozenset() if intent.union else frozenset.intersection(*terms)
    pool = pool or frozenset().union(*terms)
    keys = await _sort_keys(intent, chains, pool, question, graph, encode)
    if not keys:
        return pool if len(chains) > 1 else None
    extreme = max if intent.kind == "largest" else min
    own = {term: extreme(values) for term, values in keys.items()}
    best = extreme(own.values())
    return frozenset(term for term, key in own.items() if key == best)


def _fresh_terms(ends: Sequence[Candidate]) -> frozenset[Term]:
    """Leave out what is reached by way of the topic, unless that is all."""
    fresh = frozenset(end.term for end in ends if not end.returning)
    return fresh or frozenset(end.term for end in ends)


async def _common_ends(
    chains: Sequence[Chain], terms: Sequence[frozenset[Term]], graph: KnowledgeGraph
) -> frozenset[Term]:
    """Return the ends in common, by way of the first nodes in common where the chains go on alike."""
    common = frozenset.intersection(*terms)
    if len(common) > 1:
        for left in range(_common_tail_length(chains), 0, -1):
            before = [chain.upto(chain.depth - left) for chain in chains]
            nodes = [_fresh_terms((await graph.follow_chain(each)).items) for each in before]
            reached = await follow_hops(frozenset.intersection(*nodes), chains[0].hops[-left:], graph)
            if met := common & frozenset().union(*reached.values()):
                return met
    return common


def _common_tail_length(chains: Sequence[Chain]) -> int:
    """Count the hops at their ends that chains have in common, fewer than any of them has."""
    most = min(chain.depth for chain in chains) - 1
    tails = [{chain.hops[chain.depth - left] for chain in chains} for left in range(1, most + 1)]
    return next((at for at, hops in enumerate(tails) if len(hops) > 1), most)


async def _sort_keys(
    intent: QuestionIntent,
    chains: Sequence[Chain],
    pool: frozenset[Term],
    question: str,
    graph: KnowledgeGraph,
    encode: Encode,
) -> dict[Term, list[SortKey]]:
    """Return the values that the ends are told apart by, of each that has any."""
    steps = find_steps(intent.by, graph)
    if steps and (keys := await look_up_sort_keys(steps, intent.back, chains, pool, graph)):
        return keys
    own = {term: [key] for term in pool if (key := sort_key(term)) is not None}
    if 2 * len(own) > len(pool):
        return own
    if chosen := await choose_attribute(question, intent.by, chains, pool, graph, encode):
        return await look_up_sort_keys(*chosen, chains, pool, graph)
    years = {term: [year] for term in pool if (year := last_year_in_name(term)) is not None}
    return years if len(years) == len(pool) and asks_for_date(question, intent.by) else {}


async def select_by_conditions(
    masked: str, candidate: CandidateChain, advice: TrainingAdvice, graph: KnowledgeGraph
) -> frozenset[Term] | None:
    """Return the ends that the question names something of; None where it does not tell them apart.

    "Who plays Brian on Family Guy" leads from Family Guy through roles to actors; of these it is
    the one whose role has a character of that name. Looked at are the nodes without a name that
    come right before the ends. A word names something when it is in its name and in no training
    question nearby, where other things are named; four queries for each equal chain at most, none
    where no word is left.

    Raises:
        KGError: if the graph cannot be reached.
    """
    usual = {word for near in advice.nearest for word in _naming_words(near.exemplar.question)}
    words = frozenset(_naming_words(masked)) - usual
    if not usual or not words or len(candidate.ends) < 2 or candidate.chain.depth < 2:
        return None
    counts: Counter[Term] = Counter()
    for chain in candidate.chains:
        counts |= await _count_named(words, chain, graph)
    known = candidate.terms
    best = max((count for end, count in counts.items() if end in known), default=0)
    kept = frozenset(end for end, count in counts.items() if end in known and count == best)
    return kept if best and len(kept) < len(known) else None


def _naming_words(text: str) -> list[str]:
    words = fold(re.sub(r"\[[A-Z]+\]", " ", text)).split()
    silent = EVERYDAY_WORDS | FUNCTION_WORDS
    return [
        word
        for word in words
        if len(word) >= _MIN_CONDITION_CHARS and not word.isdigit() and word not in silent
    ]


async def _count_named(words: frozenset[str], chain: Chain, graph: KnowledgeGraph) -> Counter[Term]:
    """Count for each end the words that name one thing joined to a mediator before it, at most."""
    before = await graph.follow_chain(chain.upto(chain.depth - 1))
    nodes = [each.term.id for each in before if isinstance(each.term, Entity) and each.term.name is None]
    if not nodes or len(nodes) > MAX_CONDITION_NODES:
        return Counter()
    own = (chain.hops[-1], chain.hops[-2].inverse)
    beside = [
        (node, hop)
        for node, hops in (await graph.list_relations(nodes)).items()
        for hop in hops
        if hop not in own
    ]
    named: Counter[str] = Counter()
    for (node, _), page in zip(beside, await graph.follow_relation(beside), strict=True):
        named |= Counter({node: _most_named(words, page)})
    telling = [node for node in nodes if named[node]]
    counts: Counter[Term] = Counter()
    ends = await graph.follow_relation([(node, chain.hops[-1]) for node in telling])
    for node, page in zip(telling, ends, strict=True):
        counts |= Counter(dict.fromkeys(page, named[node]))
    return counts


def _most_named(words: frozenset[str], terms: Iterable[Term]) -> int:
    return max((len(words.intersection(_naming_words(term.name or ""))) for term in terms), default=0)
