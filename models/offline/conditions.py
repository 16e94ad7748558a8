"""Narrows ends by what else the question says: a thing that is joined to the node before them.

"Who plays Brian on Family Guy" leads from Family Guy through roles to actors; of these it is
the one whose role has a character of that name.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from kgqa.kg.graph import KnowledgeGraph
from kgqa.kg.terms import Chain, Entity, Term
from kgqa.kg.text import EVERYDAY_WORDS, FUNCTION_WORDS, fold
from kgqa.models.offline.candidate_chains import CandidateChain, TrainingAdvice

MOST_NODES = 200
"""Nodes before the ends that are looked at; where there are more, nothing is narrowed."""

_SHORTEST = 3


async def narrowed(
    masked: str, way: CandidateChain, advice: TrainingAdvice, graph: KnowledgeGraph
) -> frozenset[Term] | None:
    """Return the ends that the question names something of; None where it does not tell them apart.

    Looked at are the nodes without a name that come right before the ends. A word names
    something when it is in its name and in no training question nearby, where other things
    are named; four queries for each chain of the way at most, none where no word is left.

    Raises:
        KGError: if the graph cannot be reached.
    """
    words = _telling(masked, advice)
    if not words or len(way.ends) < 2 or way.chain.depth < 2:
        return None
    counts: Counter[Term] = Counter()
    for chain in way.chains:
        for end, count in (await _named(words, chain, graph)).items():
            counts[end] = max(counts[end], count)
    known = {end.term for end in way.ends}
    best = max((count for end, count in counts.items() if end in known), default=0)
    kept = frozenset(end for end, count in counts.items() if end in known and count == best)
    return kept if best and len(kept) < len(known) else None


def _telling(masked: str, advice: TrainingAdvice) -> frozenset[str]:
    """Return the words of a question that may name something; none without training questions."""
    usual = {word for near in advice.nearest for word in _words(near.exemplar.question)}
    return frozenset(_words(masked)) - usual if usual else frozenset()


def _words(text: str) -> list[str]:
    plain = re.sub(r"\[[A-Z]+\]", " ", text)
    return [
        word
        for word in fold(plain).split()
        if len(word) >= _SHORTEST
        and not word.isdigit()
        and word not in EVERYDAY_WORDS
        and word not in FUNCTION_WORDS
    ]


async def _named(words: frozenset[str], chain: Chain, graph: KnowledgeGraph) -> Mapping[Term, int]:
    """Count for each end the words that name something joined to a mediator before it."""
    before = await graph.follow_chain(chain.upto(chain.depth - 1))
    nodes = [each.term for each in before if isinstance(each.term, Entity) and each.term.name is None]
    if not nodes or len(nodes) > MOST_NODES:
        return {}
    said = await _said(words, nodes, chain, graph)
    telling = [node for node in nodes if said.get(node.id)]
    pages = await graph.follow_relation([(node.id, chain.hops[-1]) for node in telling])
    found: dict[Term, int] = {}
    for node, page in zip(telling, pages, strict=True):
        for end in page:
            found[end] = max(found.get(end, 0), said[node.id])
    return found


async def _said(
    words: frozenset[str], nodes: Sequence[Entity], chain: Chain, graph: KnowledgeGraph
) -> Mapping[str, int]:
    """Count for each node the words in the name of one thing that it is joined to, at most."""
    hops = await graph.list_relations([node.id for node in nodes])
    steps = [
        (id, hop)
        for id, page in hops.items()
        for hop in page
        if hop not in (chain.hops[-1], chain.hops[-2].inverse)
    ]
    pages = await graph.follow_relation(steps)
    best: dict[str, int] = {}
    for (id, _), page in zip(steps, pages, strict=True):
        best[id] = max(best.get(id, 0), _count(words, page))
    return best


def _count(words: frozenset[str], terms: Iterable[Term]) -> int:
    return max((len(words.intersection(_words(term.name or ""))) for term in terms), default=0)
