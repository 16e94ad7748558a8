"""Ranks what a question may mean: its own chains, then those that come next and lead elsewhere."""

from collections.abc import Iterable, Mapping, Sequence

from kgqa.kg.sparql.intent import QuestionIntent
from kgqa.kg.terms import Entity, Term
from kgqa.models.interface import RankedReading
from kgqa.retrieval.candidate_chains import CandidateChain
from kgqa.retrieval.chain_ranking import ChainCombination, rank_combinations
from kgqa.retrieval.confidence import SURE_CONFIDENCE, Reading, read_signals
from kgqa.retrieval.retriever import Retrieved
from kgqa.retrieval.wording import Encode

_MAX_COMPARED = 40  # combinations of chains that are looked through,
_MAX_READINGS = 10  # of which so many are kept


def rank_readings(
    question: str,
    found: Retrieved,
    rated: Mapping[Entity, Sequence[CandidateChain]],
    chosen: ChainCombination,
    intent: QuestionIntent,
    reading: Reading | None,
    encode: Encode,
) -> list[RankedReading]:
    """Return the chosen chains as a reading, then the likeliest with other ends; blocks.

    The classes that the chosen chains are held to hold the others as well. No others are ranked where the
    chosen chains are surely meant, and none at all where it cannot be told how likely these are.
    """
    if reading is None:
        return []
    classes = {topic: each for topic, each in chosen.chains.items() if not each.moves}
    seen = [_common_ends(chosen.chains.values(), intent)]
    ranked = [_as_reading(chosen, reading.confidence, seen[0], intent)]
    if reading.confidence >= SURE_CONFIDENCE and not reading.doubt:
        return ranked
    for each in rank_combinations(rated, apart=intent.union, most=_MAX_COMPARED):
        other = each._replace(chains={**each.chains, **classes})
        if any(each.truncated for each in other.chains.values()):
            continue  # to look up all that it leads to may take as long as the graph is large
        ends = _common_ends(other.chains.values(), intent)
        if len(ranked) < _MAX_READINGS and ends and ends not in seen:
            seen.append(ends)
            likely = read_signals(question, found, other, encode).confidence
            ranked.append(_as_reading(other, likely, ends, intent))
    return ranked


def _common_ends(chains: Iterable[CandidateChain], intent: QuestionIntent) -> frozenset[Term]:
    """Return what chains lead to together, or each of them in a comparison."""
    ends = [each.fresh_terms for each in chains]
    return frozenset().union(*ends) if intent.union else frozenset.intersection(*ends)


def _as_reading(
    chosen: ChainCombination, confidence: float, ends: frozenset[Term], intent: QuestionIntent
) -> RankedReading:
    """Return a combination of chains as a reading."""
    candidates = [*chosen.chains.values()]
    lists = [(each.chain, *(each.also if each.beside else ())) for each in candidates]
    united = [tuple(chain for each in lists for chain in each)] if intent.union else lists
    returning = [end.returning for each in candidates for end in each.ends]
    fresh = any(returning) and not all(returning)
    ids = frozenset(end.id for end in ends)
    return RankedReading(tuple(united), confidence, ids, intent.kind == "count", fresh)
